"""The project's own commands, run by sq itself on exactly one tree.

An agent's claim that tests pass does not count, only these results. With worktrees the commands run in a
scratch worktree, never where an agent has worked. Otherwise they run in the checkout. A result counts the
tests of a command, and holds for one tree and one fingerprint of the environment.
"""

import hashlib
import os
import shutil
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Protocol

import structlog
from anyio import to_thread

from agents.concurrency import aside
from orchestrator.git.trees import files_in
from orchestrator.project.checks import check_table, complaints_in, is_check, machine_options
from orchestrator.project.readiness.steps import copied
from orchestrator.project.runners.ability import broke_off, failing_part, missing_program, nothing_yet
from orchestrator.project.runners.counting import count
from orchestrator.project.runners.listings import plain
from orchestrator.project.runners.reports import Prepared, prepare
from orchestrator.project.runners.selection import only_these
from orchestrator.project.runners.suite import Suite, suite_of
from orchestrator.project.shell import simple_commands
from orchestrator.run.evidence.changes import files_of
from orchestrator.run.evidence.summary import commands_for
from orchestrator.run.evidence.verdict import suspects
from orchestrator.run.ports import Commands, Ran, ScratchWorktree
from orchestrator.run.purpose import asks, run_for
from orchestrator.run.record import Run
from state.errors import SqError
from state.journal.events import VerificationFinished, VerificationStarted
from state.paths import scratch_folder
from state.records.commands import UNCOUNTED, CommandRun, TestCount, TestState
from state.safe_paths import files_inside, read_inside

log = structlog.get_logger(__name__)
_COUNTING_S = 60.0
_COMPLAINTS_KEPT = 4_000  # characters of them, in place of an output that only machines read
_RUN_AGAIN = 20  # tests: if more fail at once, it is not chance
_TRIES = 6  # more runs of a test at the base, before it is called steady
_TRIES_OF_ALL = 3
_LARGEST_COPY = 500_000_000  # bytes
_SHELL_WORDS = frozenset({"cd", "true", "false", "test", "[", "echo", "export", "set", ":"})


class _Subject(Protocol):
    @property
    def command(self) -> str: ...
    @property
    def suites(self) -> list[Suite]: ...


async def verify(run: Run, *, task_id: str, folder: Path, tree: str) -> VerificationFinished:
    """As `Verify`."""
    run_for("verification", task_id)
    async with place_for(run, folder, tree) as scratch:
        commands = commands_for(run, scratch.folder, tree)
        environment = fingerprint_of(run.environ, scratch.environment, commands)
        known = _known(run, tree, environment)
        if known and tuple(done.command for done in known.runs) == commands:
            return known
        run.record(VerificationStarted(task_id=task_id, tree=tree, commands=commands))
        runs = []
        for nth, command in enumerate(commands, 1):
            run_for("verification", task_id, nth=nth, of=len(commands))
            runs.append(await run_counted(run.commands, scratch, command))
        asks("failing tests once more")
        flaky = [name for done in runs for name in await _flaky(run, scratch, done)]
    finished = VerificationFinished(
        task_id=task_id, tree=tree, runs=tuple(runs), environment=environment, flaky=tuple(flaky)
    )
    run.record(finished)
    return finished


@asynccontextmanager
async def place_for(run: Run, folder: Path, tree: str) -> AsyncIterator[ScratchWorktree]:
    """Yield the place for commands on a tree: a scratch, or without worktrees the checkout `folder`."""
    if not run.settings.worktrees:
        yield ScratchWorktree(folder=folder, tree=tree, environment={})
        return
    async with run.evidence.scratch_worktree(run, tree) as scratch:
        yield scratch


def _known(run: Run, tree: str, environment: str) -> VerificationFinished | None:
    """Return this process's record of a tree in this environment, if every command answered."""
    known = run.view.evidence.verifications.get(tree)
    if known is None or run.view.evidence.verified_at.get(tree, 0) < run.view.process.resumed_seq:
        return None
    answered = all(done.answered for done in known.runs)
    return known if answered and known.environment == environment else None


