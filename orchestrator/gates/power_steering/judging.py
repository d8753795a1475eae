"""Every consideration judged: concurrently, each in its own time, with one shared beginning that is cached.

The judge comes first, always. A check that it does not answer falls back to the check's rule, where it has
one, and else is not checked: satisfied, and told. Neither overrules the other.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic

from agents.ask import Ask, Reply
from agents.connection import Lane
from agents.judge import Finding, Judgement, judge_ask, judgement_in_text, read_judgement, shared_part
from orchestrator.gates.gate import ALL_S, EACH_S, gather
from orchestrator.gates.power_steering.considerations import Consideration, Severity
from state.records import CallEnd
from state.settings import Model
from state.truncation import feedback
from state.verdicts import CheckResult, Source

AskJudge = Callable[[Ask], Awaitable[Reply]]
Rule = Callable[[], CheckResult | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One look at a session.

    `ask` reaches the judge; None: there is none to be had. `before` are the reasons of what was not satisfied
    last time, by id; `rules` the fallbacks by id.
    """

    session: str
    model: Model
    lane: Lane
    ask: AskJudge | None
    before: Mapping[str, str] = field(default_factory=dict)
    rules: Mapping[str, Rule] = field(default_factory=dict)
    each_s: float = EACH_S
    all_s: float = ALL_S
    at_once: int = 64


async def judge_all(considerations: Sequence[Consideration], look: Look) -> list[CheckResult]:
    """A result for each consideration, in order. Never raises for what a judge or a rule does."""
    shared = shared_part(look.session)

    async def check(consideration: Consideration, begun: Callable[[], None]) -> CheckResult:
        return await _judged(consideration, look, shared, begun)

    def unanswered(consideration: Consideration, why: str) -> CheckResult:
        return _fallback(consideration, look, why)

    return await gather(
        considerations, check, unanswered, each_s=look.each_s, all_s=look.all_s, at_once=look.at_once
    )


async def _judged(
    consideration: Consideration, look: Look, shared: str, begun: Callable[[], None]
) -> CheckResult:
    if look.ask is None:
        return _fallback(consideration, look, "no judge is to be had")
    began = monotonic()
    ask = judge_ask(
        consideration,
        model=look.model,
        lane=look.lane,
        shared=shared,
        before=look.before.get(consideration.id, ""),
        deadline_s=look.each_s,
    )
    reply = await look.ask(replace(ask, on_begun=begun))
    judgement = _judgement_of(reply)
    if isinstance(judgement, str):
        return replace(_fallback(consideration, look, judgement), cost_usd=reply.cost_usd)
    found = _result(consideration, judgement)
    return replace(found, seconds=monotonic() - began, cost_usd=reply.cost_usd)


def _judgement_of(reply: Reply) -> Judgement | str:
    if reply.end is CallEnd.COMPLETED:
        return read_judgement(reply.answer)
    in_words = judgement_in_text(reply.text) if reply.end is CallEnd.UNUSABLE else None
    return in_words or f"the judge did not answer: {reply.end}: {reply.detail}"


def _result(consideration: Consideration, judgement: Judgement) -> CheckResult:
    match judgement.verdict:
        case Finding.CANNOT_TELL:
            source, satisfied, applies = Source.NOT_CHECKED, True, True
        case Finding.NOT_APPLICABLE:
            source, satisfied, applies = Source.JUDGE, True, False
        case verdict:
            source, satisfied, applies = Source.JUDGE, verdict is Finding.SATISFIED, True
    return CheckResult(
        consideration_id=consideration.id,
        satisfied=satisfied,
        blocker=consideration.severity is Severity.BLOCKER,
        reason=feedback(judgement.reason).text,
        evidence=feedback(judgement.quote).text,
        source=source,
        applies=applies,
    )


def _fallback(consideration: Consideration, look: Look, why: str) -> CheckResult:
    """The rule's answer for this one check; without one it is not checked, and satisfied."""
    blocker = consideration.severity is Severity.BLOCKER
    rule = look.rules.get(consideration.rule or consideration.id)
    try:
        found = rule() if rule else None
    except Exception as error:  # noqa: BLE001  a rule that fails lets the stop happen, in sight
        found, why = None, f"its rule failed: {error!r}"
    return found or CheckResult(
        consideration_id=consideration.id,
        satisfied=True,
        blocker=blocker,
        reason=feedback(why).text,
        source=Source.NOT_CHECKED,
    )
