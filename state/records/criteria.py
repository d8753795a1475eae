"""Verdicts on criteria of the spec, and the evidence for them."""

from dataclasses import dataclass
from enum import StrEnum


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


class CriterionStanding(StrEnum):
    """The worth of a verdict on a criterion. Only `proven` rests on evidence that sq has seen itself."""

    PROVEN = "proven"
    CLAIMED = "claimed"
    NOT_MET = "not met"
    NOT_CHECKED = "not checked"


class EvidenceKind(StrEnum):
    """The kind of a piece of evidence for a criterion."""

    TEST = "test"
    COMMAND = "command"
    LINE = "line"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One piece of evidence for a criterion: a reviewer names it, and sq checks it on the tree.

    `ref` is the test's name, the command, or `path:line`. `holds` is sq's own result, and None if sq could
    not check it or has not checked it yet. `why` is the reason, in words for people. `general`: it says
    nothing about one behaviour by itself, such as a whole suite or file of tests, a linter, or a new test
    that passes without the work.
    """

    kind: EvidenceKind
    ref: str
    holds: bool | None = None
    why: str = ""
    general: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionClaim:
    """A reviewer's verdict on one criterion, with evidence that sq has not checked yet."""

    id: str
    verdict: CriterionVerdict
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()
