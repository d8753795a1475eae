"""Which task and attempt a log line is about, bound to the running coroutine and all that it starts.

Tasks side by side do not mix: each runs in a coroutine with its own copy of the context.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from structlog.contextvars import bind_contextvars, bound_contextvars, unbind_contextvars


@contextmanager
def log_about(task_id: str, attempt: int) -> Iterator[None]:
    """Bind a task, and its attempt if one has begun, to every log line of the block."""
    with bound_contextvars(task_id=task_id, attempt=attempt):
        if not attempt:
            unbind_contextvars("attempt")
        yield


def log_attempt(attempt: int) -> None:
    """Bind the attempt that has just begun, until the block of `log_about` ends."""
    bind_contextvars(attempt=attempt)
