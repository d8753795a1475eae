"""A verification command, run in a folder and counted: which tests it ran, and how each of them ended."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from orchestrator.project.runners.ability import broke_off, failing_part, missing_program, nothing_yet
from orchestrator.project.runners.counting import count
from orchestrator.project.runners.listings import plain
from orchestrator.project.runners.reporting import Prepared, prepare
from orchestrator.project.runners.selection import only_these
from orchestrator.project.runners.suite import Suite, suite_of
from orchestrator.run.ports import Commands, Ran, ScratchWorktree
from state.records.commands import CommandRun


async def run_counted(commands: Commands, scratch: ScratchWorktree, command: str) -> CommandRun:
    """Run a command as the user would, but reporting its tests as far as that does not change its result."""
    suite = suite_of(command, scratch.folder)
    with TemporaryDirectory(prefix="sq-") as reports:
        prepared = prepare(suite, Path(reports), commands.environ)
        return await _run(commands, scratch, suite, prepared, Path(reports))


async def run_only(
    commands: Commands,
    scratch: ScratchWorktree,
    suites: Sequence[Suite],
    files: Sequence[str],
    names: Sequence[str] = (),
) -> CommandRun | None:
    """Run only these test files, by the first of the suites that can.

    Returns:
        The result, or None if none of the suites accepts files.
    """
    with TemporaryDirectory(prefix="sq-") as reports:
        for suite in suites:
            if command := only_these(suite, files, names):
                prepared = prepare(suite_of(command, suite.folder), Path(reports), commands.environ)
                return await _run(commands, scratch, suite, prepared, Path(reports))
    return None


def moved(suite: Suite, folder: Path) -> Suite:
    """Return a suite of another tree for a folder that holds this one."""
    runs = tuple(replace(one, folder=folder / one.folder.relative_to(suite.folder)) for one in suite.runs)
    return replace(suite, folder=folder, runs=runs)


async def _run(
    commands: Commands, scratch: ScratchWorktree, suite: Suite, prepared: Prepared, reports: Path
) -> CommandRun:
    environment = {**scratch.environment, **prepared.environment}
    ran = await commands.whole(
        prepared.command,
        scratch.folder,
        environment=environment,
        told_as=suite.command,
        writable=[reports],
    )
    counted = count(suite, ran.output, ran.exit_code, reports)
    failed = ran.exit_code != 0 and not ran.run.timed_out
    missing = missing_program(suite, ran.output, ran.exit_code) if failed else ""
    broken = broke_off(suite, ran.output, ran.exit_code, counted) if failed and not missing else ""
    return replace(
        ran.run,
        count=replace(counted, says_none=False) if broken else counted,
        missing=missing,
        broken=broken,
        failing_part=_failing_part(suite, ran),
        nothing_yet="" if broken else nothing_yet(suite, ran.output, ran.exit_code, counted),
    )


def _failing_part(suite: Suite, ran: Ran) -> str:
    """Return the failing part of an output that is too long to be kept whole, or ""."""
    kept = len(ran.run.output_tail)
    if ran.exit_code == 0 or len(ran.output) <= kept:
        return ""
    return failing_part(suite, plain(ran.output), kept)
