"""Asks the judge all considerations at once, each in a call of its own or a few together. All begin alike.

The judge always comes first. What a call with several does not answer is asked once more alone. A check that
stays without an answer falls back to its rule, so neither overrules the other. A check without a rule, or
whose time is over, is not checked: it counts as satisfied and is reported.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import TypeVar

import anyio

from agents.ask.port import Reply, room_of
from agents.caller import Caller
from agents.concurrency import task_group
from agents.roles.judge import (
    AskJudge,
    JudgeFinding,
    Judgement,
    judge_ask,
    judgement_in_text,
    read_judgement,
    read_judgements,
    shared_part,
)
from orchestrator.gates.power_steering.considerations import Consideration, Severity
from orchestrator.gates.power_steering.facts import RuleOutcome
from state.records.calls import CallEnd, may_pass_later
from state.settings.records import Model
from state.truncation import Truncation, feedback
from state.verdicts import NO_ANSWER, CheckResult, Source

EACH_S = 25.0  # one call
ALL_S = 60.0  # all of them together
WARM_UP_S = 2.0  # how long the others wait until the first one has written the cache

C = TypeVar("C")
R = TypeVar("R")


Cut = Callable[[Truncation], str]  # returns a truncation's text, and may log the truncation
_NO_REASON = "no reason was given"
Group = Sequence[Consideration]
TOGETHER = 5  # questions in a call, where each call is dear: a person who waits has one in each
_LONGEST_QUESTION = 4_000  # characters, with the text of its kind and why it was not met last time
Rule = Callable[[], RuleOutcome | None]  # None: the evidence is not enough to decide


async def gather(
    checks: Sequence[C],
    look: Callable[[C, Callable[[], None]], Awaitable[R]],
    unanswered: Callable[[C, str], R],
    *,
    each_s: float = EACH_S,
    all_s: float = ALL_S,
    warm_up_s: float = WARM_UP_S,
    at_once: int = 64,
) -> list[R]:
    """Return the result of each check, in order. A check that fails or is late has that of `unanswered`.

    Args:
        checks: the checks. The first one starts alone and writes the cache.
        look: runs one check. It calls its second argument when the others may start.
        unanswered: makes the result of a check that failed or was late, from the check and the cause.
        each_s: seconds for one check, from its own start.
        all_s: seconds for all checks together.
        warm_up_s: how many seconds the others wait for the first one at most. With 0 they do not wait.
        at_once: how many checks run at the same time.
    """
    results: dict[int, R] = {}
    places = anyio.CapacityLimiter(at_once)
    warm = anyio.Event()

    async def one(number: int, check: C) -> None:
        async with places:
            if number:
                with anyio.move_on_after(warm_up_s):
                    await warm.wait()
            try:
                with anyio.move_on_after(each_s):
                    results[number] = await look(check, warm.set)
                if number not in results:
                    results[number] = unanswered(check, f"no answer within {each_s:g} s")
            except Exception as error:  # noqa: BLE001  an error in a check never traps a session
                results[number] = unanswered(check, f"{type(error).__name__}: {error}")
            finally:
                warm.set()

    with anyio.move_on_after(all_s):
        async with task_group() as tasks:
            for number, check in enumerate(checks):
                tasks.start_soon(one, number, check)
    late = f"no answer within {all_s:g} s, the time for all checks"
    return [
        results[number] if number in results else unanswered(check, late)
        for number, check in enumerate(checks)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionLook:
    """One look at a session, as text by `agents.transcript.render`.

    `ask` calls the judge. None means that there is no judge. `before` has by id why a consideration was not
    satisfied last time. `rules` are the fallbacks by name. At most `together` considerations go into a call.
    `each_s` is for one call and `all_s` for all. The other calls wait at most `warm_up_s` until the first one
    begins to be answered. `cut` receives every reason and quote that is cut.
    """

    session: str
    model: Model
    caller: Caller
    ask: AskJudge | None
    before: Mapping[str, str] = field(default_factory=dict)
    rules: Mapping[str, Rule] = field(default_factory=dict)
    together: int = 1
    each_s: float = EACH_S
    all_s: float = ALL_S
    warm_up_s: float = WARM_UP_S
    cut: Cut = field(default=lambda cut: cut.text)


def room_for(model: Model, questions: int) -> int:
    """How many characters the session may have in a call with this many questions."""
    return max(0, room_of(model) - questions * _LONGEST_QUESTION)


async def judge_all(considerations: Sequence[Consideration], look: SessionLook) -> list[CheckResult]:
    """Return a result for each consideration, in order. An error of the judge or a rule is never raised.

    The cost of a call is divided evenly over its considerations, so the results' costs add up to the calls'.
    A call that was cut off at its deadline reported no cost, and counts 0.
    """
    found = await _judge_all(considerations, look)
    return [told(result, look.cut) for result in found]


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


async def _judge_all(considerations: Sequence[Consideration], look: SessionLook) -> list[CheckResult]:
    if look.ask is None:
        return [fallback(one, look.rules, "there is no judge") for one in considerations]
    asking = _Asking(look, look.ask)
    await gather(
        dealt(considerations, look.together),
        asking.ask_all,
        asking.late,
        each_s=look.all_s,
        all_s=look.all_s,
        warm_up_s=look.warm_up_s,
    )
    return [asking.found[one.id] for one in considerations]


class _Asking:
    """The calls of one look. `found` has the results so far, by id."""

    def __init__(self, look: SessionLook, ask_judge: AskJudge) -> None:
        self.found: dict[str, CheckResult] = {}
        self._look = look
        self._ask_judge = ask_judge
        self._shared = shared_part(look.session)
        self._began: dict[str, float] = {}
        self._spent: defaultdict[str, float] = defaultdict(float)

    async def ask_all(self, group: Group, begun: Callable[[], None]) -> None:
        """Ask the questions together, and those without an answer once more, each alone."""

        async def once(some: Group, _: Callable[[], None]) -> None:
            await self._ask(some, begun)

        each_s, all_s = self._look.each_s, self._look.all_s
        if len(group) > 1:
            await gather([group], once, lambda *_: None, each_s=each_s, all_s=all_s)
            begun()
        left = [[one] for one in group if one.id not in self.found]
        await gather(left, once, self.late, each_s=each_s, all_s=all_s, warm_up_s=0)

    def late(self, group: Group, why: str) -> None:
        """Count those without a result as not checked."""
        for one in group:
            if one.id not in self.found:
                self._keep(not_checked(one, why))

    async def _ask(self, group: Group, begun: Callable[[], None]) -> None:
        for one in group:
            self._began.setdefault(one.id, monotonic())
        question = judge_ask(
            group,
            model=self._look.model,
            caller=self._look.caller,
            shared=self._shared,
            before=self._look.before,
            deadline_s=self._look.each_s,
        )
        try:
            reply = await self._ask_judge(replace(question, on_begun=begun))
        except Exception as error:  # noqa: BLE001  a failed judge does not block, and is reported
            reply = Reply(end=CallEnd.DIED, detail=f"{type(error).__name__}: {error}")
        for one in group:
            self._spent[one.id] += reply.cost_usd / len(group)
        for result in _results(group, self._look.rules, reply):
            self._keep(result)

    def _keep(self, result: CheckResult) -> None:
        id_, now = result.consideration_id, monotonic()
        seconds = now - self._began.get(id_, now)
        self.found[id_] = replace(result, seconds=seconds, cost_usd=self._spent[id_])


def dealt(considerations: Sequence[Consideration], together: int) -> list[Group]:
    """Divide into the fewest groups of at most `together` neighbours, of nearly equal size."""
    count = len(considerations)
    calls = -(-count // together)
    return [considerations[count * n // calls : count * (n + 1) // calls] for n in range(calls)]


def _results(group: Group, rules: Mapping[str, Rule], reply: Reply) -> Iterator[CheckResult]:
    """The results so far: of several questions only those with an answer, unless the judge refuses all."""
    said = _said([one.id for one in group], reply)
    goes_on = len(group) > 1 and (reply.api_status is None or may_pass_later(reply.api_status))
    for one in group:
        judgement = said[one.id]
        if isinstance(judgement, Judgement):
            yield judged(one, judgement)
        elif goes_on:
            continue
        elif reply.end is CallEnd.TIMED_OUT:
            yield not_checked(one, judgement)
        else:
            yield fallback(one, rules, judgement)


def _said(ids: Sequence[str], reply: Reply) -> Mapping[str, Judgement | str]:
    """The judgement on each id, or why there is none. Free text counts only for a single id."""
    alone = len(ids) == 1
    if reply.end is CallEnd.COMPLETED:
        return {ids[0]: read_judgement(reply.answer)} if alone else read_judgements(reply.answer, ids)
    in_words = judgement_in_text(reply.text) if alone and reply.end is CallEnd.UNUSABLE else None
    return dict.fromkeys(ids, in_words or f"{NO_ANSWER}: {reply.end}: {reply.detail}")
