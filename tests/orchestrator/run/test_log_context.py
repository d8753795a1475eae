"""Each log line says which run, task and attempt it is about, also where tasks go on side by side."""

import json
import logging

import anyio
import pytest
import structlog
from anyio import to_thread
from anyio.lowlevel import checkpoint

from orchestrator.run.event_log import log_about, log_attempt, log_to

log = structlog.get_logger("tests")


@pytest.fixture
def logged(tmp_path):
    """What was logged while the coroutine function ran, as `(event, run, task, attempt)`."""

    async def run(work):
        with log_to(tmp_path / "sq.log", run_id="r1", redact=str):
            await work()
        lines = [json.loads(line) for line in (tmp_path / "sq.log").read_text().splitlines()]
        return [(one["event"], one["run_id"], one.get("task_id"), one.get("attempt")) for one in lines]

    return run


async def test_tasks_side_by_side_do_not_mix_and_the_next_inherits_nothing(logged):
    async def work():
        async with anyio.create_task_group() as tasks:

            async def one(task_id, attempt, following=None):
                with log_about(task_id, attempt):
                    log.info("before")
                    await checkpoint()
                    log_attempt(attempt + 1)
                    await checkpoint()
                    log.info("after")
                if following:
                    tasks.start_soon(one, following, 0)

            tasks.start_soon(one, "a", 0, "c")
            tasks.start_soon(one, "b", 4)
        log.info("end")

    lines = await logged(work)
    assert sorted(lines[:2]) == [("before", "r1", "a", None), ("before", "r1", "b", 4)]
    assert sorted(lines[2:4]) == [("after", "r1", "a", 1), ("after", "r1", "b", 5)]
    assert lines[4:] == [("before", "r1", "c", None), ("after", "r1", "c", 1), ("end", "r1", None, None)]


async def test_what_a_task_starts_and_what_libraries_log_has_it_too(logged):
    async def work():
        with log_about("a", 2):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(to_thread.run_sync, lambda: log.info("thread"))
            logging.getLogger("library").warning("foreign")

    assert await logged(work) == [("thread", "r1", "a", 2), ("foreign", "r1", "a", 2)]


async def test_after_a_run_nothing_stays_bound(logged):
    async def work():
        log.info("one")

    await logged(work)
    assert structlog.contextvars.get_contextvars() == {}
