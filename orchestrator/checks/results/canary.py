"""The canary: failing tests that are added to a tree. A command that passes with them vouches for nothing.

Their names, place and words are random and ordinary, so that code in the tree cannot recognise them. On the
merged whole they run inside the whole command, and the command is also run plainly, as a person would run it.
Where a runner prints enough, one plain run with the canary in it answers both questions. (product.md,
section 12)
"""

import secrets
from collections.abc import Iterable, Sequence
from itertools import takewhile
from string import ascii_lowercase

from orchestrator.checks import objecting
from orchestrator.checks.answers import Answers, answers_of
from orchestrator.checks.asking import asks
from orchestrator.checks.bench import Bench, ScratchWorktree
from orchestrator.checks.change import Change
from orchestrator.checks.comparison import ResultComparison
from orchestrator.checks.objecting import CANARY, PLAINLY, doubt, unknown
from orchestrator.checks.results.output import cause_of
from orchestrator.checks.results.running import (
    flaky_at_the_base,
    is_unsteady_at_the_base,
    run_only,
    run_plainly,
    run_tests,
)
from orchestrator.checks.results.verdict import noticed_before
from orchestrator.checks.results.vouching import commands_for
from orchestrator.git.trees import files_in, with_files
from orchestrator.git.workspace import put_tracked_back
from orchestrator.project.runners.canary import Canary, canary_for
from orchestrator.project.runners.suite import Suite, suite_of
from state.records.commands import (
    UNCOUNTED,
    CanaryResult,
    CommandRun,
    TestCount,
    TestState,
)
from state.records.reviews import TestChange, TestChangeKind
from state.words import count_words, listed, names_of

_LETTERS = 7


def applies(change: Change, _: Bench, compared: ResultComparison, __: Answers) -> bool:
    """Whether it is asked: of the whole, and of a work that touched what decides how tests are run."""
    return change.is_final or compared.touched.decides


async def ask(change: Change, bench: Bench, compared: ResultComparison, _: Answers) -> Answers:
    """Return whether the command notices a failing test on the tree, unless it did not at the base.

    On the whole, that is asked inside the whole command, which also has to do the same when it is run
    plainly.
    """
    command = compared.command
    check = change.baseline.checks.get(command)
    tried = check.canary if check and check.canary and not check.canary.is_impossible else None
    canary, found = None, Answers()
    if not (tried and tried.caught is not True):
        canary = await _made(change, bench, compared)
        found = Answers() if canary else _without_canary(compared, was_tried=bool(tried))
    if change.is_final and (bench.has_places or bool(tried and tried.caught)):
        return found + await _inside_the_whole(change, bench, compared, canary)
    if canary is None:
        return found
    result = await try_canary(change, bench, command, canary, [compared.here], compared.now.count)
    return found + _meaning(change, result)


def _meaning(change: Change, result: CanaryResult) -> Answers:
    """Return what a canary says. Only a command that had to notice it proves nothing any more."""
    counts = noticed_before(change.baseline.checks.get(result.command))
    return answers_of([objecting.canary(result, counts=counts)])


async def _made(change: Change, bench: Bench, compared: ResultComparison) -> Canary | None:
    """Return a canary made of files of the tree, else of the base. The comparison's folders show others."""
    before = compared.before.count if compared.before else compared.now.count
    for tree, count in ((change.tree, compared.now.count), (change.base, before)):
        async with bench.scratch(tree) as scratch:
            if canary := make_canary([(suite_of(compared.command, scratch.folder), count)]):
                return canary
    return None


def _without_canary(compared: ResultComparison, *, was_tried: bool) -> Answers:
    command = compared.command
    if was_tried:
        told = f"whether `{command}` still notices a failing test: none can be made any more"
        return Answers(objections=(unknown(CANARY, command, told),))
    if compared.here.runs_tests is not False:
        told = f"whether `{command}` notices a failing test: none can be made for it"
        return Answers(objections=(unknown(CANARY, command, told),))
    return Answers()


def make_canary(suites: Sequence[tuple[Suite, TestCount]]) -> Canary | None:
    """Return a canary for the first of these that takes one: a suite in a tree, and its tests."""
    token = "".join(secrets.choice(ascii_lowercase) for _ in range(_LETTERS))
    made = (canary_for(suite, counted, token) for suite, counted in suites)
    return next((canary for canary in made if canary), None)


