"""What follows from the checks: blockers hold the session, warnings are told, abstentions are counted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orchestrator.gates.power_steering.considerations import Consideration
from state.verdicts import CheckResult, Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """`blocked_by` are the unmet blockers; `message` is what the agent is told, with what to do."""

    blocked_by: tuple[CheckResult, ...]
    warnings: tuple[CheckResult, ...]
    not_checked: tuple[CheckResult, ...]
    message: str

    @property
    def allows(self) -> bool:
        """Whether nothing holds the session."""
        return not self.blocked_by

    @property
    def key(self) -> str:
        """The set of failures: the same one three times means that nothing gets on."""
        return ",".join(sorted(result.consideration_id for result in self.blocked_by))


def decide(results: Sequence[CheckResult], considerations: Mapping[str, Consideration]) -> Decision:
    """The decision that the results of one look lead to."""
    unmet = [result for result in results if not result.satisfied]
    blocked_by = tuple(result for result in unmet if result.blocker)
    return Decision(
        blocked_by=blocked_by,
        warnings=tuple(result for result in unmet if not result.blocker),
        not_checked=tuple(result for result in results if result.source is Source.NOT_CHECKED),
        message="\n".join(_lines(blocked_by, considerations)),
    )


def _lines(blocked_by: Sequence[CheckResult], considerations: Mapping[str, Consideration]) -> list[str]:
    if not blocked_by:
        return []
    lines = ["The work was looked at as a whole, and this is not done yet:", ""]
    for result in blocked_by:
        consideration = considerations[result.consideration_id]
        lines.append(f"- {consideration.question} No: {result.reason}")
        if consideration.guidance:
            lines.append(f"  {consideration.guidance}")
    return lines
