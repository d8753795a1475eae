"""The current state as records: a run, its tasks, its calls with models, its questions.

Only `state.journal.fold` fills them. All decisions and all displays read from here.
"""

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from state.journal import events as e
from state.records import (
    Analysis,
    Answer,
    BaselineCheck,
    CallEnd,
    Criterion,
    Finding,
    HandOver,
    Message,
    Plan,
    ReviewIssue,
    Task,
    TestRuling,
    TestThatChanges,
    Usage,
)
from state.roles import Role
from state.settings.records import Settings
from state.words import question_key

HISTORY_KEPT = 200  # messages of a task that the view holds. The journal has all.


class Stage(StrEnum):
    """The stage of a task."""

    WAITING = "waiting"
    BUILDING = "building"
    ACCEPTED = "verified"
    COMMITTED = "in review"
    APPROVED = "reviewed"
    MERGED = "merged"
    STUCK = "stuck"
    FAILED = "failed"
    UNVERIFIED = "unverified"


_GOOD_ENDS = frozenset({CallEnd.COMPLETED, CallEnd.SIGNALLED})
UNMERGED_ENDS = frozenset({Stage.STUCK, Stage.FAILED, Stage.UNVERIFIED})
ENDED_STAGES = UNMERGED_ENDS | {Stage.MERGED}


@dataclass(slots=True)
class CallView:
    """One exchange with a model. `end` is None while it is under way, or if it was when its process died.

    `spent_usd` is the cost of its earlier tries and of parts that were cut off. `held_usd` is reserved for
    the try under way and counts as spent in the budget. `usage` and `spent_s` cover all its tries, without
    waits between them and between processes.
    """

    started: e.CallStarted
    at: datetime
    session_id: str
    report: e.SignalReceived | None = None  # the first one, which ended the turn
    last_text: str = ""
    resumed_at: int = 0
    retries: list[e.CallRetried] = field(default_factory=list)  # since it was started or resumed
    spent_usd: float = 0.0
    usage: Usage = e.NO_USAGE
    spent_s: float = 0.0
    since: datetime | None = None  # start of the try under way, or None if there is none or its process died
    held_usd: float = 0.0
    allowed_usd: float = 0.0  # the most that its session may spend before its cap ends it
    killed: bool = False  # its process was killed, so the CLI counts the conversation's cost from zero
    end: e.CallEnded | None = None

    @property
    def cost_usd(self) -> float:
        """Its cost so far."""
        return self.spent_usd + (self.end.cost_usd if self.end else 0.0)

    @property
    def failed(self) -> bool:
        """Whether it ended badly."""
        return self.end is not None and self.end.end not in _GOOD_ENDS

    @property
    def payload(self) -> str | None:
        """The JSON of the report that the agent made through a typed tool."""
        return self.report.payload if self.report else None


@dataclass(slots=True)
class AskView:
    """One AskUserQuestion call and its outcome. `rejected`: the questions whose answers were rejected."""

    asked: e.QuestionsAsked
    seq: int
    answered: e.QuestionsAnswered | None = None
    failed: e.QuestionsFailed | None = None
    parked: e.QuestionsParked | None = None
    at: datetime | None = None
    rejected: set[str] = field(default_factory=set)

    @property
    def held(self) -> tuple[Answer, ...]:
        """The answers that the Worker did not reject."""
        answers = self.answered.answers if self.answered else ()
        return tuple(answer for answer in answers if answer.question not in self.rejected)


@dataclass(frozen=True, slots=True)
class CommandsView:
    """Commands of the project that sq has begun to run. `purpose` is baseline, verification or set-up."""

    purpose: str
    task_id: str
    commands: tuple[str, ...]
    at: datetime


@dataclass(slots=True)
class MergeView:
    """A task's merge under way. `refusals` are wrong claims that its conflict is resolved."""

    commit: str
    onto: str
    conflict: e.MergeConflicted | None = None
    refusals: list[e.ResolutionRefused] = field(default_factory=list)
    built: e.MergeBuilt | None = None

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths that git could not merge by itself."""
        return self.conflict.paths if self.conflict else ()


@dataclass(slots=True)
class PlaceView:
    """The place of a task's work. `begun`: the place in the journal where it got its workspace."""

    branch: str = ""
    worktree: str = ""
    base_commit: str = ""
    begun: int = 0