async def try_canary(
    change: Change, bench: Bench, command: str, canary: Canary, suites: Sequence[Suite], before: TestCount
) -> CanaryResult:
    """Run a command on the tree with the canary in it, and return whether it noticed.

    Args:
        change: the work. Its tree gets the canary.
        bench: the means.
        command: the command.
        canary: the tests that must fail.
        suites: the command in the tree and at the base, one of which may take test files.
        before: the tests that the command ran without the canary. If they are known by name, only its
            file is run.
    """
    with_it = await with_files(change.repository, change.tree, {canary.path: canary.content})
    async with bench.scratch(with_it) as scratch:
        done = await _run(bench, scratch, command, canary, suites, by_name=bool(before.tests))
    return _result(command, canary, done, before, suites)


async def _run(
    bench: Bench,
    scratch: ScratchWorktree,
    command: str,
    canary: Canary,
    suites: Sequence[Suite],
    *,
    by_name: bool,
) -> CommandRun:
    alone = await run_only(bench.commands, scratch, suites, canary.only) if by_name and canary.only else None
    if alone is None or alone.nothing_yet or alone.count.says_none:  # as where the command asks for a mark
        return await run_tests(bench.commands, scratch, command)
    return alone


def _result(
    command: str, canary: Canary, done: CommandRun, before: TestCount, suites: Sequence[Suite]
) -> CanaryResult:
    name = canary.names[0] if canary.names else ""
    problem = "" if done.exit_code is not None else done.problem or "it did not answer"
    if done.exit_code and before.ran and not done.count.ran and any(one.lints for one in suites):
        problem = f"no test ran ({cause_of(done)})"
    if problem:
        return CanaryResult(command=command, path=canary.path, name=name, problem=problem)
    noticed = _is_noticed(done, canary, before)
    return CanaryResult(command=command, path=canary.path, name=name, caught=noticed, seconds=done.seconds)


def _is_noticed(done: CommandRun, canary: Canary, before: TestCount) -> bool:
    """Whether the command noticed each failing test: by name, else by its exit code or one more failure."""
    failed, known = set(names_of(done.count, TestState.FAILED)), set(names_of(before, TestState.FAILED))
    new = failed - known
    if canary.names and new & _told_of(new, canary):
        return are_noticed(new, canary)
    return bool(new) if failed & known else done.exit_code != 0


def are_noticed(failed: Iterable[str], canary: Canary) -> bool:
    """Whether each of its tests is among failed ones, by the end of the name where a runner's names end so.

    A file is called as one of its tests, so its name stands in those of all others.
    """
    every = list(failed)
    ends = any(one.endswith(name) for one in every for name in canary.names)
    fits = str.endswith if ends else str.__contains__
    return all(any(fits(one, name) for one in every) for name in canary.names)


def _told_of(names: set[str], canary: Canary) -> set[str]:
    return {one for one in names if any(name in one for name in canary.names)}


async def _inside_the_whole(
    change: Change, bench: Bench, compared: ResultComparison, canary: Canary | None
) -> Answers:
    """Run a command that passed plainly, and with the canary, if there is one, in one run if that is enough.

    A difference counts only if the command is steady at the base.
    """
    if canary is not None:
        asks("with a failing test added")
        with_it = await with_files(change.repository, change.tree, {canary.path: canary.content})
        together = await _plainly(change, bench, compared, with_it)
        if (
            together.exit_code
            and not together.rewritten
            and _is_as_expected(together.count, compared.now.count, canary)
        ):
            return _meaning(change, _result(compared.command, canary, together, UNCOUNTED, ()))
    asks("as a person runs it")
    plain = await _plainly(change, bench, compared, change.tree)
    found = await _judged(change, bench, compared, plain)
    if canary is None:
        return found
    asks("with a failing test added, each test counted")
    async with bench.scratch(with_it) as scratch:
        done = await run_tests(bench.commands, scratch, compared.command)
    passed = names_of(compared.now.count, TestState.PASSED) if done.count.tests else ()
    changed = [name for name in passed if done.count.tests.get(name) is not TestState.PASSED]
    changed = changed if canary.names else changed[1:]  # a program that is one test fails by it
    asks("tests that changed beside it, on the code before")
    flaky = await flaky_at_the_base(change, bench, compared.command, changed)
    why = "fails when failing tests are added beside it"
    changes = (
        TestChange(test=name, kind=TestChangeKind.FAILS, detail=why) for name in changed if name not in flaky
    )
    result = _result(compared.command, canary, done, compared.now.count, [compared.here])
    return found + _meaning(change, result) + Answers(changes=tuple(changes))


