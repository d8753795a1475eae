"""What is true now: a fold over a run's events, without input or output.

`fold(events)` makes a view; `fold(more, view)` goes on from one and leaves it as it was. The writer of a
run keeps one view current with `RunView.apply`. Everything that is decided or shown is read from here.
"""

from collections import deque
from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from state import events as e
from state.journal import Stored
from state.records import Analysis, CallEnd, Criterion, Message, MessageKind, ReviewIssue, Role, Task
from state.verdicts import Verdict

HISTORY_KEPT = 200  # messages of a task that the view holds; the journal has all


class Stage(StrEnum):
    """Where a task is."""

    WAITING = "waiting"
    BUILDING = "building"
    ACCEPTED = "verified"
    COMMITTED = "in review"
    APPROVED = "reviewed"
    MERGED = "merged"
    STUCK = "stuck"
    FAILED = "failed"
    UNVERIFIED = "unverified"


ENDED_STAGES = frozenset({Stage.MERGED, Stage.STUCK, Stage.FAILED, Stage.UNVERIFIED})


@dataclass(slots=True)
class CallView:
    """One exchange with a model. `end` is None while it is under way, or was when its process died."""

    started: e.CallStarted
    at: datetime
    session_id: str
    signals: list[e.SignalReceived] = field(default_factory=list)
    last_text: str = ""
    resumed_at: int = 0
    end: e.CallEnded | None = None

    @property
    def payload(self) -> str | None:
        """The JSON of the last report that the agent made through a typed tool."""
        return self.signals[-1].payload if self.signals else None


@dataclass(slots=True)
class AskView:
    """One AskUserQuestion call and what became of it."""

    asked: e.QuestionsAsked
    seq: int
    answered: e.QuestionsAnswered | None = None
    failed: e.QuestionsFailed | None = None


@dataclass(slots=True)
class TaskView:
    """One task of the accepted plan and everything that happened to it."""

    task: Task
    stage: Stage = Stage.WAITING
    branch: str = ""
    worktree: str = ""
    base_commit: str = ""
    attempt: int = 0
    session_id: str = ""
    attempt_open: bool = False
    calls: list[str] = field(default_factory=list)  # Worker calls of the open attempt
    trees: list[str] = field(default_factory=list)  # at the attempt's start, then at each iteration's end
    gates: list[e.GateDecided] = field(default_factory=list)  # answers to the newest claim
    refusals: list[e.CompletionRefused] = field(default_factory=list)  # of the open attempt, in a row
    accepted_tree: str = ""
    commit: str = ""
    committed_tree: str = ""
    issues: tuple[ReviewIssue, ...] = ()
    unusable_reviews: int = 0  # of the commit under review
    revisions: int = 0
    reason: str = ""
    limit: bool = False
    merged_commit: str = ""
    history: deque[Message] = field(default_factory=lambda: deque(maxlen=HISTORY_KEPT))

    @property
    def iteration(self) -> int:
        """Exchanges begun in the open attempt."""
        return len(self.calls)


@dataclass(slots=True)
class Context:
    """The seed's OrchestratorContext (002): empty at the start, filled by what happens."""

    discoveries: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    decisions: list[str] = field(default_factory=list)
    review_issues: list[ReviewIssue] = field(default_factory=list)


@dataclass(slots=True)
class RunView:
    """A run as its events tell it."""

    started: e.RunStarted | None = None
    started_at: datetime | None = None
    last_at: datetime | None = None
    last_seq: int = 0
    resumptions: int = 0
    interrupted_by: str = ""
    analysis: Analysis | None = None
    plan_rejections: list[e.PlanRejected] = field(default_factory=list)
    criteria: tuple[Criterion, ...] = ()
    tasks: dict[str, TaskView] = field(default_factory=dict)
    calls: dict[str, CallView] = field(default_factory=dict)
    asks: dict[str, AskView] = field(default_factory=dict)
    verifications: dict[str, e.VerificationFinished] = field(default_factory=dict)  # newest, by tree
    final_reviews: list[e.ReviewRecorded] = field(default_factory=list)
    final_unusable: list[e.ReviewUnusable] = field(default_factory=list)  # of the newest merged commit
    head_commit: str = ""  # of the run's own branch
    head_tree: str = ""
    delivered: e.WorkDelivered | None = None
    kept: e.WorkKept | None = None
    ended: e.RunEnded | None = None
    cost_usd: float = 0.0
    context: Context = field(default_factory=Context)

    def apply(self, stored: Stored) -> None:
        """Take one more event in."""
        self.last_seq = stored.seq
        self.last_at = stored.at
        apply = _APPLY.get(type(stored.event))
        if apply:
            apply(self, stored.event, stored)

    def calls_of(self, role: Role, task_id: str, attempt: int | None = None) -> list[CallView]:
        """The calls of a role for a task, oldest first."""
        return [
            call
            for call in self.calls.values()
            if call.started.role is role
            and call.started.task_id == task_id
            and (attempt is None or call.started.attempt == attempt)
        ]