@dataclass(slots=True)
class AttemptView:
    """The newest attempt at a task. A new one begins with empty lists."""

    session_id: str = ""
    is_open: bool = False
    calls: list[str] = field(default_factory=list)  # of its Worker
    trees: list[str] = field(default_factory=list)  # at its start, then at each iteration's end
    errors: list[str] = field(default_factory=list)  # the last error of each iteration, or ""
    gates: list[e.GateDecided] = field(default_factory=list)  # answers to the newest claim
    refusals: list[e.CompletionRefused] = field(default_factory=list)  # in a row
    checks: list[e.ChecksDecided] = field(default_factory=list)
    guidance: list[e.GuidanceGiven] = field(default_factory=list)
    checkpoints: list[e.CheckpointReviewed] = field(default_factory=list)


@dataclass(slots=True)
class ClaimView:
    """The newest accepted claim of a task: its tree, and the commit that was made of it."""

    accepted_tree: str = ""
    commit: str = ""
    committed_tree: str = ""


@dataclass(slots=True)
class TaskReviewView:
    """The reviews of a task and their consequences."""

    open: tuple[Finding, ...] = ()  # for the next attempt to fix
    findings: tuple[Finding, ...] = ()  # of all reviews
    suggestions: tuple[str, ...] = ()  # of all reviews
    rounds: int = 0  # usable reviews since it was last merged
    rulings: tuple[TestRuling, ...] = ()  # of the newest review, on the tests that the work changes
    commit: str = ""  # the one that the newest usable review looked at
    unusable: int = 0  # of the commit under review
    unusable_forgiven: int = 0  # of these, from before a retry
    revisions: int = 0
    reopened_by: str = ""  # who sent it back the last time

    @property
    def issues(self) -> tuple[ReviewIssue, ...]:
        """The open findings as they were reported."""
        return tuple(one.issue for one in self.open)


@dataclass(slots=True)
class NextAttemptView:
    """The input of the next attempt at a task."""

    hand_over: HandOver | None = None  # from the attempt before
    rebuild: tuple[str, str] | None = None  # its base, and the commit whose content it begins with
    rebuilt: tuple[str, str] | None = None  # as `rebuild`, after it is done until a Worker has been informed
    retried: bool = False  # a person asked for it


@dataclass(slots=True)
class TaskEndView:
    """How a task, or its newest attempt, ended."""

    reason: str = ""
    at_limit: bool = False
    stage_before: Stage = Stage.WAITING  # its stage when it ended without being merged
    of_attempt: str = ""  # why the newest attempt ended, if it did not end well


@dataclass(slots=True)
class TaskView:
    """One task of the accepted plan and everything that happened to it."""

    task: Task
    stage: Stage = Stage.WAITING
    attempt: int = 0
    place: PlaceView = field(default_factory=PlaceView)
    open: AttemptView = field(default_factory=AttemptView)
    claim: ClaimView = field(default_factory=ClaimView)
    review: TaskReviewView = field(default_factory=TaskReviewView)
    next: NextAttemptView = field(default_factory=NextAttemptView)
    end: TaskEndView = field(default_factory=TaskEndView)
    merge: MergeView | None = None
    merges: int = 0  # begun so far
    merged_commit: str = ""
    merged_onto: str = ""
    history: deque[Message] = field(default_factory=lambda: deque(maxlen=HISTORY_KEPT))

    @property
    def iteration(self) -> int:
        """Exchanges begun in the open attempt."""
        return len(self.open.calls)

    @property
    def is_in_merged_work(self) -> bool:
        """Whether its newest commit was merged: it had no review since its last merge."""
        return bool(self.merged_commit) and not self.review.rounds


@dataclass(slots=True)
class Context:
    """The seed's OrchestratorContext (002): empty at the start, filled by events."""

    discoveries: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    decisions: list[str] = field(default_factory=list)
    review_issues: list[ReviewIssue] = field(default_factory=list)


@dataclass(slots=True)
class ClockView:
    """When events were stored, and the place of the newest one."""

    started_at: datetime | None = None
    last_at: datetime | None = None
    last_seq: int = 0
    worked_s: float = 0.0  # by all processes of the run together


@dataclass(slots=True)
class ProcessView:
    """The newest process that works on the run, and its limits."""

    resumptions: int = 0
    resumed: e.RunResumed | None = None
    resumed_seq: int = 0  # the place in the journal where it took the run up
    interrupted_by: str = ""
    budget_usd: float | None = None  # given to a resumed run, in place of those of its settings
    max_iterations: int | None = None  # likewise
    limit: str = ""  # which limit of the whole run is reached
    quiet_until: datetime | None = None  # no request goes to a model before this time


