"""The project's own commands, run by sq itself on exactly one tree.

An agent's claim that tests pass does not count, only these results. With worktrees the commands run in a
scratch worktree, never where an agent has worked. Otherwise they run in the checkout. A result counts the
tests of a command, and holds for one tree and one fingerprint of the environment.
"""

import hashlib
import os
import shutil
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Protocol

from anyio import to_thread

from agents.concurrency import aside_or
from orchestrator.git.locks import git_dir
from orchestrator.git.seeding import files_to_copy
from orchestrator.git.trees import changed_paths, files_in
from orchestrator.git.workspace import put_tracked_back
from orchestrator.project.checks import check_table, complaints_in, is_check, machine_options
from orchestrator.project.readiness.environment import look_into_python
from orchestrator.project.readiness.inputs import mark_of
from orchestrator.project.readiness.kept import copied, is_as_made, remove_all
from orchestrator.project.runners.ability import broke_off, failing_part, misses, missing_program, nothing_yet
from orchestrator.project.runners.counting import count
from orchestrator.project.runners.listings import plain
from orchestrator.project.runners.reports import Prepared, prepare
from orchestrator.project.runners.selection import only_these, without_linters
from orchestrator.project.runners.suite import Suite, suite_of
from orchestrator.project.shell import simple_commands
from orchestrator.run.evidence.changes import files_of
from orchestrator.run.evidence.summary import commands_for, has_failed, results
from orchestrator.run.evidence.verdict import CommandVerdict, judged, met_a_limit, suspects
from orchestrator.run.ports import Commands, Ran, ScratchWorktree
from orchestrator.run.purpose import asks, run_for
from orchestrator.run.record import Run
from state.journal.events import VerificationFinished, VerificationStarted
from state.journal.events.tasks import Stage
from state.paths import scratch_folder
from state.records.commands import UNCOUNTED, CommandRun, TestCount, TestReruns, TestState
from state.safe_paths import files_inside, read_inside

_LONG_S = 10.0  # a command that took longer at the base is not run for a claim that fails in another one
_COMPLAINTS_KEPT = 4_000  # characters of them, in place of an output that only machines read
_RUN_AGAIN = 20  # tests: if more fail at once, it is not chance
_TRIES = 6  # more runs of a test at the base, before it is called steady
_TRIES_OF_ALL = 3
_LARGEST_COPY = 500_000_000  # bytes
_BUILD_TREES = ("CMakeCache.txt", "meson-info")  # a folder with one of these
_SHELL_WORDS = frozenset({"cd", "true", "false", "test", "[", "echo", "export", "set", ":"})


class _Subject(Protocol):
    @property
    def command(self) -> str: ...
    @property
    def suites(self) -> list[Suite]: ...


async def verify(
    run: Run, *, task_id: str, folder: Path, tree: str, mends: bool = True
) -> VerificationFinished:
    """Return the result for this tree: this process's earlier one in the same environment, or a new one.

    Args:
        run: the run.
        task_id: the task of this tree, or "" for the merged whole.
        folder: the folder in which commands run without worktrees: the checkout.
        tree: the tree to verify.
        mends: a place that lacks something of its set-up is made anew, and used once more.
    """
    run_for("verification", task_id)
    async with place_for(run, folder, tree) as scratch:
        commands = commands_for(run, scratch.folder, tree)
        environment = await fingerprint_of(run, scratch, commands)
        known = _known(run, tree, environment)
        if known and tuple(done.command for done in known.runs) == commands:
            return known
        run.record(VerificationStarted(task_id=task_id, tree=tree, commands=commands))
        runs = await _cheapest_first(run, scratch, commands, task_id)
        lost = mends and await _has_lost(run, scratch, runs)
        again = [] if lost else [one for done in runs for one in await _run_again(run, scratch, done)]
    if lost:
        return await verify(run, task_id=task_id, folder=folder, tree=tree, mends=False)
    finished = VerificationFinished(
        task_id=task_id,
        tree=tree,
        runs=tuple(runs),
        environment=environment,
        flaky=tuple(one.test for one in again if one.is_flaky),
        reruns=tuple(again),
    )
    run.record(finished)
    return finished


