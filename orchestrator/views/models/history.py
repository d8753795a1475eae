"""The past of a run that its current state no longer holds: attempts, stages, calls and commands."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from state.journal import events as e
from state.journal.events import Event, Stored
from state.journal.events.tasks import Stage
from state.journal.view import RunView


class SpanKind(StrEnum):
    """The kind of something that takes time."""

    CALL = "call"
    COMMANDS = "commands"
    MERGE = "merge"


@dataclass(slots=True)
class TimeSpan:
    """Something of a run that took time, or still does while `ended_at` is None.

    `task_id` is empty for the whole. `what` is the role of a call, or the purpose of commands. `good` is None
    while it goes on, and where it has no result of its own. `key` is the call's id, or the purpose and task.
    """

    kind: SpanKind
    key: str
    what: str
    task_id: str
    attempt: int
    seq: int
    began_at: datetime
    ended_at: datetime | None = None
    end_seq: int = 0
    good: bool | None = None

    def seconds(self, now: datetime) -> float:
        """How long it took, until `now` if it goes on."""
        return ((self.ended_at or now) - self.began_at).total_seconds()


@dataclass(slots=True)
class StageSpan:
    """A task was in one stage for a time. `until` is None for the present stage."""

    stage: Stage
    seq: int
    since: datetime
    until: datetime | None = None


@dataclass(slots=True)
class AttemptHistory:
    """One attempt at a task, from its start to the next one's. `events` are its facts, without messages.

    `ended` is why it ended: the reason of the task's end, or of its reopening. Empty while it goes on and if
    its work was merged.
    """

    number: int
    session_id: str
    seq: int
    began_at: datetime
    ended_at: datetime | None = None
    ended: str = ""
    events: list[Stored] = field(default_factory=list)


@dataclass(slots=True)
class History:
    """Everything that a view forgets and a reader wants to see, in the order of the journal."""

    spans: list[TimeSpan] = field(default_factory=list)
    stages: dict[str, list[StageSpan]] = field(default_factory=dict)  # by task
    attempts: dict[str, list[AttemptHistory]] = field(default_factory=dict)  # by task
    doing: dict[str, e.MessageReceived] = field(default_factory=dict)  # newest message, by open call
    notable: list[Stored] = field(default_factory=list)  # every event but messages
    _open: dict[str, TimeSpan] = field(default_factory=dict)

    def apply(self, view: RunView, stored: Stored) -> None:
        """Add one more event. `view` already includes it."""
        event = stored.event
        if isinstance(event, e.MessageReceived):
            self.doing[event.call_id] = event
            return
        self.notable.append(stored)
        self._time(view, stored)
        self._remember_attempt(view, stored)
        for task_id in _stages_touched(view, event):
            self._remember_stage(view, task_id, stored)

    def _time(self, view: RunView, stored: Stored) -> None:  # noqa: C901, PLR0912  one case an event
        event = stored.event
        match event:
            case e.CallStarted():
                self._begin(SpanKind.CALL, event.call_id, event.role, event.task_id, event.attempt, stored)
            case e.CallResumed():
                self._resume(view, event, stored)
            case e.CallEnded():
                self._finish(event.call_id, stored, good=event.end.is_good)
                self.doing.pop(event.call_id, None)
            case e.CallInterrupted():
                self._finish(event.call_id, stored, good=None)
            case e.BaselineStarted():
                self._begin(SpanKind.COMMANDS, "baseline", "baseline", "", 0, stored)
            case e.BaselineTaken():
                self._finish("baseline", stored, good=None)
            case e.SetUpStarted(waits=False):
                key = f"set-up {event.folder}"
                self._begin(SpanKind.COMMANDS, key, "set-up", event.task_id, 0, stored)
            case e.WorkspaceSetUp():
                good = all(run.passed for run in event.runs)
                self._finish(f"set-up {event.folder}", stored, good=good)
            case e.VerificationStarted():
                key = f"verification {event.task_id}"
                self._begin(SpanKind.COMMANDS, key, "verification", event.task_id, 0, stored)
            case e.VerificationFinished():
                good = all(run.passed for run in event.runs)
                self._finish(f"verification {event.task_id}", stored, good=good)
            case e.MergeStarted():
                self._begin(SpanKind.MERGE, f"merge {event.task_id}", "merge", event.task_id, 0, stored)
            case e.TaskMerged() | e.MergeFailed():
                good = isinstance(event, e.TaskMerged)
                self._finish(f"merge {event.task_id}", stored, good=good)
            case e.RunResumed():
                self._close_all(stored)
            case e.RunEnded() | e.RunInterrupted():
                for key in list(self._open):
                    self._finish(key, stored, good=None)

    def _begin(self, kind: SpanKind, key: str, what: str, task_id: str, attempt: int, stored: Stored) -> None:
        span = TimeSpan(kind, key, str(what), task_id, attempt, stored.seq, stored.at)
        self.spans.append(span)
        self._open[key] = span

    def _finish(self, key: str, stored: Stored, *, good: bool | None) -> None:
        if span := self._open.pop(key, None):
            span.ended_at, span.end_seq, span.good = stored.at, stored.seq, good

    def _resume(self, view: RunView, event: e.CallResumed, stored: Stored) -> None:
        started = view.calls[event.call_id].started
        task_id, attempt = started.task_id, started.attempt
        self._begin(SpanKind.CALL, event.call_id, started.role, task_id, attempt, stored)

    def _close_all(self, stored: Stored) -> None:
        """End everything that was under way when its process died, at the last event before."""
        last = self.notable[-2] if len(self.notable) > 1 else stored
        for key in list(self._open):
            self._finish(key, last, good=None)

    def _remember_attempt(self, view: RunView, stored: Stored) -> None:
        event = stored.event
        task_id = view.task_of(event)
        if isinstance(event, e.AttemptStarted):
            self._end_attempt(event.task_id, stored, "")
            begun = AttemptHistory(event.attempt, event.session_id, stored.seq, stored.at)
            self.attempts.setdefault(event.task_id, []).append(begun)
        if task_id not in self.attempts:
            return
        newest = self.attempts[task_id][-1]
        newest.events.append(stored)
        match event:
            case e.TaskStuck() | e.TaskUnverified():
                self._end_attempt(task_id, stored, event.reason)
            case e.TaskFailed():
                self._end_attempt(task_id, stored, event.cause)
            case e.TaskReopened():
                self._end_attempt(task_id, stored, f"sent back by {event.by}")
            case e.TaskMerged():
                self._end_attempt(task_id, stored, "")

    def _end_attempt(self, task_id: str, stored: Stored, why: str) -> None:
        attempts = self.attempts.get(task_id)
        if attempts and attempts[-1].ended_at is None:
            attempts[-1].ended_at, attempts[-1].ended = stored.at, why

    def _remember_stage(self, view: RunView, task_id: str, stored: Stored) -> None:
        stage, spans = view.tasks[task_id].stage, self.stages.setdefault(task_id, [])
        if spans and spans[-1].stage is stage:
            return
        if spans:
            spans[-1].until = stored.at
        spans.append(StageSpan(stage, stored.seq, stored.at))


@dataclass(frozen=True, slots=True)
class EventLines:
    """The lines of one event in the story of a run. `task_id` is "" for the whole."""

    seq: int
    at: datetime
    task_id: str
    lines: tuple[str, ...]


@dataclass(slots=True)
class RunFacts:
    """A run as views show it: its state and its past. `RunStory` keeps both current."""

    view: RunView = field(default_factory=RunView)
    history: History = field(default_factory=History)


@dataclass(slots=True)
class Snapshot:
    """A run at one moment: the newest, or that of an earlier event. `seq` is the place of its last event."""

    story: RunFacts
    told: list[EventLines] = field(default_factory=list)
    seq: int = 0


def _stages_touched(view: RunView, event: Event) -> list[str]:
    """Return the tasks whose stage an event may have changed."""
    if isinstance(event, e.PlanAccepted | e.RunResumed):
        return list(view.tasks)
    task_id = view.task_of(event)
    return [task_id] if task_id else []
