"""Measures sq on foreign repositories: whether it finds and counts their tests.

    python -m benchmarks.repositories [--only NAME]

Each project of `skeleton_files` is written and examined. If its tools are on this machine, sq takes the
baseline like a run (scratch worktree, set-up, command, canary): it has to find the right tests, by name, and
the command has to notice the test that must fail.

The last line is JSON: `skeletons` is their number, `found_share` is of all, `counted_share` and
`canary_share` are of the runnable ones, and `own_seconds_max` is the time of a baseline without that of the
commands.
"""

import re
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import anyio
import click
import msgspec
import yaml

from agents.gateway.script import Scenario
from agents.gateway.server import serve_scenario
from benchmarks.figures import print_figures
from benchmarks.rehearsed import RUN, commit, own_home, run_of, toolchains
from orchestrator.project.detection import detect
from orchestrator.project.runners.suite import suite_of
from orchestrator.run.evidence.baseline import take_baseline
from state.journal.store import Journal
from state.journal.view import RunView
from state.records.commands import BaselineCheck, TestState

_ARCHIVES = Path(__file__).parent / "skeleton_files"
_FILE = re.compile(r"^-- (\S+) --\n", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Skeleton:
    """One project. Detection has to find `command` and may find `others`.

    `tools` are the programs it needs, `packages` those of npm that have to be in `node_modules`. `stand_in`
    does the same as `command` with fewer tools. `tests` and `skipped` are the names of the tests as sq counts
    them. `registered`: a new test file would have to be listed in the build's own files. `runs_here`: Debian
    and npm have the tools.
    """

    name: str
    language: str
    command: str
    tools: tuple[str, ...]
    tests: tuple[str, ...]
    skipped: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    stand_in: str = ""
    registered: bool = False
    runs_here: bool = True
    files: dict[str, str] = field(default_factory=dict)

    @property
    def runnable(self) -> str:
        """The command to run it by on a machine of ours."""
        return self.stand_in or self.command


def all_skeletons() -> dict[str, Callable[[Path], Skeleton]]:
    """Functions that write a project's files into a folder, by its name."""
    return {path.stem: partial(_write, path) for path in sorted(_ARCHIVES.glob("*.txtar"))}


def skeleton(name: str) -> Skeleton:
    """Read a project without writing its files."""
    return _read(_ARCHIVES / f"{name}.txtar")


def _write(archive: Path, folder: Path) -> Skeleton:
    known = _read(archive)
    for name, text in known.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        if text.startswith("#!"):
            path.chmod(0o755)
    return known


def _read(archive: Path) -> Skeleton:
    head, *parts = _FILE.split(archive.read_text("utf-8"))
    files = dict(zip(parts[::2], parts[1::2], strict=True))
    return msgspec.convert({**yaml.safe_load(head), "name": archive.stem, "files": files}, Skeleton)


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
    print_figures(figures)


def _look(name: str) -> ProjectResult:
    with tempfile.TemporaryDirectory(prefix="sq-") as temporary:
        folder = Path(temporary) / "project"
        folder.mkdir()
        skeleton = all_skeletons()[name](folder)
        base = commit(folder)
        commands = [one.command for one in detect(folder)]
        found = any(_runners(folder, one) == _runners(folder, skeleton.command) for one in commands)
        lacking = [tool for tool in skeleton.tools if shutil.which(tool) is None]
        if lacking or skeleton.packages or not skeleton.runs_here:
            why = f"not run: {', '.join(lacking or skeleton.packages or ['its tools are not to be had'])}"
            return ProjectResult(skeleton=skeleton, found=found, ran=False, told=why)
        view, own = anyio.run(_baseline, folder, base)
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
        told="; ".join([*(f"`{one.run.command}` {one.outcome}" for one in checks), *view.baseline.notes]),
    )


async def _baseline(folder: Path, base: str) -> tuple[RunView, float]:
    """Take the baseline like a run. Returns it and its seconds without the commands."""
    run_folder = folder.parent / "state" / "runs" / "20260101-000000-bench"
    run_folder.mkdir(parents=True)
    nothing = Scenario(scenario=1, callers={})
    async with serve_scenario(nothing, run_id=RUN, ledger=run_folder / "ledger") as gateway:
        with Journal(run_folder) as journal:
            worktrees = folder.parent / "worktrees"
            run = run_of(journal, run_folder, gateway, folder, worktrees, base=base)
            began = time.monotonic()
            await take_baseline(run)
            own = time.monotonic() - began - run.commands.seconds
    return run.view, own


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
