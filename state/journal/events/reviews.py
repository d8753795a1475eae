"""Events of reviews: of a task, of a checkpoint, of the whole."""

from collections.abc import Iterable
from dataclasses import dataclass

from state.records.reviews import (
    CriterionVerdict,
    Evidence,
    EvidenceKind,
    Finding,
    JudgedBy,
    Mark,
    ReviewIssue,
    TestRuling,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRecorded:
    """A usable review of `commit`. `task_id` is empty for the final review of the whole.

    In reviews before the build it is `analysis` or `plan`, and there is no commit. `issues` are those that
    prevent acceptance. `findings` are all of this and earlier reviews, with the state of each. `passed`:
    there are no `issues`. `tests` are rulings on the tests that the work changed.
    """

    task_id: str
    attempt: int
    commit: str
    passed: bool
    issues: tuple[ReviewIssue, ...]
    suggestions: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    tests: tuple[TestRuling, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewUnusable:
    """A reviewer made no usable report. `issue` is the parser's synthetic one, never sent to a Worker."""

    task_id: str
    attempt: int
    commit: str
    problem: str
    issue: ReviewIssue


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointReviewed:
    """A reviewer looked at work under way. Its findings go into the same session's next prompt.

    `findings` are all that are known of the task now. `problem`: why there is no usable report.
    """

    task_id: str
    attempt: int
    iteration: int
    tree: str
    issues: tuple[ReviewIssue, ...] = ()
    findings: tuple[Finding, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskReopened:
    """A failed review or merge sends a task back. Its findings go into the next attempt's prompt.

    `issues` are the same as they were reported.

    If the task has to be built on newer work, `base` is the new base commit and `start` the commit with whose
    content the workspace begins.
    """

    task_id: str
    issues: tuple[ReviewIssue, ...]
    by: str
    base: str = ""
    start: str = ""
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionJudged:
    """A verdict on one criterion of the spec for exactly one tree, with evidence that sq checked on it.

    `task_id` is the task whose review stands for the final review, or "". `claim` is the reason in the words
    of the reviewer. A verdict `by` a rule carries an earlier one over to a later `tree`, as far as the
    evidence holds there.
    """

    criterion_id: str
    verdict: CriterionVerdict
    by: JudgedBy
    commit: str
    tree: str
    task_id: str = ""
    claim: str = ""
    evidence: tuple[Evidence, ...] = ()

    @property
    def proof(self) -> Evidence | None:
        """The piece of evidence that shows it, if it is met and sq has seen that."""
        return proof_of(self.evidence) if self.verdict is CriterionVerdict.MET else None

    @property
    def mark(self) -> Mark:
        """What sq has seen: `met` without a piece of evidence that shows it is only claimed (`proof_of`)."""
        match self.verdict:
            case CriterionVerdict.MET:
                return (self.proof and self.proof.mark) or Mark.CLAIMED
            case CriterionVerdict.NOT_MET:
                return Mark.NOT_MET
            case CriterionVerdict.NOT_CHECKED:
                return Mark.NOT_CHECKED


ReviewEvent = ReviewRecorded | ReviewUnusable | CheckpointReviewed | TaskReopened | CriterionJudged


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


@dataclass(frozen=True, slots=True)
class JudgedView:
    """The newest verdict on a criterion, and its place in the journal."""

    event: CriterionJudged
    seq: int


def proof_of(evidence: Iterable[Evidence]) -> Evidence | None:
    """Return the piece of evidence that shows a criterion, or None if there is none.

    That is a test, a command or a fact that holds and has a `mark`. A line shows no criterion: whether it
    suffices is the reviewer's word. A test, a command or a fact that does not hold outweighs all others.
    """
    pieces = list(evidence)
    if any(one.holds is False and one.kind is not EvidenceKind.LINE for one in pieces):
        return None
    order = [Mark.COMPUTED, *Mark]
    shown = [(order.index(one.mark), one) for one in pieces if one.holds and one.mark and not one.general]
    return min(shown, key=lambda found: found[0])[1] if shown else None
