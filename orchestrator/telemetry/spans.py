"""A run's events as spans: a fold without input or output. The same events give the same spans and ids.

A trace has the run, below it its tasks, below them their attempts and other conversations, merges and
commands, and below a conversation its calls. It holds no prompt and no word of an agent but the ids of tasks.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from orchestrator.telemetry import conventions as c
from orchestrator.telemetry.calls import Calls, task_key
from orchestrator.telemetry.span_tracker import RUN_KEY, Attributes, Span, SpanTracker
from orchestrator.telemetry.work import TaskWork
from state.hidden import visible
from state.ids import span_id
from state.journal import events as e
from state.journal.events import Stored
from state.outcome import Outcome
from state.records.commands import CommandRun

_INSIDE, _AROUND = ("call", "merge", "conversation"), ("task", "run")  # parts, from the inside


class SpanFold:
    """The spans of the run `run_id`. `apply` takes its events in order."""

    def __init__(self, run_id: str) -> None:
        self._board = SpanTracker(run_id)
        self._calls = Calls(self._board)
        self._work = TaskWork(self._board)

    def apply(self, stored: Stored) -> list[Span]:
        """Take the next event, and return the spans that end with it."""
        event = stored.event
        self._board.newest = stored.at
        match event:
            case e.RunStarted():
                self._started(event, stored)
                return []
            case e.RunResumed():
                return self._resumed(stored)
            case e.RunEnded():
                return self._ended(event, stored)
            case e.LimitReached():
                self._note("limit", stored)
                return []
            case e.RunInterrupted(by=by):
                self._note("interrupted", stored, signal=by)
                return []
            case _ if isinstance(event, e.CallEvent):
                return self._calls.apply(event, stored.at)
            case _ if isinstance(event, e.EvidenceEvent):
                return command_spans(self._board, event, stored)
            case _:
                return self._work.apply(event, stored.at)

    def rest(self) -> list[Span]:
        """Return the spans that are still open, each as far as the events go, and close them."""
        inside = [span for part in _INSIDE for span in self._board.close_all(part)]
        newest = self._board.newest
        return [*inside, *(span for part in _AROUND for span in self._board.close_all(part, at=newest))]

    def _started(self, event: e.RunStarted, stored: Stored) -> None:
        self._board.open(
            RUN_KEY,
            stored.at,
            "invoke_workflow sq",
            parent=None,
            attributes={
                c.OPERATION: c.INVOKE_WORKFLOW,
                c.WORKFLOW: "sq",
                c.RUN_ID: event.run_id,
                c.EFFORT: event.effort,
                c.VERSION: event.sq_version,
                c.REHEARSAL: event.rehearsal is not None,
            },
        )

    def _resumed(self, stored: Stored) -> list[Span]:
        """Go on with an open span of the run, or open another one that has a link to the one before."""
        before = (self._board.id_of(RUN_KEY),) if RUN_KEY not in self._board else ()
        attributes = {c.OPERATION: c.INVOKE_WORKFLOW, c.WORKFLOW: "sq", c.RUN_ID: self._board.run_id}
        self._board.open(
            RUN_KEY, stored.at, "invoke_workflow sq", parent=None, attributes=attributes, links=before
        )
        self._note("resumed", stored)
        self._calls.lose()
        return []

    def _ended(self, event: e.RunEnded, stored: Stored) -> list[Span]:
        spans = [span for part in _INSIDE for span in self._board.close_all(part)]
        spans += self._board.close_all("task", at=stored.at)
        error = "" if event.outcome is Outcome.COMPLETE else str(event.outcome)
        attributes: Attributes = {
            c.OUTCOME: str(event.outcome),
            c.EXIT_CODE: event.outcome.exit_code,
            c.COST: self._calls.cost_usd,
            c.TASKS: len(self._work.tasks),
            c.MERGED: len(self._work.merged),
        }
        return [*spans, *self._board.close(RUN_KEY, stored.at, error, attributes)]

    def _note(self, name: str, stored: Stored, **attributes: str) -> None:
        if run := self._board.get(RUN_KEY):
            run.note(name, stored.at, {f"sq.{key}": value for key, value in attributes.items()})


def spans_in(run_id: str, events: Iterable[Stored], *, unfinished: bool = False) -> list[Span]:
    """Return the spans that end with these events, and with `unfinished` also those that are still open."""
    fold = SpanFold(run_id)
    spans = [span for stored in events for span in fold.apply(stored)]
    return [*spans, *(fold.rest() if unfinished else ())]


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