def fold(events: Iterable[Stored], start: RunView | None = None) -> RunView:
    """The view after these events; `start` is where they go on from and is not changed."""
    view = deepcopy(start) if start else RunView()
    for stored in events:
        view.apply(stored)
    return view


def _started(view: RunView, event: e.RunStarted, stored: Stored) -> None:
    view.started, view.started_at = event, stored.at
    view.head_commit = event.base_commit


def _resumed(view: RunView, _event: e.RunResumed, _stored: Stored) -> None:
    view.resumptions += 1
    view.interrupted_by = ""
    view.ended = None


def _interrupted(view: RunView, event: e.RunInterrupted, _stored: Stored) -> None:
    view.interrupted_by = event.by


def _ended(view: RunView, event: e.RunEnded, _stored: Stored) -> None:
    view.ended = event


def _call_started(view: RunView, event: e.CallStarted, stored: Stored) -> None:
    view.calls[event.call_id] = CallView(event, stored.at, event.session_id)
    if event.role is Role.WORKER:
        task = view.tasks[event.task_id]
        task.calls.append(event.call_id)
        task.gates = []
        task.history.append(Message(kind=MessageKind.PROMPT, text=event.prompt))


def _call_resumed(view: RunView, event: e.CallResumed, stored: Stored) -> None:
    call = view.calls[event.call_id]
    call.session_id = event.session_id
    call.resumed_at = stored.seq
    if call.started.role is Role.WORKER:
        view.tasks[call.started.task_id].session_id = event.session_id


def _message(view: RunView, event: e.MessageReceived, _stored: Stored) -> None:
    call = view.calls[event.call_id]
    if event.message.kind is MessageKind.TEXT:
        call.last_text = event.message.text
    if call.started.role is Role.WORKER:
        view.tasks[call.started.task_id].history.append(event.message)


def _signal(view: RunView, event: e.SignalReceived, _stored: Stored) -> None:
    view.calls[event.call_id].signals.append(event)


def _call_ended(view: RunView, event: e.CallEnded, _stored: Stored) -> None:
    call = view.calls[event.call_id]
    call.end = event
    view.cost_usd += event.cost_usd
    if event.end not in {CallEnd.COMPLETED, CallEnd.SIGNALLED}:
        view.context.errors.append(f"{call.started.role} {call.started.task_id}: {event.end}: {event.detail}")


def _analyzed(view: RunView, event: e.RepositoryAnalyzed, _stored: Stored) -> None:
    view.analysis = event.analysis
    view.context.discoveries.extend(event.analysis.patterns)


def _plan_rejected(view: RunView, event: e.PlanRejected, _stored: Stored) -> None:
    view.plan_rejections.append(event)


def _plan_accepted(view: RunView, event: e.PlanAccepted, _stored: Stored) -> None:
    view.criteria = event.criteria
    view.tasks = {task.id: TaskView(task) for task in event.tasks}


def _task_started(view: RunView, event: e.TaskStarted, _stored: Stored) -> None:
    task = view.tasks[event.task_id]
    task.stage = Stage.BUILDING
    task.branch, task.worktree, task.base_commit = event.branch, event.worktree, event.base_commit


def _attempt_started(view: RunView, event: e.AttemptStarted, _stored: Stored) -> None:
    task = view.tasks[event.task_id]
    task.stage = Stage.BUILDING
    task.attempt, task.session_id, task.attempt_open = event.attempt, event.session_id, True
    task.calls, task.trees, task.gates, task.refusals = [], [event.tree], [], []


def _measured(view: RunView, event: e.IterationMeasured, _stored: Stored) -> None:
    view.tasks[event.task_id].trees.append(event.tree)


def _verified(view: RunView, event: e.VerificationFinished, _stored: Stored) -> None:
    view.verifications[event.tree] = event


def _gate(view: RunView, event: e.GateDecided, _stored: Stored) -> None:
    task = view.tasks[event.task_id]
    task.gates.append(event)
    if event.verdict is not Verdict.ALLOW:
        view.context.errors.append(f"{event.task_id}: {event.gate}: {event.reason}")


def _accepted(view: RunView, event: e.CompletionAccepted, _stored: Stored) -> None:
    task = view.tasks[event.task_id]
    task.stage, task.accepted_tree, task.refusals = Stage.ACCEPTED, event.tree, []


def _refused(view: RunView, event: e.CompletionRefused, _stored: Stored) -> None:
    view.tasks[event.task_id].refusals.append(event)


