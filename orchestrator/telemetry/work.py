"""Spans of tasks, attempts, reviews and merges, and the gates' answers as moments of an attempt."""

from datetime import datetime

from orchestrator.telemetry import conventions as c
from orchestrator.telemetry.calls import conversation_attributes, task_key
from orchestrator.telemetry.span_tracker import Attributes, Key, Span, SpanTracker
from state.ids import FINAL, conversation_key
from state.journal import events as e
from state.journal.events import Event
from state.roles import Role

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
                self._moment(event, at, "gate", {c.GATE: gate, c.VERDICT: str(verdict)})
            case e.ChecksDecided(results=results):
                unmet = sum(not one.satisfied for one in results)
                self._moment(event, at, "power steering", {c.FINDINGS: unmet})
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
                    merge.note("conflict", at, {c.CONFLICTS: len(paths)})
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
