"""Findings of reviews, and what becomes of them."""

from dataclasses import dataclass
from enum import StrEnum


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
