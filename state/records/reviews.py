"""Reviews: findings and rulings, criteria with evidence, changed tests, and the report of one review."""

from dataclasses import dataclass
from enum import StrEnum


class TestChangeKind(StrEnum):
    """How a test of the base differs from before."""

    __test__ = False

    FAILS = "fails as it was"
    GONE = "is gone"
    SKIPPED = "is skipped now"
    WEAKENED = "may check less than it did"
    UNREADABLE = "was changed, and sq cannot run it as it was"


@dataclass(frozen=True, slots=True, kw_only=True)
class TestChange:
    """A test that passed at the base and no longer counts as it was.

    `test` is empty if the whole file is meant, `path` if the file is unknown. `expected_by` is the line of
    the spec or of the reviewed plan that announces the change, or "" if there is none.
    """

    __test__ = False

    test: str
    path: str = ""
    kind: TestChangeKind
    detail: str = ""
    expected_by: str = ""

    @property
    def name(self) -> str:
        """The name that people and agents use."""
        return self.test or self.path


@dataclass(frozen=True, slots=True, kw_only=True)
class TestRuling:
    """A reviewer's ruling on a changed test. `ruled`: the report did mention this test."""

    __test__ = False

    test: str
    accepted: bool
    why: str = ""
    ruled: bool = True


class CriterionVerdict(StrEnum):
    """A verdict on one criterion. `not checked` also stands for a verdict that is missing."""

    MET = "met"
    NOT_MET = "not met"
    NOT_CHECKED = "not checked"


class JudgedBy(StrEnum):
    """Who gave a verdict on a criterion.

    A reviewer read the tree. A rule of sq looked in a later tree for the evidence that a reviewer had named.
    """

    REVIEWER = "reviewer"
    RULE = "rule"


class Mark(StrEnum):
    """What sq has seen of a criterion itself. Formats for machines have these names, which do not change.

    `examined`: a test by somebody who had not seen the work. `tested`: a test of the work's author, which sq
    saw fail without the work and pass with it. `computed`: sq compared it itself. `claimed`: a reviewer says
    so.
    """

    EXAMINED = "examined"
    TESTED = "tested"
    COMPUTED = "computed"
    CLAIMED = "claimed"
    NOT_CHECKED = "not_checked"
    NOT_MET = "not_met"

    @property
    def words(self) -> str:
        """The name for people."""
        return self.value.replace("_", " ")


class EvidenceKind(StrEnum):
    """The kind of a piece of evidence for a criterion. A reviewer names all but what sq computes itself."""

    TEST = "test"
    COMMAND = "command"
    LINE = "line"
    COMPUTED = "computed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One piece of evidence for a criterion: a reviewer names it, and sq checks it on the tree.

    `ref` is the test's name, the command, `path:line`, or the constraint that sq computed. `holds` is sq's
    own result, and None if sq could not check it or has not checked it yet. `why` is the reason, in words for
    people. `general`: it says nothing about one behaviour by itself, such as a whole suite or file of tests,
    a linter, or a new test that passes without the work. `mark` is what it shows by itself, None for nothing
    that sq has seen.
    """

    kind: EvidenceKind
    ref: str
    holds: bool | None = None
    why: str = ""
    general: bool = False
    mark: Mark | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionClaim:
    """A reviewer's verdict on one criterion, with evidence that sq has not checked yet."""

    id: str
    verdict: CriterionVerdict
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()


class IssueType(StrEnum):
    """The kind of a review issue (the first four: seed 002)."""

    OVER_ENGINEERING = "over-engineering"
    MISSING_ERROR_HANDLING = "missing-error-handling"
    PATTERN_VIOLATION = "pattern-violation"
    DEAD_CODE = "dead-code"
    INCORRECT_BEHAVIOR = "incorrect-behavior"
    SPEC_MISMATCH = "spec-mismatch"
    ARCHITECTURE_CONCERN = "architecture-concern"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewIssue:
    """A reviewer's finding (seed 002). `line` is absent if the finding is about a whole file."""

    task_id: str
    file: str
    line: int | None = None
    type: IssueType = IssueType.PATTERN_VIOLATION
    description: str
    suggestion: str

    @property
    def location(self) -> str:
        """`file:line`, or the file alone."""
        return f"{self.file}:{self.line}" if self.line else self.file

    @property
    def words(self) -> str:
        """The issue in a line: its place, its type, what is wrong and the fix."""
        return f"{self.location} ({self.type}): {self.description} (fix: {self.suggestion})"


class FindingState(StrEnum):
    """The state of a finding."""

    OPEN = "open"
    FIXED = "fixed"
    DISPUTED = "disputed"
    WONT_FIX = "won't fix"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """An issue through the reviews of a task: `id` is its fingerprint, `round` the review that found it.

    `note` is the evidence of a dispute, or why it is not going to be fixed. `unruled`: it is open because the
    last review did not rule on it. `advice`: only a checkpoint has named it.
    """

    id: str
    issue: ReviewIssue
    state: FindingState = FindingState.OPEN
    round: int = 1
    note: str = ""
    unruled: bool = False
    advice: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    """A Worker's evidence that the finding of this id is wrong."""

    id: str
    evidence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """A re-review's ruling on an earlier finding: open, fixed, or need not be fixed."""

    id: str
    state: FindingState
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewReport:
    """A usable review: `passed` without issues, or issues that say why not.

    `rulings` are about earlier issues, `tests` about tests that the work changed, `criteria` about those of
    the spec, if the review was asked about them.
    """

    passed: bool
    issues: tuple[ReviewIssue, ...] = ()
    suggestions: tuple[str, ...] = ()
    rulings: tuple[Ruling, ...] = ()
    tests: tuple[TestRuling, ...] = ()
    criteria: tuple[CriterionClaim, ...] = ()
