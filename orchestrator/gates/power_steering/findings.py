"""The result of one consideration: the judge's answer, else its rule's, else "not checked".

A rule is asked only if the judge gave no answer, so neither overrules the other.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from time import monotonic
from typing import Protocol

from agents.roles.judge import JudgeFinding, Judgement
from orchestrator.gates.power_steering.considerations import Consideration, Severity
from state.truncation import Truncation, feedback
from state.verdicts import CheckResult, Source

Cut = Callable[[Truncation], str]  # returns a truncation's text, and may log the truncation
_NO_REASON = "no reason was given"


class RuleAnswer(Protocol):
    """A rule's answer."""

    @property
    def satisfied(self) -> bool: ...  # noqa: D102
    @property
    def reason(self) -> str: ...  # noqa: D102
    @property
    def evidence(self) -> str: ...  # noqa: D102
    @property
    def applies(self) -> bool: ...  # noqa: D102


Rule = Callable[[], RuleAnswer | None]  # None: the evidence is not enough to decide


def judged(consideration: Consideration, judgement: Judgement) -> CheckResult:
    """The result of the judge's answer. An undecided answer counts as not checked."""
    return _result(
        consideration,
        Source.NOT_CHECKED if judgement.verdict is JudgeFinding.CANNOT_TELL else Source.JUDGE,
        satisfied=judgement.verdict is not JudgeFinding.NOT_SATISFIED,
        applies=judgement.verdict is not JudgeFinding.NOT_APPLICABLE,
        reason=judgement.reason,
        evidence=judgement.quote,
    )


def fallback(consideration: Consideration, rules: Mapping[str, Rule], why: str) -> CheckResult:
    """The result of the consideration's rule, or "not checked" if the rule does not decide.

    Args:
        consideration: names its rule. Without a name it is the rule of its own id.
        rules: the rules by name.
        why: why the judge has not answered.
    """
    rule = rules.get(consideration.rule or consideration.id)
    began = monotonic()
    try:
        found = rule() if rule else None
    except Exception as error:  # noqa: BLE001  a failed rule does not block, and is reported
        return not_checked(consideration, f"its rule failed: {error!r}. {why}")
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
    """A result that says that the check was not made, and does not block."""
    return _result(consideration, Source.NOT_CHECKED, satisfied=True, reason=why)


def told(result: CheckResult, cut: Cut) -> CheckResult:
    """The result with its texts escaped and cut to 200 characters (seed 001), ready to be repeated."""
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
