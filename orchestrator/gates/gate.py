"""Verdicts gathered concurrently: each check has a deadline, all have one together, none holds another."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import anyio

from agents.concurrency import task_group

EACH_S = 25.0  # one check
ALL_S = 60.0  # all of them together
WARM_UP_S = 2.0  # how long the others wait for the first one to have written the cache

C = TypeVar("C")
R = TypeVar("R")


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
    """Every check's result, in the order of the checks; one without an answer in time has `unanswered`'s.

    Args:
        checks: what is to be checked. The first one goes ahead and writes the cache.
        look: checks one; calls its second argument when the others may follow.
        unanswered: the result of a check that failed or was late, given why; called for no other.
        each_s: seconds for one check, from its own beginning.
        all_s: seconds for all.
        warm_up_s: seconds that the others wait for the first at most; 0: they do not.
        at_once: so many run side by side.
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
            except Exception as error:  # noqa: BLE001  an error in a check never traps anybody
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
