"""The answer of a rule."""

from collections.abc import Callable
from dataclasses import dataclass

from orchestrator.gates.power_steering.evidence import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A rule's answer: `reason` says why, and `evidence` quotes the deciding fact."""

    satisfied: bool
    reason: str
    evidence: str = ""
    applies: bool = True


# None: the facts are not enough to decide, so it is not checked.
Rule = Callable[[Evidence], Found | None]


def met(reason: str, evidence: str = "") -> Found:
    """Satisfied."""
    return Found(satisfied=True, reason=reason, evidence=evidence)


def unmet(reason: str, evidence: str = "") -> Found:
    """Not satisfied, on clear evidence."""
    return Found(satisfied=False, reason=reason, evidence=evidence)


def not_applicable(reason: str) -> Found:
    """Satisfied, because it does not apply to this session."""
    return Found(satisfied=True, reason=reason, applies=False)
