"""The commands of a project on the tree of a change, the cheapest first, and their failing tests once more.

With places of sq's own the commands run there, never where an agent has worked. Otherwise in the checkout.
"""

from collections.abc import Iterable, Sequence

from anyio import to_thread

from orchestrator.checks.asking import asks
from orchestrator.checks.bench import Bench, ScratchWorktree
from orchestrator.checks.change import Change
from orchestrator.checks.names_of_tests import files_of
from orchestrator.checks.results.running import asked_of, run_counted, run_only, runs_at_the_base
from orchestrator.checks.results.verdict import CommandVerdict, judged, met_a_limit, suspects
from orchestrator.git.locks import git_dir
from orchestrator.git.trees import changed_paths, files_in
from orchestrator.git.workspace import put_tracked_back
from orchestrator.project.readiness.kept import is_as_made
from orchestrator.project.runners.ability import misses
from orchestrator.project.runners.suite import suite_of
from state.records.commands import CommandRun, TestReruns, TestState

_LONG_S = 10.0  # a command that took longer at the base is not run for a claim that fails in another one
_RUN_AGAIN = 20  # tests: if more fail at once, it is not chance


async def results_of(
    change: Change,
    bench: Bench,
    scratch: ScratchWorktree,
    commands: Sequence[str],
    *,
    until_one_fails: bool = False,
) -> list[CommandRun]:
    """Run the commands, long ones last, and return their results in the order of `commands`.

    `until_one_fails`: a work that fails in one of them costs no command of more than `_LONG_S`, and before
    such a command the files of tests that it changed are run alone. Only the failures are returned then.
    """
    found = dict[str, CommandRun]()
    for nth, command in enumerate(sorted(commands, key=lambda one: _long_at_base(change, one)), 1):
        if until_one_fails and _long_at_base(change, command):
            failed = [done for done in found.values() if await _fails(change, bench, scratch, done)]
            asks("the changed tests alone")
            if not failed and (alone := await _changed_tests(change, bench, scratch, command)):
                failed = [alone] if await _fails(change, bench, scratch, alone) else []
            if failed:
                return failed
        asks(nth=nth, of=len(commands))
        if found and bench.has_places:  # a command shall not decide what the next one runs
            await put_tracked_back(scratch.folder)
        found[command] = await run_counted(bench.commands, scratch, command, is_evidence=True)
    return [found[command] for command in commands]


def _long_at_base(change: Change, command: str) -> float:
    """Return a command's seconds at the base, 0 for one that is not long."""
    check = change.baseline.checks.get(command)
    return check.run.seconds if check and check.run.seconds > _LONG_S else 0.0


async def _fails(change: Change, bench: Bench, scratch: ScratchWorktree, done: CommandRun) -> bool:
    """Whether a command speaks against the work, tests aside that change their mind at the base too."""
    base = change.baseline.checks.get(done.command)
    if judged(base, done).verdict is not CommandVerdict.FAILED:
        return False
    unsteady = await runs_again(change, bench, scratch, done)
    flaky = [one.test for one in unsteady if one.is_flaky]
    return judged(base, done, flaky=flaky).verdict is CommandVerdict.FAILED


async def _changed_tests(
    change: Change, bench: Bench, scratch: ScratchWorktree, command: str
) -> CommandRun | None:
    """Run the files of tests that the work changed or added, if there are some and the runner takes files."""
    suite = suite_of(command, scratch.folder)
    changed = await changed_paths(change.repository, change.base, scratch.tree)
    files = [path for path in suite.test_files(changed) if (scratch.folder / path).is_file()]
    done = await run_only(bench.commands, scratch, [suite], files) if files else None
    if done:
        bench.answered[asked_of(scratch.tree, command, files)] = done
    return done


async def has_lost(bench: Bench, scratch: ScratchWorktree, runs: Iterable[CommandRun]) -> bool:
    """Whether a command misses something in a place of sq's in which not all is as its set-up made it."""
    failed = [f"{done.output_tail}\n{done.failing_part}" for done in runs if not done.passed]
    if not (bench.has_places and any(map(misses, failed))):
        return False
    bench.look_again(scratch.folder)
    return not await to_thread.run_sync(is_as_made, git_dir(scratch.folder), scratch.folder)


async def runs_again(
    change: Change, bench: Bench, scratch: ScratchWorktree, done: CommandRun
) -> list[TestReruns]:
    """Run the tests that passed at the base and fail now once more, alone, here and at the base.

    A test that fails at the base too is a fact about this machine and no failure. So is one that met a limit
    while the machine was busy, and passes with no other command beside it.
    """
    check = change.baseline.checks.get(done.command)
    names = suspects(check, done)
    in_scratch = bench.has_places or change.baseline.notices_a_canary(done.command)
    if not names or len(names) > _RUN_AGAIN or not (change.baseline.tree and in_scratch):
        return []
    asks("failing tests once more")
    suite = suite_of(done.command, scratch.folder)
    files = files_of(names, suite.test_files(await files_in(change.repository, scratch.tree)))
    here, spared = [], set[str]()
    for alone in (False, True) if met_a_limit(done) else (False,):
        again = await run_only(bench.commands, scratch, [suite], files, names, alone=alone) if files else None
        again = again or await run_counted(bench.commands, scratch, done.command, alone=alone)
        here.append({name for name in names if again.count.tests.get(name) is not TestState.PASSED})
        spared = set(names) - here[-1] if alone else spared
    left = [name for name in names if name not in spared]
    unsteady = [name for name in left if name not in here[0]]
    steady = [name for name in left if name in here[0]]
    at_base = await runs_at_the_base(change, bench, done.command, unsteady)
    at_base |= await runs_at_the_base(change, bench, done.command, steady, tries=1)
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