async def _cheapest_first(
    run: Run, scratch: ScratchWorktree, commands: Sequence[str], task_id: str
) -> list[CommandRun]:
    """Run the commands, long ones last, and return their results in the order of `commands`.

    A claim that fails in one of them costs no command of more than `_LONG_S`, and before such a command the
    files of tests that the task changed are run alone. Only the failures are returned then. The claim that
    follows such a refusal is asked everything: a test may fail alone and nowhere else.
    """
    found, task = dict[str, CommandRun](), run.view.tasks.get(task_id)
    is_claim = task is not None and task.stage is Stage.BUILDING and not _was_cut(run, task_id, commands)
    for nth, command in enumerate(sorted(commands, key=lambda one: _long_at_base(run, one)), 1):
        if is_claim and task and _long_at_base(run, command):
            failed = [done for done in found.values() if await _fails(run, scratch, done)]
            asks("the changed tests alone")
            if not failed and (alone := await _changed_tests(run, scratch, command, task.place.base_commit)):
                failed = [alone] if await _fails(run, scratch, alone) else []
            if failed:
                return failed
        run_for("verification", task_id, nth=nth, of=len(commands))
        if found and run.settings.worktrees:  # a command shall not decide what the next one runs
            await put_tracked_back(scratch.folder)
        found[command] = await run_counted(run.commands, scratch, command, is_evidence=True)
    return [found[command] for command in commands]


def _long_at_base(run: Run, command: str) -> float:
    """Return a command's seconds at the base, 0 for one that is not long."""
    check = run.view.baseline.checks.get(command)
    return check.run.seconds if check and check.run.seconds > _LONG_S else 0.0


async def _fails(run: Run, scratch: ScratchWorktree, done: CommandRun) -> bool:
    """Whether a command speaks against the work, tests aside that change their mind at the base too."""
    base = run.view.baseline.checks.get(done.command)
    if judged(base, done).verdict is not CommandVerdict.FAILED:
        return False
    unsteady = await _run_again(run, scratch, done)
    flaky = [one.test for one in unsteady if one.is_flaky]
    return judged(base, done, flaky=flaky).verdict is CommandVerdict.FAILED


def _was_cut(run: Run, task_id: str, commands: Sequence[str]) -> bool:
    """Whether the newest verification of a task ended before its last command."""
    earlier = (one for one in run.view.evidence.verifications.values() if one.task_id == task_id)
    newest = next(reversed([*earlier]), None)
    return newest is not None and len(newest.runs) < len(commands)


async def _changed_tests(run: Run, scratch: ScratchWorktree, command: str, base: str) -> CommandRun | None:
    """Run the files of tests that a task changed or added, if there are some and the runner takes files."""
    suite = suite_of(command, scratch.folder)
    changed = await changed_paths(run.repository, base, scratch.tree)
    files = [path for path in suite.test_files(changed) if (scratch.folder / path).is_file()]
    done = await run_only(run.commands, scratch, [suite], files) if files else None
    if done:
        run.answered[_asked(scratch.tree, command, files)] = done
    return done


def _asked(tree: str, command: str, files: Iterable[str]) -> tuple[str, str, tuple[str, ...]]:
    return tree, command, tuple(sorted(files))


async def _has_lost(run: Run, scratch: ScratchWorktree, runs: Iterable[CommandRun]) -> bool:
    """Whether a command misses something in a place of sq's in which not all is as its set-up made it."""
    failed = [f"{done.output_tail}\n{done.failing_part}" for done in runs if not done.passed]
    if not (run.settings.worktrees and any(map(misses, failed))):
        return False
    run.scratch.shown.pop(scratch.folder, None)  # so that its next use looks after the set-up
    return not await to_thread.run_sync(is_as_made, git_dir(scratch.folder), scratch.folder)


@asynccontextmanager
async def place_for(run: Run, folder: Path, tree: str) -> AsyncIterator[ScratchWorktree]:
    """Yield the place for commands on a tree: a scratch, or without worktrees the checkout `folder`."""
    if not run.settings.worktrees:
        yield ScratchWorktree(folder=folder, tree=tree, environment={})
        return
    async with run.evidence.scratch_worktree(run, tree) as scratch:
        yield scratch


def _known(run: Run, tree: str, environment: str) -> VerificationFinished | None:
    """Return the record of a tree in this environment if every command answered.

    That of an earlier process holds if it does not speak against the work: its cause may be mended by now.
    """
    known = run.view.evidence.verifications.get(tree)
    if known is None or known.environment != environment or not all(one.answered for one in known.runs):
        return None
    is_earlier = run.view.evidence.verified_at[tree] < run.view.process.resumed_seq
    return None if is_earlier and has_failed(results(run, known)) else known


