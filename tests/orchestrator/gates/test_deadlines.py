"""The deadlines of power steering as they are set, on a clock that skips what would be waited for."""

import anyio
import pytest
from skipping_loop import SkippingLoop

from agents.ask.port import Reply
from agents.caller import Caller
from orchestrator.gates.power_steering.considerations import Consideration
from orchestrator.gates.power_steering.judging import ALL_S, EACH_S, SessionLook, gather, judge_all
from orchestrator.gates.stop_gate.settings_text import absolute_command, entry_of
from state.records.calls import CallEnd
from state.roles import Role
from state.settings.presets import models
from state.verdicts import Source

SATISFIED = {"verdict": "satisfied", "reason": "It was seen.", "quote": ""}
CALLER = Caller(role=Role.JUDGE, task="session", attempt=1)


def on_a_skipping_clock(main):
    """What `main` gives back."""
    return anyio.run(main, backend_options={"loop_factory": SkippingLoop})


def judged_after(seconds):
    """Who answered a check whose judge takes so long, and what the clock shows then."""

    async def main():
        async def judge(ask):
            ask.on_begun()
            await anyio.sleep(seconds)
            return Reply(end=CallEnd.COMPLETED, answer=SATISFIED)

        look = SessionLook(session="the session", model=models()["haiku"], caller=CALLER, ask=judge)
        (result,) = await judge_all([Consideration(id="seen", question="Was it seen?")], look)
        return result.source, anyio.current_time()

    return on_a_skipping_clock(main)


def test_an_answer_after_24_seconds_counts_and_one_after_26_is_not_waited_for():
    assert judged_after(24) == (Source.JUDGE, 24)
    source, clock = judged_after(26)
    assert source is Source.NOT_CHECKED
    assert clock < 26


@pytest.mark.parametrize("together", [1, 4])
def test_one_call_that_hangs_leaves_no_other_question_unmade(together):
    """The first call and every later one with its first question never end."""

    async def main():
        asked = [Consideration(id=f"q-{number}", question=f"Was {number} seen?") for number in range(10, 33)]

        async def judge(ask):
            if asked[0].question in ask.prompt:
                await anyio.sleep_forever()
            ask.on_begun()
            await anyio.sleep(1)
            ids = [one.id for one in asked if one.question in ask.prompt]
            many = {"judgements": [{"id": id_, **SATISFIED} for id_ in ids]}
            return Reply(end=CallEnd.COMPLETED, answer=SATISFIED if len(ids) == 1 else many)

        look = SessionLook(
            session="the session", model=models()["haiku"], caller=CALLER, ask=judge, together=together
        )
        results = await judge_all(asked, look)
        return [
            one.consideration_id for one in results if one.source is not Source.JUDGE
        ], anyio.current_time()

    unmade, clock = on_a_skipping_clock(main)
    assert unmade == ["q-10"]
    assert clock <= (EACH_S if together == 1 else 2 * EACH_S) < ALL_S


def test_the_time_for_all_ends_checks_that_had_to_queue():
    async def main():
        async def look(number, _begun):
            await anyio.sleep(24)
            return "found"

        found = await gather(range(9), look, lambda number, why: "late", at_once=1)
        return found, anyio.current_time()

    found, clock = on_a_skipping_clock(main)
    assert found == ["found"] * 2 + ["late"] * 7
    assert clock < 3 * 24


def test_where_no_check_ends_the_answer_comes_before_claude_code_ends_the_hook():
    async def main():
        async def look(number, _begun):
            await anyio.sleep_forever()

        await gather(range(200), look, lambda number, why: why)
        return anyio.current_time()

    entry = entry_of(absolute_command(["/bin/sq"], power_steering=True))
    assert on_a_skipping_clock(main) < entry["timeout"]
