"""Measures whether runs leave files, processes, tasks or memory behind in the process that works on them.

    python -m benchmarks.leaks

Whole rehearsed runs on the real CLI, one after the other in one event loop: plan, a Worker that asks the
Developer a question, two reviews. In a second pass every fifth run is cancelled while its question is open,
and in every seventh its Claude Code process is killed with -9 there. Both passes run in the same process.

After each tenth run of a pass, garbage is collected, and these are measured: open files, the processes below
this one and those that left the tree but have its mark, asyncio tasks except ours, resident memory. The last
line is JSON: the growth of each from the first measurement to the last, in the worse pass.
"""

import contextlib
import gc
import io
import os
import sys
import uuid
from asyncio import all_tasks
from collections import Counter
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

import anyio
import click
import psutil  # type: ignore[import-untyped]

from agents.sdks import import_sdks
from benchmarks.figures import print_figures
from benchmarks.rehearsed import NOTES, notes_with_a_question, own_home, request_for
from orchestrator.cli.runs.begin import begin
from orchestrator.cli.runs.compose import drive
from orchestrator.cli.runs.request import RunEnvironment
from orchestrator.run.machine import work_until_stopped
from state.journal.events import Event, QuestionsAsked, Stored
from state.journal.store import Journal
from state.outcome import Outcome

LOOKS = 5  # in a pass, and one before it
SETTLING_S = 0.1  # the loop may finish the end of a run
MARK = "LEAKS_BENCHMARK"  # not a name that sq keeps from Claude Code
SETTINGS: dict[str, object] = {
    "effort": "low", "verify": ("test -s notes.txt",), "budget": "none", "retries.first_wait_s": "0.1",
}  # fmt: skip


class Fate(StrEnum):
    """The fate of a run while its Worker waits for an answer."""

    NOTHING = "undisturbed"
    CANCELLED = "cancelled"
    KILLED = "killed"


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldResources:
    """The resources of this process."""

    fds: int
    children: int
    tasks: int
    rss_mb: float


@click.command()
@click.option("--evaluations", default=50, show_default=True, help="Runs of each pass.")
@click.option("--cancel-every", default=5, show_default=True, help="In the second pass.")
@click.option("--kill-every", default=7, show_default=True, help="In the second pass.")
@click.option("--only-disturbed", is_flag=True, help="The second pass alone.")
def main(evaluations: int, cancel_every: int, kill_every: int, only_disturbed: bool) -> None:
    """Run often and measure the remains."""
    import_sdks()
    quiet = [Fate.NOTHING] * evaluations
    disturbed = [_fate(number, cancel_every, kill_every) for number in range(1, evaluations + 1)]
    with own_home(**{MARK: uuid.uuid4().hex}) as folder:
        passes = anyio.run(_measure, folder, [disturbed] if only_disturbed else [quiet, disturbed])
    print_figures(_growth(passes))


def _fate(number: int, cancel_every: int, kill_every: int) -> Fate:
    if number % kill_every == 0:
        return Fate.KILLED
    return Fate.CANCELLED if number % cancel_every == 0 else Fate.NOTHING


async def _measure(folder: Path, passes: list[list[Fate]]) -> list[list[HeldResources]]:
    return [await _pass(folder / str(number), fates) for number, fates in enumerate(passes, start=1)]


async def _pass(folder: Path, fates: list[Fate]) -> list[HeldResources]:
    """The resources before the first run, and then at each look."""
    told = ", ".join(f"{count} {fate}" for fate, count in Counter(fates).items())
    print(f"{told}\n{'after':>6} {'files':>6} {'processes':>10} {'tasks':>6} {'RSS MB':>8}")
    looks = [await _look(0)]
    for number, fate in enumerate(fates, start=1):
        outcome = await _evaluate(folder / str(number), fate)
        if fate is Fate.NOTHING and outcome is not Outcome.COMPLETE:
            sys.exit(f"run {number} should be complete and is: {outcome}; nothing was measured")
        if number % max(1, len(fates) // LOOKS) == 0:
            looks.append(await _look(number))
    return looks


async def _evaluate(folder: Path, fate: Fate) -> Outcome | None:
    """Work on one run. Returns None if it was cancelled."""
    folder.mkdir(parents=True)
    request = request_for(folder, notes_with_a_question(), SETTINGS)
    disturbed = False
    outcome = None
    with anyio.CancelScope() as scope:

        class Disturbing(Journal):
            """Let the fate happen at the first question, before it can be answered."""

            def append(self, *events: Event) -> list[Stored]:
                nonlocal disturbed
                stored = super().append(*events)
                if not disturbed and any(isinstance(event, QuestionsAsked) for event in events):
                    disturbed = True
                    _disturb(fate, scope)
                return stored

        with contextlib.redirect_stdout(io.StringIO()):
            async with begin(request, NOTES, RunEnvironment(open_journal=Disturbing)) as begun:
                outcome = await drive(begun, work_until_stopped)
    if not disturbed:
        sys.exit(f"the Worker asked nothing in {request.folder}; nothing was measured")
    return outcome


def _disturb(fate: Fate, scope: anyio.CancelScope) -> None:
    if fate is Fate.CANCELLED:
        scope.cancel()
    elif fate is Fate.KILLED:
        for process in _processes():
            with contextlib.suppress(psutil.Error):
                if "".join(process.cmdline()[:1]).endswith("/claude"):
                    process.kill()


async def _look(number: int) -> HeldResources:
    await anyio.sleep(SETTLING_S)
    gc.collect()
    me = psutil.Process()
    held = HeldResources(
        fds=me.num_fds(),
        children=len(_processes()),
        tasks=len(all_tasks()) - 1,
        rss_mb=me.memory_info().rss / 2**20,
    )
    print(f"{number:>6} {held.fds:>6} {held.children:>10} {held.tasks:>6} {held.rss_mb:>8.1f}", flush=True)
    return held


def _processes() -> set[psutil.Process]:
    """All live processes that this process has started, by the mark that they inherit, or by the tree."""
    me = psutil.Process()
    found = {*me.children(recursive=True)}
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process != me and process.environ().get(MARK) == os.environ[MARK]:
                found.add(process)
    return found


def _growth(passes: list[list[HeldResources]]) -> dict[str, float]:
    """The growth from the first look after runs to the last, in the worst pass."""
    grown: dict[str, float] = {}
    for looks in passes:
        first, last = asdict(looks[1]), asdict(looks[-1])
        for name, value in last.items():
            grown[name] = max(grown.get(name, -float("inf")), value - first[name])
    return {
        "fds_delta": grown["fds"],
        "children_delta": grown["children"],
        "tasks_delta": grown["tasks"],
        "rss_growth_mb": round(grown["rss_mb"], 2),
    }


if __name__ == "__main__":
    main()
