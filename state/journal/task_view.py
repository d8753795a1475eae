"""The current state of tasks, and of the merged work: parts of a run's view (`state.journal.view`)."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from state.journal.events.merges import MergeBuilt, MergeConflicted, ResolutionRefused, WorkMeasured
from state.journal.events.reviews import (
    CheckpointReviewed,
    CriterionJudged,
    ReviewRecorded,
    ReviewUnusable,
)
from state.journal.events.tasks import ChecksDecided, CompletionRefused, GateDecided, GuidanceGiven
from state.records.calls import Message
from state.records.changed_tests import TestRuling
from state.records.findings import Finding, ReviewIssue
from state.records.hand_over import HandOver
from state.records.plan import Task

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
class MergeView:
    """A task's merge under way. `refusals` are wrong claims that its conflict is resolved."""

    commit: str
    onto: str
    conflict: MergeConflicted | None = None
    refusals: list[ResolutionRefused] = field(default_factory=list)
    built: MergeBuilt | None = None

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
    gates: list[GateDecided] = field(default_factory=list)  # answers to the newest claim
    refusals: list[CompletionRefused] = field(default_factory=list)  # in a row
    checks: list[ChecksDecided] = field(default_factory=list)
    guidance: list[GuidanceGiven] = field(default_factory=list)
    checkpoints: list[CheckpointReviewed] = field(default_factory=list)


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


Tasks = Mapping[str, TaskView]  # by their ids


@dataclass(frozen=True, slots=True)
class JudgedView:
    """The newest verdict on a criterion, and its place in the journal."""

    event: CriterionJudged
    seq: int


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
