"""Task groups that raise a single failure as itself, so that callers catch errors by their class."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio
from anyio.abc import TaskGroup


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
