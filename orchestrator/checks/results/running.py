"""The project's own commands, run by sq itself on exactly one tree.

An agent's claim that tests pass does not count, only these results. A result counts the tests of a command,
and holds for one tree.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from anyio import to_thread

from agents.concurrency import aside_or
from orchestrator.checks.bench import Bench, Commands, Ran, ScratchWorktree
from orchestrator.checks.change import Change
from orchestrator.checks.comparison import ResultComparison
from orchestrator.checks.names_of_tests import BOUNDARY, files_of
from orchestrator.git.trees import files_in
from orchestrator.project.checks import check_table, complaints_in, is_check, machine_options
from orchestrator.project.readiness.kept import copied, remove_all
from orchestrator.project.runners.ability import broke_off, failing_part, missing_program, nothing_yet
from orchestrator.project.runners.counting import count
from orchestrator.project.runners.listings import plain
from orchestrator.project.runners.reporting import Prepared, prepare
from orchestrator.project.runners.selection import only_these, without_linters
from orchestrator.project.runners.suite import Suite, suite_of
from state.paths import scratch_folder
from state.records.commands import UNCOUNTED, CommandRun, TestCount, TestState
from state.safe_paths import files_inside, read_inside

_COMPLAINTS_KEPT = 4_000  # characters of them, in place of an output that only machines read
_TRIES = 6  # more runs of a test at the base, before it is called steady
_TRIES_OF_ALL = 3
_LARGEST_COPY = 500_000_000  # bytes
_BUILD_TREES = ("CMakeCache.txt", "meson-info")  # a folder with one of these


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
    bench: Bench,
    compared: ResultComparison,
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
    asked = asked_of(tree, compared.command, files)
    if again or afresh or asked not in bench.answered:
        bench.answered[asked] = await _run_on(bench, compared, tree, files, afresh=afresh)
    return bench.answered[asked]


async def _run_on(
    bench: Bench, compared: ResultComparison, tree: str, files: Sequence[str], *, afresh: bool
) -> CommandRun:
    async with bench.scratch(tree, afresh=afresh) as scratch:
        there = [file for file in files if (scratch.folder / file).is_file()]
        elsewhere = [moved(one, scratch.folder) for one in compared.suites]
        suites = [suite_of(compared.command, scratch.folder), *elsewhere]
        done = await run_only(bench.commands, scratch, suites, there) if there else None
        done = done or await run_tests(bench.commands, scratch, compared.command)
        return _named_as(compared.now.count.tests, done)


def _named_as(known: Collection[str], done: CommandRun) -> CommandRun:
    """Return a result with the names of the whole command, if that put no file before those of its tests."""
    if not known or any(name in known for name in done.count.tests):
        return done
    tests: dict[str, TestState] = {}
    for name, state in done.count.tests.items():
        ends = (name[at:] for at in range(1, len(name)) if name[at - 1] in BOUNDARY)
        own = next((end for end in ends if end in known), name)
        tests[own] = TestState.FAILED if TestState.FAILED in {state, tests.get(own)} else state
    return replace(done, count=replace(done.count, tests=tests))


def asked_of(tree: str, command: str, files: Iterable[str]) -> tuple[str, str, tuple[str, ...]]:
    """Return the key under which a bench keeps a result."""
    return tree, command, tuple(sorted(files))


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
    return tuple(one for one in files if content_in(before, one) != content_in(after, one))


def content_in(folder: Path, file: str) -> bytes | None:
    """Return the content of a file in a folder, None if it has none or leads out of it."""
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


async def flaky_at_the_base(change: Change, bench: Bench, command: str, names: Sequence[str]) -> set[str]:
    """Return those of the tests, which passed at the base, that fail there in one of some more runs.

    Whether a test is flaky is a fact about the base: the work may have made it unsteady.
    """
    return {
        name
        for name, (_, failed) in (await runs_at_the_base(change, bench, command, names)).items()
        if failed
    }


async def runs_at_the_base(
    change: Change, bench: Bench, command: str, names: Sequence[str], *, tries: int = _TRIES
) -> dict[str, tuple[int, int]]:
    """Return how often each of the tests ran and failed at the base, up to its first failure."""
    if not names:
        return {}
    found = dict.fromkeys(names, (0, 0))
    async with bench.scratch(change.baseline.tree) as scratch:
        suite = suite_of(command, scratch.folder)
        files = files_of(names, suite.test_files(await files_in(change.repository, scratch.tree)))
        for number in range(tries):
            left = [name for name in names if not found[name][1]]
            if not left or (number and not files):  # a whole suite is run again once
                break
            done = await run_only(bench.commands, scratch, [suite], files, left) if files else None
            done = done or await run_counted(bench.commands, scratch, command)
            for name in left:
                found[name] = (number + 1, int(done.count.tests.get(name) is TestState.FAILED))
    return found


async def is_unsteady_at_the_base(change: Change, bench: Bench, command: str) -> bool:
    """Whether a command has another result at the base in one of some more runs than in the baseline."""
    check = change.baseline.checks.get(command)
    if check is None or not change.baseline.tree:
        return False
    async with bench.scratch(change.baseline.tree) as scratch:
        for _ in range(_TRIES_OF_ALL):
            done = await run_counted(bench.commands, scratch, command)
            if (done.exit_code, done.count) != (check.run.exit_code, check.run.count):
                return True
    return False