async def _flaky(run: Run, scratch: ScratchWorktree, done: CommandRun) -> list[str]:
    """Return the tests that passed at the base and fail now, but that change their mind at the base too.

    A test that also fails when it is run again at the base is a fact about this machine and no failure.
    """
    check = run.view.baseline.checks.get(done.command)
    names = suspects(check, done)
    in_scratch = run.settings.worktrees or bool(check and check.canary and check.canary.caught)
    if not names or len(names) > _RUN_AGAIN or not (run.view.baseline.tree and in_scratch):
        return []
    suite = suite_of(done.command, scratch.folder)
    files = files_of(names, suite.test_files(await files_in(run.repository, scratch.tree)))
    again = await run_only(run.commands, scratch, [suite], files, names) if files else None
    again = again or await run_counted(run.commands, scratch, done.command)
    unsteady = [name for name in names if again.count.tests.get(name) is TestState.PASSED]
    steady = [name for name in names if name not in unsteady]
    found = await flaky_at_the_base(run, done.command, unsteady)
    return sorted({*found, *await flaky_at_the_base(run, done.command, steady, tries=1)})


async def flaky_at_the_base(run: Run, command: str, names: Sequence[str], *, tries: int = _TRIES) -> set[str]:
    """Return those of the tests, which passed at the base, that fail there in one of some more runs.

    Whether a test is flaky is a fact about the base: the work may have made it unsteady.
    """
    if not names:
        return set()
    found: set[str] = set()
    async with run.evidence.scratch_worktree(run, run.view.baseline.tree) as scratch:
        suite = suite_of(command, scratch.folder)
        files = files_of(names, suite.test_files(await files_in(run.repository, scratch.tree)))
        for number in range(tries):
            left = [name for name in names if name not in found]
            if not left or (number and not files):  # a whole suite is run again once
                break
            done = await run_only(run.commands, scratch, [suite], files, left) if files else None
            done = done or await run_counted(run.commands, scratch, command)
            found |= {name for name in left if done.count.tests.get(name) is TestState.FAILED}
    return found


async def is_unsteady_at_the_base(run: Run, command: str) -> bool:
    """Whether a command has another result at the base in one of some more runs than in the baseline."""
    check = run.view.baseline.checks.get(command)
    if check is None or not run.view.baseline.tree:
        return False
    async with run.evidence.scratch_worktree(run, run.view.baseline.tree) as scratch:
        for _ in range(_TRIES_OF_ALL):
            done = await run_counted(run.commands, scratch, command)
            if (done.exit_code, done.count) != (check.run.exit_code, check.run.count):
                return True
    return False


def fingerprint_of(environ: Mapping[str, str], ready: Mapping[str, str], commands: Iterable[str]) -> str:
    """Return a fingerprint of PATH, of the programs that commands name, and of a set-up's variables.

    Args:
        environ: the environment of sq.
        ready: the variables that a set-up adds. Only their names count.
        commands: the verification commands.
    """
    path = environ.get("PATH", os.defpath)
    facts = [f"PATH={path}", *sorted(name for name in ready)]
    names = {simple.name for command in commands for simple in simple_commands(command)} - _SHELL_WORDS
    facts += [f"{name}={_version(name, path)}" for name in sorted({*names, "python3", "node"})]
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:16]


def _version(name: str, path: str) -> str:
    """Return a mark of a program's version without running it: its path, its size and its time."""
    found = shutil.which(name, path=path)
    if found is None:
        return "none"
    real = Path(found).resolve()
    try:
        facts = real.stat()
    except OSError:
        return str(real)
    return f"{real} {facts.st_size} {facts.st_mtime_ns}"


async def run_counted(commands: Commands, scratch: ScratchWorktree, command: str) -> CommandRun:
    """Run a command as the user would, but reporting its tests as far as that does not change its result."""
    suite = suite_of(command, scratch.folder)
    async with scratch_folder() as reports:
        prepared = prepare(suite, reports, commands.environ)
        return await _run(commands, scratch, suite, prepared, reports)


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
    async with scratch_folder() as reports:
        for suite in suites:
            if command := only_these(suite, files, names):
                prepared = prepare(suite_of(command, suite.folder), reports, commands.environ)
                return await _run(commands, scratch, suite, prepared, reports)
    return None


async def run_on(run: Run, subject: _Subject, tree: str, files: Sequence[str]) -> CommandRun:
    """Run the test files on a tree, or all tests if none are named or the runner takes no files."""
    async with run.evidence.scratch_worktree(run, tree) as scratch:
        there = [file for file in files if (scratch.folder / file).is_file()]
        elsewhere = [moved(one, scratch.folder) for one in subject.suites]
        suites = [suite_of(subject.command, scratch.folder), *elsewhere]
        done = await run_only(run.commands, scratch, suites, there) if there else None
        return done or await run_counted(run.commands, scratch, subject.command)


