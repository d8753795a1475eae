"""The files for people in a run's folder: the log while it works, and the report that each end leaves.

The record of the run is its events. A report that cannot be written changes nothing.
"""

import logging
import os
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import structlog
from structlog.typing import Processor

from orchestrator.cli.version import sq_version
from orchestrator.views.run.look import Look, LookMode
from orchestrator.views.screen import say
from state.atomic_files import replace_file
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


log = structlog.get_logger(__name__)

REPORT, SUMMARY = "report.html", "summary.json"


class FilesAtEnd:
    """Leaves `report.html` and `summary.json` in a run's folder."""

    async def leave(self, run_folder: Path, look: Look, redact: Callable[[str], str]) -> None:
        """As `EndReport`. `redact` takes known secrets out of the diffs of the work."""
        from orchestrator.views.report.reading import read_run  # only at the end: it renders templates
        from orchestrator.views.report.rendering import Format, ending, rendered

        try:
            run = await read_run(run_folder, redact=redact, active=False)
            version = sq_version()
            text = rendered(run, Format.HTML, version=version)
            replace_file(run_folder / REPORT, text.encode(errors="backslashreplace"), sync=False)
            short = ending(run.report(version), version)
            replace_file(run_folder / SUMMARY, short.encode(errors="backslashreplace"), sync=False)
        except Exception as error:  # noqa: BLE001  whatever it is, the run has its outcome
            log.warning("report_not_written", error=repr(error))
            say(f"the report could not be written: {error}", error=True)
            return
        self.tell(run_folder, look)

    def tell(self, run_folder: Path, look: Look) -> None:
        """As `EndReport`. With JSON it prints no path, because JSON shows events alone."""
        file = run_folder / REPORT
        if look.mode is LookMode.JSON or not file.is_file():
            return
        try:
            say(f"report: {file}")
        except BrokenPipeError:  # the reader has gone (`sq run … | head`)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
