"""Identifiers: their forms, and how new ones are made.

A run's id is unique in its state folder because its folder is created exclusively (`paths.new_run`).
Everything inside a run is named below that id.

Ids of traces and spans are computed from the ids of a run, so that each export and each process has the same:
a session names the span of its conversation as the parent of its own spans before sq exports it.
"""

import secrets
import uuid
from datetime import datetime
from hashlib import sha256
from typing import NewType

RunId = NewType("RunId", str)
CallId = NewType("CallId", str)
SessionId = NewType("SessionId", str)

_ALPHABET = (
    "23456789abcdefghjkmnpqrstuvwxyz"  # in their order, without those that are easily confused when typed
)

RUN = "run"
FINAL = "final"  # the subject of the final review
_TRACE_BYTES, _SPAN_BYTES = 16, 8


def run_id_at(moment: datetime) -> RunId:
    """Return a run id that is short to type: `20260131-142501-k3f9`.

    It sorts by time, to a thirtieth of a second: the first character after the second says which part of it.
    """
    part = _ALPHABET[moment.microsecond * len(_ALPHABET) // 1_000_000]
    tail = "".join(secrets.choice(_ALPHABET) for _ in range(3))
    return RunId(f"{moment:%Y%m%d-%H%M%S}-{part}{tail}")


def new_call_id() -> CallId:
    """Return an id for one exchange with a model."""
    return CallId(f"c-{secrets.token_hex(6)}")


def new_session_id() -> SessionId:
    """Return a UUID, the only form of session id that every agent accepts."""
    return SessionId(str(uuid.uuid4()))


def trace_id(run_id: str) -> str:
    """Return the id of a run's trace: 32 hexadecimal digits."""
    return sha256(run_id.encode()).digest()[:_TRACE_BYTES].hex()


def span_id(run_id: str, *key: str) -> str:
    """Return the id of a span of a run: 16 hexadecimal digits. `key` names it within the run."""
    return sha256("/".join((run_id, *key)).encode()).digest()[:_SPAN_BYTES].hex()


def conversation_key(role: str, task: str, attempt: int) -> tuple[str, ...]:
    """Return the key of the span of a caller's conversation. A Worker's is its attempt."""
    return ("conversation", role, task, str(attempt))


def traceparent(run_id: str, key: tuple[str, ...]) -> str:
    """Return the W3C header that names a span as the parent of others, which are sampled."""
    return f"00-{trace_id(run_id)}-{span_id(run_id, *key)}-01"
