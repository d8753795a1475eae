"""What a command uses is measured on its whole tree, whatever else this machine does. Real processes."""

import os
import subprocess
import sys

import anyio
import pytest

from agents.process.containment import Containment, detect_containment
from agents.process.tree import CommandResult, run_command
from agents.process.usage import processors
from state.records.commands import CommandUse

# Uses this much processor time in a child of a child that has left its session, which then prints.
BUSY = "import os, sys, time; end = float(sys.argv[1])\nwhile time.process_time() < end: pass"
IN_A_GRANDCHILD = f"sh -c 'setsid {sys.executable} -c \"{BUSY}\" 1 & wait'; echo done"


@pytest.fixture(scope="session")
def namespaces_work() -> bool:
    return detect_containment({}) is Containment.NAMESPACES


@pytest.fixture(params=list(Containment))
def way(request: pytest.FixtureRequest, namespaces_work: bool) -> Containment:
    if request.param is Containment.NAMESPACES and not namespaces_work:
        pytest.skip("this system refuses to make a PID namespace")
    found: Containment = request.param
    return found


async def run(command: str, way: Containment, limit: float = 0.0, silence: float = 0.0) -> CommandResult:
    def beyond(used: CommandUse, _said: str) -> str:
        if silence and used.silent_s >= silence:
            return "it is silent"
        return "it used too much" if limit and (used.cpu_s or 0.0) >= limit else ""

    with anyio.fail_after(30):
        return await run_command(
            ["sh", "-c", command], cwd=os.curdir, env=dict(os.environ), containment=way, limit=beyond
        )


async def test_the_processor_time_of_all_descendants_counts(way: Containment) -> None:
    done = await run(IN_A_GRANDCHILD, way)
    assert (done.exit_code, done.output, done.error) == (0, "done\n", "")
    assert done.used.cpu_s is not None
    assert 0.95 <= done.used.cpu_s < 2.0  # counted in hundredths, process by process


async def test_a_command_of_a_moment_is_measured_too(way: Containment) -> None:
    done = await run(f'{sys.executable} -c "{BUSY}" 0.2', way)
    assert done.used.cpu_s is not None
    assert done.used.cpu_s >= 0.15  # counted in hundredths


async def test_a_command_that_waits_uses_none_and_is_silent_for_so_long(way: Containment) -> None:
    done = await run("echo begins; sleep 2", way)
    assert done.used.cpu_s is not None
    assert done.used.cpu_s < 0.5
    assert 0.5 <= done.used.silence_s <= 2.5


async def test_a_limit_of_processor_time_ends_the_tree_and_says_why(way: Containment) -> None:
    forever = f'{sys.executable} -c "{BUSY}" 1000'
    done = await run(f"{forever} & {forever}", way, limit=1.0)
    assert (done.timed_out, done.beyond, done.exit_code) == (True, "it used too much", None)
    assert done.used.cpu_s is not None
    assert done.used.cpu_s >= 1.0


async def test_a_process_that_hangs_is_ended_by_its_silence_and_one_that_computes_is_not(
    way: Containment,
) -> None:
    hangs = await run("sleep 60", way, silence=1.0)
    assert (hangs.timed_out, hangs.beyond) == (True, "it is silent")
    computes = await run(f'{sys.executable} -c "{BUSY}" 1.5', way, silence=1.0)
    assert (computes.exit_code, computes.timed_out) == (0, False)


async def test_beside_other_busy_processes_a_command_counts_all_processors(way: Containment) -> None:
    others = [
        subprocess.Popen([sys.executable, "-c", BUSY, "1000"])
        for _ in range(2 * len(os.sched_getaffinity(0)))
    ]
    try:
        done = await run(IN_A_GRANDCHILD, way)
    finally:
        for one in others:
            one.kill()
            one.wait()
    assert done.used.is_crowded
    assert done.used.processors == processors()
