"""The report of one review."""

from dataclasses import dataclass

from state.records.changed_tests import TestRuling
from state.records.criteria import CriterionClaim
from state.records.findings import ReviewIssue, Ruling


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