async def run_plainly(
    commands: Commands, scratch: ScratchWorktree, command: str, *, name: str, tests: Sequence[str] = ()
) -> CommandRun:
    """Run a command as a person would: on a copy called `name` in an ordinary place, with nothing of sq's.

    It gets no arguments or variables beside those of its set-up, and in a sandbox a home with the usual
    files. A tree that is too large to be copied is used where it is. `tests` are the files of tests that the
    command must not change as it runs.
    """
    async with scratch_folder(prefix="tmp") as temporary:
        folder = temporary / name
        if not (
            await to_thread.run_sync(_size_of, scratch.folder) <= _LARGEST_COPY
            and await to_thread.run_sync(copied, scratch.folder, folder)
        ):
            folder = scratch.folder
        ran = await commands.whole(
            command,
            folder,
            environment=scratch.environment,
            readable=[scratch.folder] if scratch.environment else [],
            plainly=True,
        )
        suite = suite_of(command, folder)
        async with scratch_folder(prefix="tmp") as reports:
            counted = await _counted(suite, ran, reports)
        looking = partial(_rewritten, scratch.folder, folder, tests)
        return replace(ran.run, count=counted, rewritten=await aside(looking, "its files of tests"))


def _rewritten(before: Path, after: Path, files: Sequence[str]) -> tuple[str, ...]:
    """Return the files that are not the same in a copy any more."""
    if before == after:
        return ()
    return tuple(one for one in files if _content(before, one) != _content(after, one))


def _content(folder: Path, file: str) -> bytes | None:
    try:
        return read_inside(folder, file)
    except OSError:
        return None


def _size_of(folder: Path) -> int:
    return sum((folder / name).lstat().st_size for name in files_inside(folder))


async def _counted(suite: Suite, ran: Ran, reports: Path) -> TestCount:
    """Count the tests of a command outside the event loop. Its reports may be anything."""
    counting = partial(count, suite, ran.output, ran.exit_code, reports)
    try:
        return await aside(counting, "its output and reports", within_s=_COUNTING_S)
    except SqError as error:
        log.warning("tests.not_counted", command=suite.command, why=str(error))
        return UNCOUNTED


def moved(suite: Suite, folder: Path) -> Suite:
    """Return a suite of another tree for a folder that holds this one."""
    runs = tuple(replace(one, folder=folder / one.folder.relative_to(suite.folder)) for one in suite.runs)
    return replace(suite, folder=folder, runs=runs)


async def _run(
    commands: Commands, scratch: ScratchWorktree, suite: Suite, prepared: Prepared, reports: Path
) -> CommandRun:
    environment = {**scratch.environment, **prepared.environment}
    checks = is_check(suite)
    machine = machine_options(suite) if checks else ""
    ran = await commands.whole(
        f"{prepared.command}{machine}",
        scratch.folder,
        environment=environment,
        told_as=suite.command,
        writable=[reports],
    )
    counted = await _counted(suite, ran, reports)
    failed = ran.exit_code != 0 and not ran.run.timed_out
    said = plain(ran.output)  # a project may have its runner print colours everywhere
    missing = missing_program(suite, said, ran.exit_code) if failed else ""
    broken = broke_off(suite, said, ran.exit_code, counted) if failed and not missing else ""
    done = _with_complaints(suite, ran, readable=not machine) if checks else ran.run
    return replace(
        done,
        count=replace(counted, says_none=False) if broken else counted,
        missing=missing,
        broken=broken,
        failing_part=done.failing_part or _failing_part(suite, ran),
        nothing_yet="" if broken else nothing_yet(suite, said, ran.exit_code, counted),
    )


def _with_complaints(suite: Suite, ran: Ran, *, readable: bool) -> CommandRun:
    """Return the result of a check with its complaints, which stand for an output that only machines read."""
    lists = any(run.simple.name in check_table().listing for run in suite.runs)
    found = complaints_in(ran.output, suite.folder, [run.folder for run in suite.runs], lists=lists)
    if readable or not found:
        return replace(ran.run, complaints=found)
    told = "\n".join(one.words for one in found)
    return replace(
        ran.run, complaints=found, output_tail=told[:_COMPLAINTS_KEPT], failing_part=told[:_COMPLAINTS_KEPT]
    )


def _failing_part(suite: Suite, ran: Ran) -> str:
    """Return the failing part of an output that is too long to be kept whole, or ""."""
    kept = len(ran.run.output_tail)
    if ran.exit_code == 0 or len(ran.output) <= kept:
        return ""
    return failing_part(suite, plain(ran.output), kept)
