"""The project's own commands, run by sq itself on exactly one tree.

An agent's claim that tests pass does not count, only these results. With worktrees the commands run in a
scratch worktree (`evidence.scratch_worktrees`), never where an agent has worked. Otherwise they run in the
checkout. A result holds for one tree and one fingerprint of the environment.
"""

import hashlib
import os
import shutil
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from orchestrator.git.scratch import files_in
from orchestrator.project.runners.suite import suite_of
from orchestrator.project.shell import simple_commands
from orchestrator.run.evidence.changes import files_of
from orchestrator.run.evidence.counted import run_counted, run_only
from orchestrator.run.evidence.selected_commands import commands_for
from orchestrator.run.evidence.verdict import suspects
from orchestrator.run.ports import ScratchWorktree
from orchestrator.run.record import Run
from state.journal.events import VerificationFinished, VerificationStarted
from state.records.commands import CommandRun, TestState

_RUN_AGAIN = 20  # tests: if more fail at once, it is not chance
_SHELL_WORDS = frozenset({"cd", "true", "false", "test", "[", "echo", "export", "set", ":"})


async def verify(run: Run, *, task_id: str, folder: Path, tree: str) -> VerificationFinished:
    """Return the result for this tree: this process's earlier one in the same environment, or a new one.

    Args:
        run: the run.
        task_id: the task of this tree, or "" for the merged whole.
        folder: the folder in which commands run without worktrees: the checkout.
        tree: the tree to verify.
    """
    async with place_for(run, folder, tree) as scratch:
        commands = commands_for(run, scratch.folder)
        environment = fingerprint_of(run.environ, scratch.environment, commands)
        known = _known(run, tree, environment)
        if known and tuple(done.command for done in known.runs) == commands:
            return known
        run.record(VerificationStarted(task_id=task_id, tree=tree, commands=commands))
        runs = [await run_counted(run.commands, scratch, command) for command in commands]
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
    async with run.scratch_worktree(tree) as scratch:
        yield scratch


def _known(run: Run, tree: str, environment: str) -> VerificationFinished | None:
    """Return this process's record of a tree in this environment, if every command answered."""
    known = run.view.evidence.verifications.get(tree)
    if known is None or run.view.evidence.verified_at.get(tree, 0) < run.view.process.resumed_seq:
        return None
    answered = all(done.answered for done in known.runs)
    return known if answered and known.environment == environment else None


async def _flaky(run: Run, scratch: ScratchWorktree, done: CommandRun) -> list[str]:
    """Return the tests that passed at the base and fail now, but with another result when run alone."""
    names = suspects(run.view.baseline.checks.get(done.command), done)
    if not names or len(names) > _RUN_AGAIN:
        return []
    suite = suite_of(done.command, scratch.folder)
    files = files_of(names, suite.test_files(await files_in(run.repository, scratch.tree)))
    again = await run_only(run.commands, scratch, [suite], files, names) if files else None
    again = again or await run_counted(run.commands, scratch, done.command)
    flaky = [name for name in names if again.count.tests.get(name) is TestState.PASSED]
    steady = [name for name in names if name not in flaky]
    if steady and files and run.view.baseline.tree and run.settings.worktrees:
        flaky += await _failing_at_the_base(run, done.command, files, steady)
    return flaky


async def _failing_at_the_base(
    run: Run, command: str, files: Sequence[str], names: Sequence[str]
) -> list[str]:
    """Return which of these tests, which passed at the base, fail there when they are run alone."""
    async with run.scratch_worktree(run.view.baseline.tree) as scratch:
        there = [file for file in files if (scratch.folder / file).is_file()]
        suite = suite_of(command, scratch.folder)
        alone = await run_only(run.commands, scratch, [suite], there, names) if there else None
    if alone is None:
        return []
    return [name for name in names if alone.count.tests.get(name) is TestState.FAILED]


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
