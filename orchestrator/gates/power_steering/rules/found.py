"""What a rule answers."""

from collections.abc import Callable
from dataclasses import dataclass

from orchestrator.gates.power_steering.evidence import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A rule's answer: `reason` says why, `evidence` quotes what decides it."""

    satisfied: bool
    reason: str
    evidence: str = ""
    applies: bool = True


# None: the facts do not decide it, so it is not checked.
Rule = Callable[[Evidence], Found | None]


def met(reason: str, evidence: str = "") -> Found:
    """Satisfied."""
    return Found(satisfied=True, reason=reason, evidence=evidence)


def unmet(reason: str, evidence: str = "") -> Found:
    """Not satisfied, on clear evidence."""
    return Found(satisfied=False, reason=reason, evidence=evidence)


def not_applicable(reason: str) -> Found:
    """Satisfied, because it cannot apply to what happened."""
    return Found(satisfied=True, reason=reason, applies=False)
