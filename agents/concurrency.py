"""Task groups that raise a single failure as itself, and plain functions beside the event loop."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from threading import Thread
from typing import TypeVar

import anyio
from anyio.abc import TaskGroup

from state.errors import SqError

_T = TypeVar("_T")
_READING_S = 60.0


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


async def aside(reading: Callable[[], _T], what: str, *, within_s: float = _READING_S) -> _T:
    """Return what a plain function finds in what an agent may have made slow to read. Ctrl-C works meanwhile.

    Raises:
        SqError: it takes too much. Its thread may go on, and the end of the process does not wait for it.
    """
    told: Future[_T] = Future()
    told.set_running_or_notify_cancel()

    def read() -> None:
        try:
            told.set_result(reading())
        except (RecursionError, MemoryError):
            told.set_exception(SqError(f"{what} cannot be read: make the files simpler"))
        except BaseException as error:  # noqa: BLE001  raised where it is waited for
            told.set_exception(error)

    Thread(target=read, name="sq reads aside", daemon=True).start()
    with anyio.move_on_after(within_s):
        return await asyncio.wrap_future(told)
    raise SqError(f"{what} cannot be read within {within_s:g} s: make the files smaller or simpler")
