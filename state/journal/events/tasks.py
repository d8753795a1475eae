"""Events of a task: started, attempted, claimed, committed, ended. `TaskView` and `WholeView`: its state."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from state.journal.events.merges import MergeBuilt, MergeView, WorkMeasured
from state.journal.events.reviews import (
    CheckpointReviewed,
    JudgedView,
    ReviewRecorded,
    ReviewUnusable,
    TaskReviewView,
)
from state.records.calls import Message
from state.records.plan import Task
from state.records.reviews import Finding
from state.records.work import HandOver
from state.verdicts import CheckResult, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStarted:
    """A task got its branch and worktree, made from `base_commit`."""

    task_id: str
    branch: str
    worktree: str
    base_commit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedOver:
    """The notes that a finished attempt leaves to the next one."""

    task_id: str
    attempt: int
    notes: HandOver


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptStarted:
    """A new Worker session begins on a task. `tree` is the content of the workspace then.

    `because`: the former session could not go on, for this reason, and a fresh one can.
    """

    task_id: str
    attempt: int
    session_id: str
    tree: str
    because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class IterationMeasured:
    """The state at the end of an iteration: the progress check looks at content, not claims.

    `error` is the last error that a tool reported in it, without numbers, or "".
    """

    task_id: str
    attempt: int
    iteration: int
    tree: str
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateDecided:
    """A completion gate answered a Worker's claim."""

    task_id: str
    attempt: int
    iteration: int
    gate: str
    verdict: Verdict
    reason: str
    tree: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecksDecided:
    """Power steering looked at a Worker's session: the result of each consideration."""

    task_id: str
    attempt: int
    iteration: int
    results: tuple[CheckResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionAccepted:
    """All completion gates accepted a Worker's claim, for exactly this tree."""

    task_id: str
    attempt: int
    tree: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionRefused:
    """A completion gate blocked. `feedback` is the next prompt in the same session.

    `reason` says for people why, empty if `feedback` does. `heard` are the checks whose objections the Worker
    hears with it, once an attempt.
    """

    task_id: str
    attempt: int
    iteration: int
    feedback: str
    fingerprint: str
    reason: str = ""
    heard: tuple[str, ...] = ()

    @property
    def for_people(self) -> str:
        """Why the claim was refused, without the parts of outputs that the agent gets."""
        return self.reason or self.feedback


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCommitted:
    """sq committed a task's verified tree on its branch."""

    task_id: str
    attempt: int
    commit: str
    tree: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GuidanceGiven:
    """At a checkpoint the Developer looked at the progress. An empty `guidance` changes nothing."""

    task_id: str
    attempt: int
    iteration: int
    guidance: str
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStuck:
    """A task cannot make progress. Tasks that depend on it do not start."""

    task_id: str
    reason: str
    limit: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFailed:
    """An agent or the infrastructure failed for good while on this task."""

    task_id: str
    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskUnverified:
    """A check that should have answered did not. The task is not merged."""

    task_id: str
    reason: str


TaskEvent = (
    TaskStarted
    | HandedOver
    | AttemptStarted
    | IterationMeasured
    | GateDecided
    | ChecksDecided
    | CompletionAccepted
    | CompletionRefused
    | TaskCommitted
    | GuidanceGiven
    | TaskStuck
    | TaskFailed
    | TaskUnverified
)


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


UNMERGED_ENDS = frozenset({Stage.STUCK, Stage.FAILED, Stage.UNVERIFIED})
ENDED_STAGES = UNMERGED_ENDS | {Stage.MERGED}


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
    renewed: int = 0  # attempts in a row that began because a session could not go on
    waits: str = ""  # the parked call whose answer it waits for
    claimed_at: datetime | None = None  # when the claim came, if the newest exchange ended with one
    calls: list[str] = field(default_factory=list)  # of its Worker
    trees: list[str] = field(default_factory=list)  # at its start, then at each iteration's end
    errors: list[str] = field(default_factory=list)  # the last error of each iteration, or ""
    gates: list[GateDecided] = field(default_factory=list)  # answers to the newest claim
    refusals: list[CompletionRefused] = field(default_factory=list)  # in a row
    checks: list[ChecksDecided] = field(default_factory=list)
    guidance: list[GuidanceGiven] = field(default_factory=list)
    checkpoints: list[CheckpointReviewed] = field(default_factory=list)


@dataclass(slots=True)
class ClaimView:
    """The newest accepted claim of a task: its tree, and the commit that was made of it.

    `handed_over` is the branch that has the work of a claim that could not be checked in time.
    """

    accepted_tree: str = ""
    commit: str = ""
    committed_tree: str = ""
    handed_over: str = ""


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


Tasks = Mapping[str, TaskView]  # by their ids


@dataclass(slots=True)
class WholeView:
    """The merged work, its size, its final reviews, and the verdicts on the criteria of the spec."""

    commit: str = ""  # of the run's own branch
    tree: str = ""
    merged_tree: str = ""  # of the newest merge of a task, without the user's later commits
    merged_since_review: bool = False
    reviews: list[ReviewRecorded] = field(default_factory=list)
    findings: tuple[Finding, ...] = ()
    resolved: list[MergeView] = field(default_factory=list)  # conflicts, since the last final review
    united: list[MergeBuilt] = field(default_factory=list)  # likewise, two additions at one place
    unusable: list[ReviewUnusable] = field(default_factory=list)  # of the newest merged commit
    judged: dict[str, JudgedView] = field(default_factory=dict)  # by criterion, of whichever tree
    measured: dict[str, list[WorkMeasured]] = field(default_factory=dict)  # by task, "" is the newest whole
