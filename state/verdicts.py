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
    """One gate's answer and why; the reason is what the blocked agent is told."""

    gate: str
    verdict: Verdict
    reason: str
