"""Task groups: one failure comes out as itself, and the first of several tasks ends the others."""

import anyio
import pytest

from agents.concurrency import first_of, task_group
from state.errors import AgentError


async def fail(error):
    raise error


async def test_a_single_failure_of_a_task_comes_out_as_itself():
    async def group():
        async with task_group() as tasks:
            tasks.start_soon(fail, AgentError("no answer"))
            await anyio.sleep_forever()

    with pytest.raises(AgentError, match="no answer"):
        await group()


async def test_a_failure_of_the_body_comes_out_as_itself_and_ends_the_tasks():
    ended = []

    async def wait():
        try:
            await anyio.sleep_forever()
        finally:
            ended.append(True)

    async def group():
        async with task_group() as tasks:
            tasks.start_soon(wait)
            await anyio.lowlevel.checkpoint()
            raise AgentError("no answer")

    with pytest.raises(AgentError, match="no answer"):
        await group()
    assert ended == [True]


async def test_several_failures_come_out_together():
    async def both(group):
        group.start_soon(fail, AgentError("one"))
        group.start_soon(fail, ValueError("two"))

    with pytest.raises(ExceptionGroup) as caught:
        async with task_group() as tasks:
            await both(tasks)
    assert {type(error) for error in caught.value.exceptions} == {AgentError, ValueError}


async def test_groups_in_groups_still_give_the_one_failure():
    with pytest.raises(AgentError):
        async with task_group(), task_group() as inner:
            inner.start_soon(fail, AgentError("no answer"))


async def test_cancellation_from_outside_is_not_swallowed():
    with anyio.CancelScope() as scope:
        async with task_group() as tasks:
            tasks.start_soon(anyio.sleep_forever)
            scope.cancel()
        pytest.fail("went on after it was cancelled")
    assert scope.cancelled_caught


async def test_the_first_to_return_ends_the_others():
    ended = []

    async def forever():
        try:
            await anyio.sleep_forever()
        finally:
            ended.append(True)

    with anyio.fail_after(5):
        await first_of(forever, anyio.lowlevel.checkpoint, forever)
    assert ended == [True, True]


async def test_one_that_fails_ends_the_others_and_comes_out_as_itself():
    with anyio.fail_after(5), pytest.raises(AgentError, match="no answer"):
        await first_of(anyio.sleep_forever, lambda: fail(AgentError("no answer")))