def _committed(view: RunView, event: e.TaskCommitted, _stored: Stored) -> None:
    task = view.tasks[event.task_id]
    task.stage, task.commit, task.committed_tree = Stage.COMMITTED, event.commit, event.tree
    task.attempt_open, task.unusable_reviews = False, 0


def _reviewed(view: RunView, event: e.ReviewRecorded, _stored: Stored) -> None:
    if not event.task_id:
        view.final_reviews.append(event)
        view.final_unusable = []
        if event.passed:
            view.context.review_issues = []
        return
    task = view.tasks[event.task_id]
    task.issues = event.issues
    if event.passed:
        task.stage = Stage.APPROVED
    _keep_issues(view, event.task_id, event.issues)


def _review_unusable(view: RunView, event: e.ReviewUnusable, _stored: Stored) -> None:
    view.context.errors.append(f"review of {event.task_id or 'the whole'}: {event.problem}")
    if event.task_id:
        view.tasks[event.task_id].unusable_reviews += 1
    else:
        view.final_unusable.append(event)


def _reopened(view: RunView, event: e.TaskReopened, _stored: Stored) -> None:
    task = view.tasks[event.task_id]
    task.stage, task.issues, task.attempt_open = Stage.BUILDING, event.issues, False
    task.revisions += 1
    view.final_unusable = []
    _keep_issues(view, event.task_id, event.issues)


def _merged(view: RunView, event: e.TaskMerged, _stored: Stored) -> None:
    view.tasks[event.task_id].stage = Stage.MERGED
    view.tasks[event.task_id].merged_commit = event.commit
    view.head_commit, view.head_tree = event.commit, event.tree
    view.final_unusable = []


def _stuck(view: RunView, event: e.TaskStuck, _stored: Stored) -> None:
    task = view.tasks[event.task_id]
    task.stage, task.reason, task.limit = Stage.STUCK, event.reason, event.limit


def _failed(view: RunView, event: e.TaskFailed, _stored: Stored) -> None:
    view.tasks[event.task_id].stage = Stage.FAILED
    view.tasks[event.task_id].reason = event.cause


def _unverified(view: RunView, event: e.TaskUnverified, _stored: Stored) -> None:
    view.tasks[event.task_id].stage = Stage.UNVERIFIED
    view.tasks[event.task_id].reason = event.reason


def _asked(view: RunView, event: e.QuestionsAsked, stored: Stored) -> None:
    view.asks[event.ask_id] = AskView(event, stored.seq)


def _answered(view: RunView, event: e.QuestionsAnswered, _stored: Stored) -> None:
    view.asks[event.ask_id].answered = event
    view.context.decisions.extend(f"{answer.question} → {answer.text}" for answer in event.answers)


def _questions_failed(view: RunView, event: e.QuestionsFailed, _stored: Stored) -> None:
    view.asks[event.ask_id].failed = event
    view.context.errors.append(f"question: {event.cause}")


def _delivered(view: RunView, event: e.WorkDelivered, _stored: Stored) -> None:
    view.delivered = event


def _kept(view: RunView, event: e.WorkKept, _stored: Stored) -> None:
    view.kept = event


def _keep_issues(view: RunView, task_id: str, issues: Iterable[ReviewIssue]) -> None:
    others = [issue for issue in view.context.review_issues if issue.task_id != task_id]
    view.context.review_issues = [*others, *issues]


_APPLY: dict[type, Callable[[RunView, Any, Stored], None]] = {
    e.RunStarted: _started,
    e.RunResumed: _resumed,
    e.RunInterrupted: _interrupted,
    e.RunEnded: _ended,
    e.CallStarted: _call_started,
    e.CallResumed: _call_resumed,
    e.MessageReceived: _message,
    e.SignalReceived: _signal,
    e.CallEnded: _call_ended,
    e.RepositoryAnalyzed: _analyzed,
    e.PlanRejected: _plan_rejected,
    e.PlanAccepted: _plan_accepted,
    e.TaskStarted: _task_started,
    e.AttemptStarted: _attempt_started,
    e.IterationMeasured: _measured,
    e.VerificationFinished: _verified,
    e.GateDecided: _gate,
    e.CompletionAccepted: _accepted,
    e.CompletionRefused: _refused,
    e.TaskCommitted: _committed,
    e.ReviewRecorded: _reviewed,
    e.ReviewUnusable: _review_unusable,
    e.TaskReopened: _reopened,
    e.TaskMerged: _merged,
    e.TaskStuck: _stuck,
    e.TaskFailed: _failed,
    e.TaskUnverified: _unverified,
    e.QuestionsAsked: _asked,
    e.QuestionsAnswered: _answered,
    e.QuestionsFailed: _questions_failed,
    e.WorkDelivered: _delivered,
    e.WorkKept: _kept,
}
