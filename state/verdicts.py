"""What a gate answers."""

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """A gate's answer. `not checked` means nobody looked; it is never read as `allow` for work."""

    ALLOW = "allow"
    BLOCK = "block"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """One gate's answer and why; the reason is what the blocked agent is told.

    `key` tells failures of this gate apart where the reason's words do not: equal for the same failure.
    """

    gate: str
    verdict: Verdict
    reason: str
    key: str = ""


class Source(StrEnum):
    """Who answered a check."""

    JUDGE = "judge"
    RULE = "rule"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What one consideration found. Not checked is satisfied, and says why; so is what does not apply."""

    consideration_id: str
    satisfied: bool
    blocker: bool
    reason: str = ""
    evidence: str = ""
    source: Source = Source.JUDGE
    applies: bool = True
    seconds: float = 0.0
    cost_usd: float = 0.0
