"""Logs for people, as JSON Lines in the run's folder; the events are the record."""

from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import structlog

from state.secrets import Redact


def log_to(file: Path, *, redact: Redact) -> None:
    """Send every log line of this process to a file, secrets redacted."""

    def redacted(_logger: object, _method: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        return {key: redact(value) if isinstance(value, str) else value for key, value in line.items()}

    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            redacted,
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=structlog.WriteLoggerFactory(file=file.open("a", encoding="utf-8", buffering=1)),
        cache_logger_on_first_use=False,
    )
