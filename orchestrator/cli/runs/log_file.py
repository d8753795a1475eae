"""Logs for people, as JSON Lines in the run's folder. The record of the run is its events."""

import logging
from collections.abc import Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import structlog
from structlog.typing import Processor

from state.redaction.redactor import Redact


@contextmanager
def log_to(file: Path, *, run_id: str, redact: Redact) -> Iterator[None]:
    """Send every log line of this process to a file while the context lasts.

    Each line has `run_id`, and `task_id` and `attempt` if they are known (`orchestrator.run.event_log`).
    Secrets are redacted.
    """

    def redacted(_logger: object, _method: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        return {key: _redacted(value, redact) for key, value in line.items()}

    processors: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        redacted,
        structlog.processors.JSONRenderer(),
    ]
    with file.open("a", encoding="utf-8", buffering=1) as target:
        structlog.configure(
            processors=processors,
            logger_factory=structlog.WriteLoggerFactory(file=target),
            cache_logger_on_first_use=False,
        )
        with _foreign_lines(target, processors), structlog.contextvars.bound_contextvars(run_id=run_id):
            try:
                yield
            finally:
                structlog.reset_defaults()


def _redacted(value: object, redact: Redact) -> object:
    """Return the value of a line's key without secrets. A record or an exception becomes its text."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, dict):
        return {redact(str(key)): _redacted(part, redact) for key, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_redacted(part, redact) for part in value]
    return redact(str(value))


@contextmanager
def _foreign_lines(target: TextIO, processors: Sequence[Processor]) -> Iterator[None]:
    """Send the logs of libraries to the same file, away from the run's lines on the terminal."""
    without_meta = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    handler = logging.StreamHandler(target)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(processors=[without_meta, *processors]))
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
