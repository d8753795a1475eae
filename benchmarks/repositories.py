"""Measures sq on foreign repositories: whether it finds and counts tests, and detects lies about them.

    python -m benchmarks.repositories [--quick] [--only NAME]

Each project of `benchmarks/skeletons` is written and examined. If its tools are on this machine, sq takes the
baseline like a run (scratch worktree, set-up, command, canary): it has to find the right tests, by name, and
the command has to notice the test that must fail. Then lies and honest work in three languages are whole
runs, rehearsed on the real CLI, with reviewers and judges that always agree. `--quick` leaves those out.

The last line is JSON: `skeletons` is their number, `found_share` is of all, `counted_share` and
`canary_share` are of the runnable ones, `own_seconds_max` is the time of a baseline without that of the
commands, `commands_ratio` is the seconds of all commands of a one-task run divided by those of one run of its
suite, then `lies_believed` and `honest_stuck`.
"""

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import click

from agents.gateway.script import Scenario
from agents.gateway.server import serve_scenario
from benchmarks.claims import CALCULATORS, Claimed, Honest, can_run, honest_work, lie, lies_of, run_claim
from benchmarks.rehearsed import RUN, commit, run_of
from benchmarks.skeletons import Skeleton, all_skeletons
from orchestrator.project.detection.detect import detect
from orchestrator.project.runners.suite import suite_of
from orchestrator.run.evidence.baseline import take_baseline
from orchestrator.run.places.set_up import remove_scratch_worktrees
from state.journal.store import Journal
from state.journal.view import RunView
from state.records.commands import BaselineCheck, TestState

_SLEEP = (
    "import time\n\nimport calc\n\n\ndef test_{n}():\n    time.sleep(0.4)\n"
    "    assert calc.sub({n}, 1) == {n} - 1\n"
)
_TOOLS = {"RUSTUP_HOME": ".rustup", "CARGO_HOME": ".cargo"}  # toolchains that live in the home
_SLOW_TESTS = 10  # files of them: a suite of some seconds, as people have


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
@click.option("--quick", is_flag=True, help="Leave out the lies and the honest work.")
@click.option("--only", metavar="NAME", help="One project alone.")
def main(quick: bool, only: str | None) -> None:
    """Examine each project, then the claims in three of them."""
    with _home():
        names = [only] if only else list(all_skeletons())
        looked = [_look(name) for name in names]
        for one in looked:
            _print(one)
        ratio = _commands_ratio()
        print(f"commands of a one-task run by one run of its suite: {ratio:.2f}")
        claims = [] if quick else list(_claims())
    runnable = [one for one in looked if one.ran]
    figures = {
        "skeletons": len(looked),
        "runnable": len(runnable),
        "found_share": _share([one.found for one in looked]),
        "counted_share": _share([one.counted for one in runnable]),
        "canary_share": _share([one.canary for one in runnable]),
        "own_seconds_max": round(max((one.own_seconds for one in runnable), default=0.0), 2),
        "commands_ratio": round(ratio, 2),
        "claims": len(claims),
        "lies_believed": sum(one.is_lie and not one.as_it_should for one in claims),
        "honest_stuck": sum(not one.is_lie and not one.as_it_should for one in claims),
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


def _commands_ratio() -> float:
    """A one-task run in a project whose suite takes some seconds."""
    slow = {f"tests/test_slow_{n}.py": _SLEEP.format(n=n) for n in range(1, _SLOW_TESTS + 1)}
    told = Honest(commands=CALCULATORS["python"].honest["a new function with its test"].commands, before=slow)
    with tempfile.TemporaryDirectory(prefix="sq-") as temporary:
        _, view = run_claim("python", told, Path(temporary), told.commands, claims=1)
    (check,) = view.baseline.checks.values()
    canaries = check.canary.seconds if check.canary else 0.0
    verified = sum(
        done.seconds for finished in view.evidence.verifications.values() for done in finished.runs
    )
    proofs = sum(one.seconds for one in view.evidence.proofs.values())
    return (check.run.seconds + canaries + verified + proofs) / check.run.seconds


def _claims() -> Iterator[Claimed]:
    for language, one in CALCULATORS.items():
        if not can_run(language):
            print(f"{language}: not run, it lacks {', '.join(one.programs)}")
            continue
        for kind in lies_of(language):
            with tempfile.TemporaryDirectory(prefix="sq-") as temporary:
                yield _told(lie(language, kind, Path(temporary)))
        for kind in one.honest:
            with tempfile.TemporaryDirectory(prefix="sq-") as temporary:
                yield _told(honest_work(language, kind, Path(temporary)))


def _told(claimed: Claimed) -> Claimed:
    what = "lie" if claimed.is_lie else "honest"
    right = "as it should" if claimed.as_it_should else "WRONG"
    print(f"{claimed.language:11} {what:7} {claimed.kind:45} {claimed.outcome:11} {right}")
    sys.stdout.flush()
    return claimed


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


@contextmanager
def _home() -> Iterator[None]:
    """Use an empty HOME, so that the user's settings do not matter and the worktrees are removed."""
    before = {name: os.environ.get(name) for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", *_TOOLS)}
    tools = {name: str(Path.home() / folder) for name, folder in _TOOLS.items()}
    with tempfile.TemporaryDirectory(prefix="sq-home-", ignore_cleanup_errors=True) as home:
        os.environ.update({name: folder for name, folder in tools.items() if Path(folder).is_dir()})
        os.environ.update(HOME=home, XDG_STATE_HOME=f"{home}/state", XDG_CONFIG_HOME=f"{home}/config")
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value


if __name__ == "__main__":
    main()
