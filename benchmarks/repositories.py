"""Measures sq on foreign repositories: whether it finds and counts their tests.

    python -m benchmarks.repositories [--only NAME]

Each project of `benchmarks/skeletons` is written and examined. If its tools are on this machine, sq takes the
baseline like a run (scratch worktree, set-up, command, canary): it has to find the right tests, by name, and
the command has to notice the test that must fail.

The last line is JSON: `skeletons` is their number, `found_share` is of all, `counted_share` and
`canary_share` are of the runnable ones, and `own_seconds_max` is the time of a baseline without that of the
commands.
"""

import json
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import anyio
import click

from agents.gateway.script import Scenario
from agents.gateway.server import serve_scenario
from benchmarks.rehearsed import RUN, commit, own_home, run_of, toolchains
from benchmarks.skeletons import Skeleton, all_skeletons
from orchestrator.project.detection.detect import detect
from orchestrator.project.runners.suite import suite_of
from orchestrator.run.evidence.baseline import take_baseline
from orchestrator.run.places.set_up import remove_scratch_worktrees
from state.journal.store import Journal
from state.journal.view import RunView
from state.records.commands import BaselineCheck, TestState


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectResult:
    """The result on one project. `ran` is None if its tools are not on this machine."""

    skeleton: Skeleton
    found: bool
    ran: bool
    counted: bool = False
    canary: bool = False
    own_seconds: float = 0.0
    told: str = ""


@click.command()
@click.option("--only", metavar="NAME", help="One project alone.")
def main(only: str | None) -> None:
    """Examine each project."""
    with own_home(**toolchains()):
        names = [only] if only else list(all_skeletons())
        looked = [_look(name) for name in names]
        for one in looked:
            _print(one)
    runnable = [one for one in looked if one.ran]
    figures = {
        "skeletons": len(looked),
        "runnable": len(runnable),
        "found_share": _share([one.found for one in looked]),
        "counted_share": _share([one.counted for one in runnable]),
        "canary_share": _share([one.canary for one in runnable]),
        "own_seconds_max": round(max((one.own_seconds for one in runnable), default=0.0), 2),
    }
    print(json.dumps(figures))


def _look(name: str) -> ProjectResult:
    with tempfile.TemporaryDirectory(prefix="sq-") as temporary:
        folder = Path(temporary) / "project"
        folder.mkdir()
        skeleton = all_skeletons()[name](folder)
        commit(folder)
        commands = [one.command for one in detect(folder)]
        found = any(_runners(folder, one) == _runners(folder, skeleton.command) for one in commands)
        lacking = [tool for tool in skeleton.tools if shutil.which(tool) is None]
        if lacking or skeleton.packages or not skeleton.runs_here:
            why = f"not run: {', '.join(lacking or skeleton.packages or ['its tools are not to be had'])}"
            return ProjectResult(skeleton=skeleton, found=found, ran=False, told=why)
        view, own = anyio.run(_baseline, folder)
        return _judged(skeleton, found, view, own)


def _runners(folder: Path, command: str) -> frozenset[str]:
    """The test runners behind a command, since `python -m pytest` and `make test` may be the same."""
    return frozenset(row.name for row in suite_of(command, folder).runners)


def _judged(skeleton: Skeleton, found: bool, view: RunView, own: float) -> ProjectResult:
    expected = set(skeleton.tests) | set(skeleton.skipped)
    checks = list(view.baseline.checks.values())
    best: BaselineCheck | None = max(checks, key=lambda one: len(one.run.count.tests), default=None)
    names = set(best.run.count.tests) if best else set()
    passed = {name for name in names if best and best.run.count.tests[name] is TestState.PASSED}
    return ProjectResult(
        skeleton=skeleton,
        found=found,
        ran=True,
        counted=names == expected and passed == set(skeleton.tests),
        canary=bool(best and best.canary and best.canary.caught),
        own_seconds=own,
        told="; ".join([*(f"`{one.run.command}` {one.standing}" for one in checks), *view.baseline.notes]),
    )


async def _baseline(folder: Path) -> tuple[RunView, float]:
    """Take the baseline like a run. Returns it and its seconds without the commands."""
    run_folder = folder.parent / "state" / "runs" / "20260101-000000-bench"
    run_folder.mkdir(parents=True)
    nothing = Scenario(scenario=1, lanes={})
    async with serve_scenario(nothing, run_id=RUN, ledger=run_folder / "ledger") as gateway:
        with Journal(run_folder) as journal:
            worktrees = folder.parent / "worktrees"
            run = run_of(journal, run_folder, gateway, folder, worktrees, base=commit_of(folder))
            began = time.monotonic()
            await take_baseline(run)
            own = time.monotonic() - began - run.commands.seconds
            await remove_scratch_worktrees(run)
    return run.view, own


def commit_of(folder: Path) -> str:
    """The commit of a repository's main branch."""
    return (folder / ".git" / "refs" / "heads" / "main").read_text().strip()


def _print(one: ProjectResult) -> None:
    marks = [
        name
        for name, holds in (("found", one.found), ("counted", one.counted), ("canary", one.canary))
        if holds
    ]
    ran = f"{one.own_seconds:5.2f} s own" if one.ran else "not run    "
    print(f"{one.skeleton.name:22} {one.skeleton.language:11} {ran}  {', '.join(marks):24} {one.told[:150]}")


def _share(found: list[bool]) -> float:
    return round(sum(found) / len(found), 3) if found else 0.0


if __name__ == "__main__":
    main()
