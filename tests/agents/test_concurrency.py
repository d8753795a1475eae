"""Task groups: one failure comes out as itself. Plain functions aside: nothing waits for them without end."""

import threading
import time

import anyio
import pytest

from agents.concurrency import UnreadError, aside, aside_or, first_of, task_group
from state.errors import AgentError, SqError


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


async def test_the_event_loop_goes_on_beside_a_reading_that_takes_too_long_and_then_it_is_an_error():
    over = threading.Event()
    try:
        with pytest.raises(SqError, match="the files cannot be read within"):
            await aside(over.wait, "the files", within_s=0.05)
        with anyio.move_on_after(0.05) as left:  # as Ctrl-C does
            await aside(over.wait, "the files")
        assert left.cancelled_caught
    finally:
        over.set()
    assert await aside(over.wait, "the files") is True


@pytest.mark.parametrize("error", [RecursionError(), MemoryError()])
async def test_a_reading_that_takes_too_much_is_an_error_of_the_files(error):
    def reading():
        raise error

    with pytest.raises(SqError, match="the files cannot be read"):
        await aside(reading, "the files")


async def test_a_reading_that_waits_for_a_loaded_machine_is_waited_for():
    assert await aside(lambda: time.sleep(0.4) or "read", "the files", within_s=0.1) == "read"


async def test_a_reading_is_ended_by_its_own_processor_time():
    def reading():
        while time.thread_time() < 1:
            pass

    with pytest.raises(UnreadError, match=r"the files cannot be read within 0\.2 s of processor time"):
        await aside(reading, "the files", within_s=0.2)


async def test_a_reading_that_takes_too_much_gives_what_its_caller_can_do_without():
    def reading():
        raise RecursionError

    assert await aside_or("all of them", reading, "the files") == "all of them"
    assert await aside_or("all of them", lambda: "one", "the files") == "one"
