"""Every consideration judged: concurrently, each in its own time, with one shared beginning that is cached.

The judge comes first, always. A check that it does not answer falls back to the check's rule, where it has
one, and else is not checked: satisfied, and told. So is a check whose time is over: it waits for nobody.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from time import monotonic

from agents.access import Lane
from agents.ask.port import Ask, Reply, room_of
from agents.roles.judge import (
    Judgement,
    judge_ask,
    judgement_in_text,
    read_judgement,
    read_judgements,
    shared_part,
)
from orchestrator.gates.gate import ALL_S, EACH_S, WARM_UP_S, gather
from orchestrator.gates.power_steering.considerations import Consideration
from orchestrator.gates.power_steering.findings import Cut, Rule, fallback, judged, not_checked, told
from state.records import CallEnd
from state.settings.records import Model
from state.verdicts import CheckResult

AskJudge = Callable[[Ask], Awaitable[Reply]]
Group = Sequence[Consideration]

CLI_GROUPS = 4  # with the CLI a call is a process, 0.3 s of CPU, 180 MB and seconds: no more at once
_LONGEST_QUESTION = 4_000  # characters, with the words of its kind and why it was not met the last time


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One look at a session, in words as `agents.transcript.render` puts them.

    `ask` reaches the judge; None: there is none to be had. `before` are the reasons of what was not satisfied
    last time, by id; `rules` the fallbacks by name. `groups`: where a call is dear, as a process is, all
    questions go into at most so many calls; None: each has its own. `each_s` is for one call, `all_s` for
    all; `warm_up_s` is how long the other calls wait for the first one to begin to be answered. `cut` gets
    every reason and quote that is cut.
    """

    session: str
    model: Model
    lane: Lane
    ask: AskJudge | None
    before: Mapping[str, str] = field(default_factory=dict)
    rules: Mapping[str, Rule] = field(default_factory=dict)
    groups: int | None = None
    each_s: float = EACH_S
    all_s: float = ALL_S
    warm_up_s: float = WARM_UP_S
    cut: Cut = field(default=lambda cut: cut.text)


def room_for(model: Model, questions: int, groups: int | None) -> int:
    """The characters that a session may take of a call that asks its part of so many questions."""
    together = -(-questions // groups) if groups else 1
    return max(0, room_of(model) - together * _LONGEST_QUESTION)


async def judge_all(considerations: Sequence[Consideration], look: Look) -> list[CheckResult]:
    """A result for each consideration, in order. Never raises for what a judge or a rule does.

    What a call cost is shared out evenly over what it asked: the results' costs add up to the calls'. A call
    that was cut off at its deadline said nothing about its cost, and counts nothing here.
    """
    found = await _judge_all(considerations, look)
    return [told(result, look.cut) for result in found]


async def _judge_all(considerations: Sequence[Consideration], look: Look) -> list[CheckResult]:
    if look.ask is None:
        return [fallback(one, look.rules, "no judge is to be had") for one in considerations]
    ask_judge = look.ask
    shared = shared_part(look.session)
    began: dict[str, float] = {}

    async def ask(group: Group, begun: Callable[[], None]) -> list[CheckResult]:
        began[group[0].id] = monotonic()
        question = judge_ask(
            group,
            model=look.model,
            lane=look.lane,
            shared=shared,
            before=look.before,
            deadline_s=look.each_s,
        )
        return await _answered(group, look.rules, ask_judge, replace(question, on_begun=begun))

    def late(group: Group, why: str) -> list[CheckResult]:
        seconds = monotonic() - began[group[0].id] if group[0].id in began else 0.0
        return [replace(not_checked(one, why), seconds=seconds) for one in group]

    found = await gather(
        dealt(considerations, look.groups),
        ask,
        late,
        each_s=look.each_s,
        all_s=look.all_s,
        warm_up_s=0 if look.groups else look.warm_up_s,
    )
    return list(chain.from_iterable(found))


def dealt(considerations: Sequence[Consideration], groups: int | None) -> list[Group]:
    """What is asked together: neighbours, in at most so many groups of nearly one size; None: each alone."""
    count = len(considerations)
    calls = min(groups or count, count)
    return [considerations[count * n // calls : count * (n + 1) // calls] for n in range(calls)]


async def _answered(
    group: Group, rules: Mapping[str, Rule], ask_judge: AskJudge, ask: Ask
) -> list[CheckResult]:
    began = monotonic()
    try:
        reply = await ask_judge(ask)
    except Exception as error:  # noqa: BLE001  a judge that fails lets the stop happen, in sight
        why = f"the judge could not be asked: {type(error).__name__}: {error}"
        return [fallback(one, rules, why) for one in group]
    seconds, cost_usd = monotonic() - began, reply.cost_usd / len(group)
    return [replace(one, seconds=seconds, cost_usd=cost_usd) for one in _results(group, rules, reply)]


def _results(group: Group, rules: Mapping[str, Rule], reply: Reply) -> Iterator[CheckResult]:
    said = _said([one.id for one in group], reply)
    for one in group:
        judgement = said[one.id]
        if isinstance(judgement, Judgement):
            yield judged(one, judgement)
        elif reply.end is CallEnd.TIMED_OUT:
            yield not_checked(one, judgement)
        else:
            yield fallback(one, rules, judgement)


def _said(ids: Sequence[str], reply: Reply) -> Mapping[str, Judgement | str]:
    """The judgement on each id, or why there is none. Free text counts only where one question was asked."""
    alone = len(ids) == 1
    if reply.end is CallEnd.COMPLETED:
        return {ids[0]: read_judgement(reply.answer)} if alone else read_judgements(reply.answer, ids)
    in_words = judgement_in_text(reply.text) if alone and reply.end is CallEnd.UNUSABLE else None
    return dict.fromkeys(ids, in_words or f"the judge did not answer: {reply.end}: {reply.detail}")