@dataclass(slots=True)
class BaselineView:
    """The newest baseline. `seq`: its place in the journal, 0 if none was taken."""

    checks: dict[str, BaselineCheck] = field(default_factory=dict)  # by command
    tree: str = ""
    seq: int = 0
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class PlanView:
    """The analysis and the plan: proposed, rejected, accepted."""

    proposed_analysis: Analysis | None = None  # under review
    analysis_rejections: list[e.AnalysisRejected] = field(default_factory=list)
    analysis: Analysis | None = None
    proposed: Plan | None = None  # under review
    rejections: list[e.PlanRejected] = field(default_factory=list)
    unusable: int = 0  # reports on the proposal under review that could not be used
    criteria: tuple[Criterion, ...] = ()
    tests_that_change: tuple[TestThatChanges, ...] = ()
    reviewed: bool = False
    suggestions: tuple[str, ...] = ()


@dataclass(slots=True)
class EvidenceView:
    """Runs of the project's commands: those under way, and results. `…_at`: places in the journal."""

    commands: dict[str, CommandsView] = field(default_factory=dict)  # under way, by purpose and subject
    verifications: dict[str, e.VerificationFinished] = field(default_factory=dict)  # newest, by tree
    verified_at: dict[str, int] = field(default_factory=dict)  # by tree
    proofs: dict[tuple[str, str], e.ProofsTaken] = field(default_factory=dict)  # by task and tree
    proved_at: dict[tuple[str, str], int] = field(default_factory=dict)


@dataclass(slots=True)
class WholeView:
    """The merged work and its final reviews."""

    commit: str = ""  # of the run's own branch
    tree: str = ""
    merged_tree: str = ""  # of the newest merge of a task, without the user's later commits
    merged_since_review: bool = False
    reviews: list[e.ReviewRecorded] = field(default_factory=list)
    findings: tuple[Finding, ...] = ()
    resolved: list[MergeView] = field(default_factory=list)  # conflicts, since the last final review
    united: list[e.MergeBuilt] = field(default_factory=list)  # likewise, two additions at one place
    unusable: list[e.ReviewUnusable] = field(default_factory=list)  # of the newest merged commit


@dataclass(slots=True)
class CheckoutView:
    """The user's checkout: their own work in it, and how the finished work came to it."""

    users_work: e.UsersWorkKept | None = None  # the newest copy of it
    own_base: str = ""  # without worktrees: the commit from which the run's own changes count
    left_tree: str = ""  # its tree at the last end of a process, "" if a Worker has changed it since
    delivered: e.WorkDelivered | None = None
    left: e.WorkLeft | None = None
    kept: e.WorkKept | None = None

    @property
    def is_home(self) -> bool:
        """Whether the work is in its final place: the user's branch, the checkout, or sq's branch."""
        return bool(self.delivered or self.left or self.kept)


@dataclass(slots=True)
class RunView:
    """A run as its events describe it. `settings`: those in effect now."""

    started: e.RunStarted | None = None
    ended: e.RunEnded | None = None
    settings: Settings | None = None
    clock: ClockView = field(default_factory=ClockView)
    process: ProcessView = field(default_factory=ProcessView)
    baseline: BaselineView = field(default_factory=BaselineView)
    plan: PlanView = field(default_factory=PlanView)
    evidence: EvidenceView = field(default_factory=EvidenceView)
    tasks: dict[str, TaskView] = field(default_factory=dict)
    calls: dict[str, CallView] = field(default_factory=dict)
    asks: dict[str, AskView] = field(default_factory=dict)
    whole: WholeView = field(default_factory=WholeView)
    checkout: CheckoutView = field(default_factory=CheckoutView)
    context: Context = field(default_factory=Context)

    def calls_of(
        self, role: Role, task_id: str, attempt: int | None = None, subject: str = ""
    ) -> list[CallView]:
        """Return the calls of a role for a task about one subject, oldest first."""
        return [
            call
            for call in self.calls.values()
            if call.started.role is role
            and call.started.task_id == task_id
            and (attempt is None or call.started.attempt == attempt)
            and call.started.subject == subject
        ]

    def decided(self, task_id: str = "") -> list[tuple[str, Answer]]:
        """Return the answers that hold, with the task that asked: the newest one to each question of a task.

        `task_id`: only of this task.
        """
        newest: dict[tuple[str, str], Answer] = {}
        for ask in self.asks.values():
            if task_id in {"", ask.asked.task_id}:
                for answer in ask.held:
                    newest[ask.asked.task_id, question_key(answer.question)] = answer
        return [(task, answer) for (task, _), answer in newest.items()]

    @property
    def cost_usd(self) -> float:
        """The cost of all calls so far, aborted ones included."""
        return sum(call.cost_usd for call in self.calls.values())
