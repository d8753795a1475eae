"""Checks side by side: none holds another, and what fails or is late is told and not waited for."""

from collections.abc import Callable

import anyio

from orchestrator.gates.power_steering.judging import gather


async def test_results_come_in_the_order_of_the_checks_whatever_takes_longest():
    async def look(number: int, _begun: Callable[[], None]) -> str:
        await anyio.sleep(0.05 * (3 - number))
        return f"found {number}"

    found = await gather([0, 1, 2], look, lambda number, why: why, warm_up_s=0.01)
    assert found == ["found 0", "found 1", "found 2"]


async def test_a_check_that_hangs_costs_its_own_deadline_alone_the_first_one_included():
    async def look(number: int, _begun: Callable[[], None]) -> str:
        if number == 0:
            await anyio.sleep_forever()
        return "found"

    with anyio.fail_after(5):
        found = await gather(
            [0, 1, 2], look, lambda number, why: f"{number}: {why}", each_s=0.3, warm_up_s=0.1
        )
    assert found == ["0: no answer within 0.3 s", "found", "found"]


async def test_the_others_follow_when_the_first_has_begun_to_answer():
    order: list[str] = []
    follower = anyio.Event()

    async def look(number: int, begun: Callable[[], None]) -> str:
        order.append(f"{number} asked")
        if number == 0:
            begun()
            await follower.wait()  # it ends only when another one has been asked
        else:
            follower.set()
        return "found"

    with anyio.fail_after(5):
        await gather([0, 1], look, lambda number, why: why, warm_up_s=60)
    assert order == ["0 asked", "1 asked"]


async def test_an_error_in_a_check_is_its_result_and_no_other_ones():
    async def look(number: int, _begun: Callable[[], None]) -> str:
        if number == 1:
            raise ValueError("broken")
        return "found"

    found = await gather([0, 1, 2], look, lambda number, why: why)
    assert found == ["found", "ValueError: broken", "found"]


async def test_the_time_for_all_ends_what_is_left():
    async def look(number: int, _begun: Callable[[], None]) -> str:
        await anyio.sleep_forever()
        return "never"

    with anyio.fail_after(5):
        found = await gather([0, 1], look, lambda number, why: why, all_s=0.2, warm_up_s=0.05)
    assert all("within" in why for why in found)


async def test_no_more_run_side_by_side_than_there_are_places():
    running, most = 0, 0

    async def look(number: int, begun: Callable[[], None]) -> str:
        nonlocal running, most
        begun()
        running += 1
        most = max(most, running)
        await anyio.sleep(0.01)
        running -= 1
        return "found"

    await gather(list(range(12)), look, lambda number, why: why, at_once=4)
    assert most == 4