async def _judged(change: Change, bench: Bench, compared: ResultComparison, plain: CommandRun) -> Answers:
    """Return how a plain run differs, if it does each time or the command is steady at the base."""
    told = f"`{compared.command}`, run as a person runs it, "
    if plain.exit_code is None:
        why = plain.problem or "it did not answer"
        why = f"whether `{compared.command}` passes as a person runs it: {why}"
        return Answers(objections=(unknown(PLAINLY, compared.command, why),))
    unlike = _difference(compared.now, plain)
    if not unlike:
        return Answers()
    behind = await _plainly(change, bench, compared, change.tree, behind_others=True)
    if again := _difference(compared.now, behind):
        return Answers(objections=(doubt(PLAINLY, compared.command, told + again),))
    if _others_before(change, compared):  # it needs what they made
        return Answers()
    if await is_unsteady_at_the_base(change, bench, compared.command):
        return Answers()
    told = f"{told}{unlike}, but not each time, and at the base its results do not change"
    return Answers(objections=(doubt(PLAINLY, compared.command, told),))


def _is_as_expected(together: TestCount, now: TestCount, canary: Canary) -> bool:
    """Whether the canary's tests failed, and every other result is as it was, as far as a plain run tells."""
    if together.tests:
        failed = set(names_of(together, TestState.FAILED))
        of_canary = _told_of(failed, canary)
        others = {one.rpartition("::")[2] for one in failed - of_canary}
        known = {one.rpartition("::")[2] for one in names_of(now, TestState.FAILED)}
        told = are_noticed(of_canary, canary)
        if not canary.names:  # a program that is one test: it fails by it
            return len(others - known) == 1 and together.passed in {None, (now.passed or 1) - 1}
        return told and len(others) == len(known) and _fits(together.passed, now.passed)
    if together.failed is None or now.failed is None:
        return False
    return together.failed == now.failed + max(1, len(canary.names)) and together.passed == now.passed


def _fits(plain: int | None, counted: int | None) -> bool:
    """Whether a number of passed tests is as it was. A plain run may print the failed ones alone."""
    return not plain or not counted or plain == counted


def _difference(counted: CommandRun, plain: CommandRun) -> str:
    """Return how a plain run differs from the counted one, or "" if it does not."""
    if plain.rewritten:
        return f"changes its own tests as it runs: {listed(plain.rewritten)}"
    if plain.exit_code is None:
        return ""
    if bool(plain.exit_code) != bool(counted.exit_code):
        return f"exits with {plain.exit_code}, and with {counted.exit_code} when sq counts its tests"
    one, other = plain.count, counted.count
    if (
        one.passed
        and other.passed is not None
        and (one.passed, one.failed or 0) != (other.passed, other.failed or 0)
    ):
        return f"tells {count_words(one)}, and {count_words(other)} when sq counts them"
    return ""


def _others_before(change: Change, compared: ResultComparison) -> list[str]:
    commands = commands_for(change.baseline, compared.here.folder, change.tree)
    return [*takewhile(lambda one: one != compared.command, commands)]


async def _plainly(
    change: Change, bench: Bench, compared: ResultComparison, tree: str, *, behind_others: bool = False
) -> CommandRun:
    """Run the command plainly in a place in which no command ran before, or only those that stand before it.

    What commands on an earlier tree left there in ignored files would pass for work that is in no commit.
    """
    every = sorted(await files_in(change.repository, tree))
    afresh = await bench.have_outputs()
    async with bench.scratch(tree, afresh=afresh) as scratch:
        for command in _others_before(change, compared) if behind_others else ():
            await run_tests(bench.commands, scratch, command)
            await put_tracked_back(scratch.folder)
        tests = suite_of(compared.command, scratch.folder).test_files(every)
        name = change.repository.name
        return await run_plainly(bench.commands, scratch, compared.command, name=name, tests=tests)
