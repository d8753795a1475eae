"""What was found on one consideration: the judge's word, else its rule's, else that nobody could check it.

Neither overrules the other: a rule is asked only where the judge gave no answer.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from time import monotonic
from typing import Protocol

from agents.roles.judge import Finding, Judgement
from orchestrator.gates.power_steering.considerations import Consideration, Severity
from state.truncation import Truncation, feedback
from state.verdicts import CheckResult, Source

Cut = Callable[[Truncation], str]  # gives a truncation's text, and may log that there was one
_NO_REASON = "no reason was given"


class RuleAnswer(Protocol):
    """What a rule says, in its own words."""

    @property
    def satisfied(self) -> bool: ...  # noqa: D102
    @property
    def reason(self) -> str: ...  # noqa: D102
    @property
    def evidence(self) -> str: ...  # noqa: D102
    @property
    def applies(self) -> bool: ...  # noqa: D102


Rule = Callable[[], RuleAnswer | None]  # None: the evidence decides nothing


def judged(consideration: Consideration, judgement: Judgement) -> CheckResult:
    """What the judge said; a judge that cannot tell has checked nothing."""
    return _result(
        consideration,
        Source.NOT_CHECKED if judgement.verdict is Finding.CANNOT_TELL else Source.JUDGE,
        satisfied=judgement.verdict is not Finding.NOT_SATISFIED,
        applies=judgement.verdict is not Finding.NOT_APPLICABLE,
        reason=judgement.reason,
        evidence=judgement.quote,
    )


def fallback(consideration: Consideration, rules: Mapping[str, Rule], why: str) -> CheckResult:
    """What the consideration's rule says; where it says nothing, nobody has checked.

    Args:
        consideration: names its rule; without a name it is the one of its own id.
        rules: by name.
        why: there is no answer of the judge.
    """
    rule = rules.get(consideration.rule or consideration.id)
    began = monotonic()
    try:
        found = rule() if rule else None
    except Exception as error:  # noqa: BLE001  a rule that fails lets the stop happen, in sight
        return not_checked(consideration, f"its rule failed: {error!r}; {why}")
    if found is None:
        return not_checked(consideration, why)
    result = _result(
        consideration,
        Source.RULE,
        satisfied=found.satisfied,
        applies=found.applies,
        reason=found.reason,
        evidence=found.evidence,
    )
    return replace(result, seconds=monotonic() - began)


def not_checked(consideration: Consideration, why: str) -> CheckResult:
    """Nobody has checked: it holds nothing up, and says so."""
    return _result(consideration, Source.NOT_CHECKED, satisfied=True, reason=why)


def told(result: CheckResult, cut: Cut) -> CheckResult:
    """The result as it may be said again: its words escaped, and cut to 200 characters (seed 001)."""
    reason = cut(feedback(result.reason)) or _NO_REASON
    return replace(result, reason=reason, evidence=cut(feedback(result.evidence)))


def _result(
    consideration: Consideration,
    source: Source,
    *,
    satisfied: bool,
    reason: str,
    evidence: str = "",
    applies: bool = True,
) -> CheckResult:
    return CheckResult(
        consideration_id=consideration.id,
        satisfied=satisfied,
        blocker=consideration.severity is Severity.BLOCKER,
        reason=reason,
        evidence=evidence,
        source=source,
        applies=applies,
    )
