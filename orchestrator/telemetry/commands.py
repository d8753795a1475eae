"""Spans of the project's own commands that sq ran: at the baseline, on a task's work, on the whole."""

from datetime import datetime, timedelta

from orchestrator.telemetry import conventions as c
from orchestrator.telemetry.calls import task_key
from orchestrator.telemetry.span import Span
from orchestrator.telemetry.span_tracker import SpanTracker
from state.hidden import visible
from state.ids import span_id
from state.journal import events as e
from state.journal.events import Stored
from state.records.commands import CommandRun

_KEPT = 200  # characters of a command


def command_spans(board: SpanTracker, event: e.EvidenceEvent, stored: Stored) -> list[Span]:
    """Return a span for each command whose result this event holds. They ran one after the other."""
    match event:
        case e.BaselineTaken(checks=checks, tree=tree, of_analysis=of_analysis):
            board.words |= set() if of_analysis else {check.run.command for check in checks}
            return _in_a_row(board, [check.run for check in checks], stored, "baseline", "", tree)
        case e.VerificationFinished(runs=runs, task_id=task_id, tree=tree):
            return _in_a_row(board, list(runs), stored, "verification", task_id, tree)
        case e.WorkspaceSetUp(runs=runs, task_id=task_id):
            return _in_a_row(board, list(runs), stored, "set-up", task_id, "")
        case _:
            return []


def _in_a_row(
    board: SpanTracker, runs: list[CommandRun], stored: Stored, purpose: str, task_id: str, tree: str
) -> list[Span]:
    spans, ended = [], stored.at
    for number in range(len(runs), 0, -1):
        run = runs[number - 1]
        began = ended - timedelta(seconds=run.seconds)
        spans.append(_span(board, run, (began, ended), (purpose, task_id, tree), (stored.seq, number)))
        ended = began
    return spans[::-1]


def _span(
    board: SpanTracker,
    run: CommandRun,
    when: tuple[datetime, datetime],
    about: tuple[str, str, str],
    place: tuple[int, int],
) -> Span:
    purpose, task_id, tree = about
    # A command that only an agent named is one of its words.
    words = visible(run.command)[:_KEPT] if run.command in board.words or purpose == "set-up" else ""
    code = {} if run.exit_code is None else {c.COMMAND_EXIT_CODE: run.exit_code}
    error = "" if run.passed else "timed out" if run.timed_out else "failed"
    return Span(
        trace_id=board.trace_id,
        span_id=span_id(board.run_id, "command", *map(str, place)),
        parent_id=board.nearest(board.attempts.get(task_id), task_key(task_id)),
        name=purpose,
        began=when[0],
        ended=when[1],
        attributes={
            c.PURPOSE: purpose,
            c.TASK_ID: task_id,
            **({c.COMMAND: words} if words else {}),
            **({c.TREE: tree} if tree else {}),
            **code,
        },
        error=error,
    )
