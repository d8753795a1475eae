"""The log for people: JSON Lines in the run's folder, with a line for each event but the chatter of sessions.

The record of the run is its events. A line has the event's name (`call.retried`), whose it is (task, attempt,
role, call), and its short facts. Each line names the task and attempt that the running coroutine is bound to.
Tasks side by side do not mix, since each runs in a coroutine with its own copy of the context.
"""

import logging
import re
from collections.abc import Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from enum import Enum
from pathlib import Path
from typing import Any, TextIO

import structlog
from structlog.contextvars import bind_contextvars, bound_contextvars, unbind_contextvars
from structlog.typing import Processor

from state.journal import events as e
from state.journal.view import RunView
from state.outcome import Outcome
from state.records.commands import BaselineCheck, CommandRun
from state.redaction.redactor import Redact
from state.verdicts import Verdict

log = structlog.get_logger(__name__)
_CHATTER = (e.MessageReceived, e.SignalReceived, e.IterationMeasured, e.WorkMeasured)
_TEXTS = {"prompt", "system", "answer", "payload", "spec_text", "notes", "feedback"}  # the journal has them
_LONGEST = 500  # characters of a text
_MOST = 20  # items of a list
_PARTS = re.compile(r"(?<=[a-z])(?=[A-Z])")
_FAILURES = (
    e.CallRetried,
    e.LimitReached,
    e.LandingStarted,
    e.MergeFailed,
    e.QuestionsFailed,
    e.ResolutionRefused,
    e.RunInterrupted,
    e.TaskFailed,
    e.TaskStuck,
    e.TaskUnverified,
)


def log_event(stored: e.Stored, view: RunView) -> None:
    """Write one line about an event that was stored. `view` has it already."""
    event = stored.event
    if isinstance(event, _CHATTER):
        return
    write = log.warning if _is_failure(event) else log.info
    write(
        _PARTS.sub(".", type(event).__name__).lower(),
        seq=stored.seq,
        **(_whose(event, view) | dict(_facts(event))),
    )


def _is_failure(event: e.Event) -> bool:
    match event:
        case e.CallEnded(end=end):
            return not end.is_good
        case e.GateDecided(verdict=verdict):
            return verdict is Verdict.BLOCK
        case e.WorkspaceSetUp(runs=runs) | e.VerificationFinished(runs=runs):
            return not all(run.passed for run in runs)
        case e.BaselineTaken(checks=checks):
            return not all(check.run.answered for check in checks)
        case e.RunEnded(outcome=outcome):
            return outcome is not Outcome.COMPLETE
    return isinstance(event, _FAILURES)


def _whose(event: e.Event, view: RunView) -> dict[str, object]:
    """Return the task, attempt, role and call of an event, by its own fields, its question or its call."""
    asked = view.asks.get(getattr(event, "ask_id", ""))
    call_id = getattr(event, "call_id", "") or (asked.asked.call_id if asked else "")
    if call := view.calls.get(call_id):
        started = call.started
        about = {"role": str(started.role), "task_id": started.task_id, "attempt": started.attempt}
        return {key: value for key, value in about.items() if value} | {"call_id": call_id}
    task_id = getattr(event, "task_id", "")
    task = view.tasks.get(task_id)
    attempt = getattr(event, "attempt", 0) or (task.attempt if task else 0)
    return {**({"task_id": task_id} if task_id else {}), **({"attempt": attempt} if attempt else {})}


def _facts(event: e.Event) -> Iterator[tuple[str, object]]:
    for field in fields(event):
        value = getattr(event, field.name)
        if field.name not in _TEXTS and value not in (None, "", ()):
            fact = _fact(value)
            if fact is not None:
                yield field.name, fact


def _fact(value: object) -> object:
    """Return a short fact: texts cut, commands by their outcome. None: a record that only the journal has."""
    if isinstance(value, str):
        text = str(value.value) if isinstance(value, Enum) else value
        return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, BaselineCheck):
        return _of_command(value.run) | {"outcome": str(value.outcome)}
    if isinstance(value, CommandRun):
        return _of_command(value)
    if isinstance(value, tuple):
        return [fact for one in value[:_MOST] if (fact := _fact(one)) is not None] or None
    return None


def _of_command(run: CommandRun) -> dict[str, object]:
    facts: dict[str, object] = {
        "command": run.command,
        "exit_code": run.exit_code,
        "seconds": round(run.seconds, 3),
        "timed_out": run.timed_out,
        "problem": run.problem,
    }
    return {key: value for key, value in facts.items() if value or key == "exit_code"}


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
