"""The answers of gates."""

from dataclasses import dataclass
from enum import StrEnum

NO_ANSWER = "the judge did not answer"  # begins the reason of a check after an outage of the judge


class Verdict(StrEnum):
    """A gate's answer. `not checked` means that no check ran, and never counts as `allow` for work."""

    ALLOW = "allow"
    BLOCK = "block"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """One gate's answer and why. The blocked agent receives the reason, or `feedback` if it says more.

    `key` is equal for the same failure of this gate. It is needed if the words do not show that. `heard` are
    the checks whose objections the reason has.
    """

    gate: str
    verdict: Verdict
    reason: str
    key: str = ""
    feedback: str = ""
    heard: tuple[str, ...] = ()

    @property
    def to_agent(self) -> str:
        """The words for the agent that has to fix the work."""
        return self.feedback or self.reason


class Source(StrEnum):
    """Who answered a check."""

    JUDGE = "judge"
    RULE = "rule"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """The result of one consideration. Unchecked and inapplicable ones are satisfied, with a reason."""

    consideration_id: str
    satisfied: bool
    blocker: bool
    reason: str = ""
    evidence: str = ""
    source: Source = Source.JUDGE
    applies: bool = True
    seconds: float = 0.0
    cost_usd: float = 0.0