async def _run_again(run: Run, scratch: ScratchWorktree, done: CommandRun) -> list[TestReruns]:
    """Run the tests that passed at the base and fail now once more, alone, here and at the base.

    A test that fails at the base too is a fact about this machine and no failure. So is one that met a limit
    while the machine was busy, and passes with no other command of the run beside it.
    """
    check = run.view.baseline.checks.get(done.command)
    names = suspects(check, done)
    in_scratch = run.settings.worktrees or bool(check and check.canary and check.canary.caught)
    if not names or len(names) > _RUN_AGAIN or not (run.view.baseline.tree and in_scratch):
        return []
    asks("failing tests once more")
    suite = suite_of(done.command, scratch.folder)
    files = files_of(names, suite.test_files(await files_in(run.repository, scratch.tree)))
    here, spared = [], set[str]()
    for alone in (False, True) if met_a_limit(done) else (False,):
        again = await run_only(run.commands, scratch, [suite], files, names, alone=alone) if files else None
        again = again or await run_counted(run.commands, scratch, done.command, alone=alone)
        here.append({name for name in names if again.count.tests.get(name) is not TestState.PASSED})
        spared = set(names) - here[-1] if alone else spared
    left = [name for name in names if name not in spared]
    unsteady = [name for name in left if name not in here[0]]
    steady = [name for name in left if name in here[0]]
    at_base = await _at_the_base(run, done.command, unsteady)
    at_base |= await _at_the_base(run, done.command, steady, tries=1)
    return [
        TestReruns(
            test=name,
            here=len(here),
            failed_here=sum(name in failed for failed in here),
            at_base=at_base[name][0] if name in at_base else 0,
            failed_at_base=at_base[name][1] if name in at_base else 0,
            spared=name in spared,
        )
        for name in sorted(names)
    ]


async def flaky_at_the_base(run: Run, command: str, names: Sequence[str]) -> set[str]:
    """Return those of the tests, which passed at the base, that fail there in one of some more runs.

    Whether a test is flaky is a fact about the base: the work may have made it unsteady.
    """
    return {name for name, (_, failed) in (await _at_the_base(run, command, names)).items() if failed}


async def _at_the_base(
    run: Run, command: str, names: Sequence[str], *, tries: int = _TRIES
) -> dict[str, tuple[int, int]]:
    """Return how often each of the tests ran and failed at the base, up to its first failure."""
    if not names:
        return {}
    found = dict.fromkeys(names, (0, 0))
    async with run.evidence.scratch_worktree(run, run.view.baseline.tree) as scratch:
        suite = suite_of(command, scratch.folder)
        files = files_of(names, suite.test_files(await files_in(run.repository, scratch.tree)))
        for number in range(tries):
            left = [name for name in names if not found[name][1]]
            if not left or (number and not files):  # a whole suite is run again once
                break
            done = await run_only(run.commands, scratch, [suite], files, left) if files else None
            done = done or await run_counted(run.commands, scratch, command)
            for name in left:
                found[name] = (number + 1, int(done.count.tests.get(name) is TestState.FAILED))
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


async def fingerprint_of(run: Run, place: ScratchWorktree, commands: Iterable[str]) -> str:
    """Return a fingerprint of what decides the results of commands beside the files of their tree.

    That is PATH with the programs that they name, the packages of the Python there, the set-up's steps and
    variables (by name), the user's ignored files, and the sandbox.

    Args:
        run: the run.
        place: the folder in which they run.
        commands: the verification commands.
    """
    path = run.environ.get("PATH", os.defpath)
    included = await files_to_copy(run.repository, run.settings.worktree_include, state=run.folder.parents[1])
    names = {simple.name for command in commands for simple in simple_commands(command)} - _SHELL_WORDS

    def facts() -> list[str]:
        found = look_into_python(run.environ, path, not_run_in=[place.folder, run.repository])
        asked = {*names, "python3", "node"}
        programs = [f"{name}={mark_of(shutil.which(name, path=path))}" for name in asked]
        return [
            f"PATH={path}",
            f"{run.settings.sandbox.mode} {run.settings.sandbox.network} {run.settings.worktree_setup}",
            place.set_up,
            str(found.changed() if found else ()),
            *sorted((*place.environment, *programs)),
            *(f"{name}={mark_of(run.repository / name)}" for name in included),
        ]

    told = "\n".join(await to_thread.run_sync(facts))
    return hashlib.sha256(told.encode()).hexdigest()[:16]


async def run_counted(
    commands: Commands,
    scratch: ScratchWorktree,
    command: str,
    *,
    is_evidence: bool = False,
    alone: bool = False,
) -> CommandRun:
    """Run a command as the user would, but reporting its tests as far as that does not change its result."""
    suite = suite_of(command, scratch.folder)
    async with scratch_folder() as reports:
        prepared = prepare(suite, reports, commands.environ)
        return await _run(commands, scratch, suite, prepared, reports, is_evidence=is_evidence, alone=alone)


