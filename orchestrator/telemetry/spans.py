"""A run's events as spans: a fold without input or output. The same events give the same spans and ids.

A trace has the run, below it its tasks, below them their attempts and other conversations, merges and
commands, and below a conversation its calls. It holds no prompt and no word of an agent but the ids of tasks.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from orchestrator.telemetry import conventions as c
from orchestrator.telemetry.calls import Calls, conversation_attributes, task_key
from orchestrator.telemetry.span_tracker import RUN_KEY, Attributes, Key, Span, SpanTracker
from orchestrator.views.descriptions.description import CONFLICT, GATE, STEERING
from state.hidden import visible
from state.ids import FINAL, conversation_key, span_id
from state.journal import events as e
from state.journal.events import Event, Stored
from state.outcome import Outcome
from state.records.commands import CommandRun
from state.roles import Role

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


_ENDS: dict[type, str] = {e.TaskStuck: "stuck", e.TaskFailed: "failed", e.TaskUnverified: "unverified"}


class TaskWork:
    """The tasks of a run. `tasks` are all their ids, `merged` those that are part of the merged work."""

    def __init__(self, board: SpanTracker) -> None:
        self.tasks: set[str] = set()
        self.merged: set[str] = set()
        self._board = board

    def apply(self, event: Event, at: datetime) -> list[Span]:  # noqa: C901  one case an event
        """Take an event, and return the spans that end with it."""
        match event:
            case e.PlanAccepted(tasks=tasks):
                self.tasks = {task.id for task in tasks}
            case e.TaskStarted(task_id=task_id):
                self._open_task(task_id, at)
            case e.AttemptStarted():
                return self._attempt(event, at)
            case e.GateDecided(gate=gate, verdict=verdict):
                self._moment(event, at, GATE, {c.GATE: gate, c.VERDICT: str(verdict)})
            case e.ChecksDecided(results=results):
                unmet = sum(not one.satisfied for one in results)
                self._moment(event, at, STEERING, {c.FINDINGS: unmet})
            case e.CompletionAccepted(task_id=task_id, attempt=attempt):
                return self._board.close(conversation_key(Role.WORKER, task_id, attempt), at)
            case e.ReviewRecorded():
                return self._review(event, at)
            case e.TaskReopened(task_id=task_id):
                self.merged.discard(task_id)
                self._open_task(task_id, at)
            case _ if isinstance(event, e.MergeEvent):
                return self._merge(event, at)
            case e.TaskStuck() | e.TaskFailed() | e.TaskUnverified():
                end = _ENDS[type(event)]
                return self._end_task(event.task_id, at, end, end)
            case _:
                pass
        return []

    def _merge(self, event: e.MergeEvent, at: datetime) -> list[Span]:
        key = _merge_key(event.task_id)
        match event:
            case e.MergeStarted(task_id=task_id):
                self._open_task(task_id, at)
                parent = task_key(task_id)
                self._board.open(key, at, "merge", parent=parent, attributes={c.TASK_ID: task_id})
            case e.MergeConflicted(paths=paths):
                if merge := self._board.get(key):
                    merge.note(CONFLICT, at, {c.CONFLICTS: len(paths)})
            case e.MergeFailed():
                return self._board.close(key, at, "not merged")
            case e.TaskMerged(task_id=task_id, commit=commit):
                self.merged.add(task_id)
                merged = self._board.close(key, at, attributes={c.COMMIT: commit})
                return [*merged, *self._end_task(task_id, at, "merged", "")]
            case _:
                pass
        return []

    def _open_task(self, task_id: str, at: datetime) -> None:
        self._board.open(task_key(task_id), at, "task", parent=None, attributes={c.TASK_ID: task_id})

    def _attempt(self, event: e.AttemptStarted, at: datetime) -> list[Span]:
        self._open_task(event.task_id, at)
        before = self._board.close_all("conversation", str(Role.WORKER), event.task_id)
        key = conversation_key(Role.WORKER, event.task_id, event.attempt)
        self._board.attempts[event.task_id] = key
        self._board.open(
            key,
            at,
            "invoke_agent worker",
            parent=task_key(event.task_id),
            attributes=conversation_attributes(Role.WORKER, event.task_id, event.attempt, event.session_id),
        )
        return before

    def _moment(
        self,
        event: e.GateDecided | e.ChecksDecided,
        at: datetime,
        name: str,
        attributes: dict[str, str | int],
    ) -> None:
        if attempt := self._board.get(conversation_key(Role.WORKER, event.task_id, event.attempt)):
            attempt.note(name, at, {c.ITERATION: event.iteration, **attributes})

    def _review(self, event: e.ReviewRecorded, at: datetime) -> list[Span]:
        key = conversation_key(Role.REVIEWER, event.task_id or FINAL, event.attempt)
        attributes: Attributes = {
            c.PASSED: event.passed,
            c.FINDINGS: len(event.issues),
            c.COMMIT: event.commit,
        }
        return self._board.close(key, at, attributes=attributes)

    def _end_task(self, task_id: str, at: datetime, outcome: str, error: str) -> list[Span]:
        spans = self._board.close(_merge_key(task_id), at, error)
        for role in (Role.WORKER, Role.REVIEWER, Role.RESOLVER):
            spans += self._board.close_all("conversation", str(role), task_id, error=error)
        return [*spans, *self._board.close(task_key(task_id), at, error, {c.OUTCOME: outcome})]


def _merge_key(task_id: str) -> Key:
    return ("merge", task_id)
