"""Task groups that raise a single failure as itself, and plain functions beside the event loop."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Thread
from typing import TypeVar

import anyio
import structlog
from anyio.abc import TaskGroup

from state.errors import SqError

_T = TypeVar("_T")
_READING_S = 60.0
_TIMES_WALL = 10  # what waits for something is given up at last
_LOOK_S = 0.5
log = structlog.get_logger(__name__)


@asynccontextmanager
async def task_group() -> AsyncIterator[TaskGroup]:
    """An anyio task group. One error inside is raised as it is, several as an exception group."""
    try:
        async with anyio.create_task_group() as group:
            yield group
    except BaseExceptionGroup as errors:
        if len(errors.exceptions) == 1:
            raise errors.exceptions[0] from None
        raise


async def first_of(*tasks: Callable[[], Awaitable[None]]) -> None:
    """Run these side by side until one of them returns, then cancel the others."""
    async with task_group() as group:

        async def run(task: Callable[[], Awaitable[None]]) -> None:
            await task()
            group.cancel_scope.cancel()

        for task in tasks:
            group.start_soon(run, task)


class UnreadError(SqError):
    """Files that an agent may have made so take too much to read."""


async def aside(reading: Callable[[], _T], what: str, *, within_s: float = _READING_S) -> _T:
    """Return what a plain function finds in what an agent may have made slow to read. Ctrl-C works meanwhile.

    `within_s` are seconds of processor time, because a reading waits for others on a loaded machine.

    Raises:
        UnreadError: it takes too much. Its thread may go on, and the end of the process does not wait for it.
    """
    told: Future[_T] = Future()
    told.set_running_or_notify_cancel()

    def read() -> None:
        try:
            told.set_result(reading())
        except (RecursionError, MemoryError):
            told.set_exception(UnreadError(f"{what} cannot be read: make the files simpler"))
        except BaseException as error:  # noqa: BLE001  raised where it is waited for
            told.set_exception(error)

    thread, begun = Thread(target=read, name="sq reads aside", daemon=True), time.monotonic()
    thread.start()
    waiting = asyncio.wrap_future(told)
    while _processor_s(thread) < within_s and time.monotonic() - begun < _TIMES_WALL * within_s:
        await asyncio.wait([waiting], timeout=min(_LOOK_S, within_s))
        if waiting.done():
            return waiting.result()
    waiting.cancel()
    raise UnreadError(
        f"{what} cannot be read within {within_s:g} s of processor time: make the files smaller or simpler"
    )


async def aside_or(otherwise: _T, reading: Callable[[], _T], what: str) -> _T:
    """As `aside`, but return `otherwise` if the reading takes too much, which the log says."""
    try:
        return await aside(reading, what)
    except UnreadError as error:
        log.warning("reading.left_out", what=what, why=str(error))
        return otherwise


def _processor_s(thread: Thread) -> float:
    """Return the processor time of a thread in seconds, 0 where it is unknown."""
    try:
        return int(Path(f"/proc/self/task/{thread.native_id}/schedstat").read_text("ascii").split()[0]) / 1e9
    except (OSError, ValueError):
        return 0.0
