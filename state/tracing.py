"""Ids of traces and spans, computed from the ids of a run, so that each export and each process has the same.

Sessions name the span of their conversation as the parent of their own spans before sq exports it.
"""

from hashlib import sha256

RUN = "run"
FINAL = "final"  # the subject of the final review
_TRACE_BYTES, _SPAN_BYTES = 16, 8


def trace_id(run_id: str) -> str:
    """Return the id of a run's trace: 32 hexadecimal digits."""
    return sha256(run_id.encode()).digest()[:_TRACE_BYTES].hex()


def span_id(run_id: str, *key: str) -> str:
    """Return the id of a span of a run: 16 hexadecimal digits. `key` names it within the run."""
    return sha256("/".join((run_id, *key)).encode()).digest()[:_SPAN_BYTES].hex()


def conversation_key(role: str, task: str, attempt: int) -> tuple[str, ...]:
    """Return the key of the span of a role's conversation, as a lane names it: a Worker's is its attempt."""
    return ("conversation", role, task, str(attempt))


def traceparent(run_id: str, key: tuple[str, ...]) -> str:
    """Return the W3C header that names a span as the parent of others, which are sampled."""
    return f"00-{trace_id(run_id)}-{span_id(run_id, *key)}-01"