async def run_tests(commands: Commands, scratch: ScratchWorktree, command: str) -> CommandRun:
    """Run a command without its linters: a question changes the code, and they would stop before a test.

    As each answer to a question, one that fails while other commands run is asked for again alone.
    """
    suite = suite_of(command, scratch.folder)
    done = await run_counted(commands, scratch, without_linters(suite) or command, is_evidence=True)
    return replace(done, command=command)


async def run_only(
    commands: Commands,
    scratch: ScratchWorktree,
    suites: Sequence[Suite],
    files: Sequence[str],
    names: Sequence[str] = (),
    *,
    alone: bool = False,
) -> CommandRun | None:
    """Run only these test files, by the first of the suites that can. `alone`: with no command beside it.

    If they fail while other commands run, they are run again alone.

    Returns:
        The result, or None if none of the suites accepts files.
    """
    async with scratch_folder() as reports:
        for suite in suites:
            if command := only_these(suite, files, names):
                prepared = prepare(suite_of(command, suite.folder), reports, commands.environ)
                return await _run(
                    commands, scratch, suite, prepared, reports, suite.command, is_evidence=True, alone=alone
                )
    return None


async def run_on(
    run: Run,
    subject: _Subject,
    tree: str,
    files: Sequence[str],
    *,
    again: bool = False,
    afresh: bool = False,
) -> CommandRun:
    """Run the test files on a tree, or all tests if none are named or the runner takes no files.

    An answer of this process is not asked for twice, but with `again`. `afresh`: without what commands have
    built there, which a command with an emptied recipe would find.
    """
    asked = _asked(tree, subject.command, files)
    if again or afresh or asked not in run.answered:
        run.answered[asked] = await _run_on(run, subject, tree, files, afresh=afresh)
    return run.answered[asked]


async def _run_on(
    run: Run, subject: _Subject, tree: str, files: Sequence[str], *, afresh: bool
) -> CommandRun:
    async with run.evidence.scratch_worktree(run, tree, afresh=afresh) as scratch:
        there = [file for file in files if (scratch.folder / file).is_file()]
        elsewhere = [moved(one, scratch.folder) for one in subject.suites]
        suites = [suite_of(subject.command, scratch.folder), *elsewhere]
        done = await run_only(run.commands, scratch, suites, there) if there else None
        return done or await run_tests(run.commands, scratch, subject.command)


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
        else:
            await to_thread.run_sync(_without_build_trees, folder)
        ran = await commands.whole(
            command,
            folder,
            environment=scratch.environment,
            readable=[scratch.folder] if scratch.environment else [],
            plainly=True,
            is_evidence=True,
        )
        suite = suite_of(command, folder)
        async with scratch_folder(prefix="tmp") as reports:
            counted = await _counted(suite, ran, reports)
        looking = partial(_rewritten, scratch.folder, folder, tests)
        return replace(ran.run, count=counted, rewritten=await aside_or((), looking, "its files of tests"))


def _without_build_trees(folder: Path) -> None:
    """Remove generated build trees, which hold the path that they were made in and build nowhere else."""
    found = {
        path.parent
        for name in _BUILD_TREES
        for path in (*folder.glob(f"*/{name}"), *folder.glob(f"*/*/{name}"))
    }
    remove_all(folder, [one.relative_to(folder).as_posix() for one in found])


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
    return await aside_or(UNCOUNTED, counting, f"the output and reports of `{suite.command}`")


def moved(suite: Suite, folder: Path) -> Suite:
    """Return a suite of another tree for a folder that holds this one."""
    runs = tuple(replace(one, folder=folder / one.folder.relative_to(suite.folder)) for one in suite.runs)
    return replace(suite, folder=folder, runs=runs)


async def _run(
    commands: Commands,
    scratch: ScratchWorktree,
    suite: Suite,
    prepared: Prepared,
    reports: Path,
    like: str = "",
    *,
    is_evidence: bool = False,
    alone: bool = False,
) -> CommandRun:
    environment = {**scratch.environment, **prepared.environment}
    checks = is_check(suite)
    machine = machine_options(suite) if checks else ""
    ran = await commands.whole(
        f"{prepared.command}{machine}",
        scratch.folder,
        environment=environment,
        told_as=suite.command,
        like=like,
        reports=reports,
        is_evidence=is_evidence,
        alone=alone,
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
