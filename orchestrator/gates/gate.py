"""Run checks concurrently: each has a deadline, all share one, and none waits for a slow one."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import anyio

from agents.concurrency import task_group

EACH_S = 25.0  # one check
ALL_S = 60.0  # all of them together
WARM_UP_S = 2.0  # how long the others wait until the first one has written the cache

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
