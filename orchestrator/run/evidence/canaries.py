"""The canary: failing tests that are added to a tree. A command that passes with them vouches for nothing.

Their names, place and words are random and ordinary, so that code in the tree cannot recognise them. On the
merged whole they run inside the whole command, and the command is also run plainly, as a person would run it.
Where a runner prints enough, one plain run with the canary in it answers both questions. (product.md,
section 12)
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from string import ascii_lowercase

from orchestrator.git.trees import files_in, with_files
from orchestrator.git.workspace import put_tracked_back
from orchestrator.project.runners.canary import Canary, canary_for
from orchestrator.project.runners.suite import Suite, suite_of
from orchestrator.run.evidence.comparison import ResultComparison
from orchestrator.run.evidence.summary import cause_of, commands_for
from orchestrator.run.evidence.verification import (
    flaky_at_the_base,
    is_unsteady_at_the_base,
    run_only,
    run_plainly,
    run_tests,
)
from orchestrator.run.ports import ScratchWorktree
from orchestrator.run.purpose import asks
from orchestrator.run.record import Run
from state.records.commands import UNCOUNTED, CanaryResult, CommandRun, TestCount, TestState
from state.words import count_words, listed, names_of

_LETTERS = 7


def make_canary(suites: Sequence[tuple[Suite, TestCount]]) -> Canary | None:
    """Return a canary for the first of these that takes one: a suite in a tree, and its tests."""
    token = "".join(secrets.choice(ascii_lowercase) for _ in range(_LETTERS))
    made = (canary_for(suite, counted, token) for suite, counted in suites)
    return next((canary for canary in made if canary), None)


async def try_canary(
    run: Run, command: str, tree: str, canary: Canary, suites: Sequence[Suite], before: TestCount = UNCOUNTED
) -> CanaryResult:
    """Run a command on `tree` with the canary in it, and return whether it noticed.

    Args:
        run: the run.
        command: the command.
        tree: the tree without the canary.
        canary: the tests that must fail.
        suites: the command in the tree and at the base, one of which may take test files.
        before: the tests that the command ran without the canary. If they are known by name, only its
            file is run.
    """
    with_it = await with_files(run.repository, tree, {canary.path: canary.content})
    async with run.evidence.scratch_worktree(run, with_it) as scratch:
        done = await _run(run, scratch, command, canary, suites, by_name=bool(before.tests))
    return _result(command, canary, done, before, suites)


async def _run(
    run: Run,
    scratch: ScratchWorktree,
    command: str,
    canary: Canary,
    suites: Sequence[Suite],
    *,
    by_name: bool,
) -> CommandRun:
    alone = await run_only(run.commands, scratch, suites, canary.only) if by_name and canary.only else None
    if alone is None or alone.nothing_yet or alone.count.says_none:  # as where the command asks for a mark
        return await run_tests(run.commands, scratch, command)
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
        return all(any(name in one for one in new) for name in canary.names)
    return bool(new) if failed & known else done.exit_code != 0


def _told_of(names: set[str], canary: Canary) -> set[str]:
    return {one for one in names if any(name in one for name in canary.names)}


@dataclass(frozen=True, kw_only=True)
class WholeCanary:
    """The answers of a whole command with the canary in it, and run plainly.

    `unlike` is how the plain run differs, or "". `changed` are tests that passed before and not beside the
    canary. `untold` are questions without an answer.
    """

    canary: CanaryResult | None = None
    unlike: str = ""
    changed: tuple[str, ...] = ()
    untold: tuple[str, ...] = ()


async def try_whole(run: Run, subject: ResultComparison, canary: Canary | None) -> WholeCanary:
    """Run a command that passed plainly, and with the canary, if there is one, in one run if that is enough.

    A difference counts only if the command is steady at the base.
    """
    if canary is not None:
        asks("with a failing test added")
        with_it = await with_files(run.repository, subject.tree, {canary.path: canary.content})
        together = await _plainly(run, subject, with_it)
        if (
            together.exit_code
            and not together.rewritten
            and _is_as_expected(together.count, subject.now.count, canary)
        ):
            return WholeCanary(canary=_result(subject.command, canary, together, UNCOUNTED, ()))
    asks("as a person runs it")
    plain = await _plainly(run, subject, subject.tree)
    unlike, untold = await _judged(run, subject, plain)
    if canary is None:
        return WholeCanary(unlike=unlike, untold=untold)
    asks("with a failing test added, each test counted")
    async with run.evidence.scratch_worktree(run, with_it) as scratch:
        done = await run_tests(run.commands, scratch, subject.command)
    passed = names_of(subject.now.count, TestState.PASSED) if done.count.tests else ()
    changed = [name for name in passed if done.count.tests.get(name) is not TestState.PASSED]
    changed = changed if canary.names else changed[1:]  # a program that is one test fails by it
    asks("tests that changed beside it, on the code before")
    flaky = await flaky_at_the_base(run, subject.command, changed)
    return WholeCanary(
        canary=_result(subject.command, canary, done, subject.now.count, [subject.here]),
        unlike=unlike,
        changed=tuple(name for name in changed if name not in flaky),
        untold=untold,
    )


async def _judged(run: Run, subject: ResultComparison, plain: CommandRun) -> tuple[str, tuple[str, ...]]:
    """Return how a plain run differs, or "", and the questions that it leaves open."""
    if plain.exit_code is None:
        why = plain.problem or "it did not answer"
        return "", (f"whether `{subject.command}` passes as a person runs it: {why}",)
    unlike = _difference(subject.now, plain)
    if not unlike:
        return "", ()
    again = _difference(subject.now, await _plainly(run, subject, subject.tree, behind_others=True))
    if again:
        return again, ()
    if _others_before(run, subject):  # it needs what they made
        return "", ()
    if await is_unsteady_at_the_base(run, subject.command):
        return "", ()
    return f"{unlike}, but not each time, and at the base its results do not change", ()


def _is_as_expected(together: TestCount, now: TestCount, canary: Canary) -> bool:
    """Whether the canary's tests failed, and every other result is as it was, as far as a plain run tells."""
    if together.tests:
        failed = set(names_of(together, TestState.FAILED))
        of_canary = _told_of(failed, canary)
        others = {one.rpartition("::")[2] for one in failed - of_canary}
        known = {one.rpartition("::")[2] for one in names_of(now, TestState.FAILED)}
        told = all(any(name in one for one in of_canary) for name in canary.names)
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


def _others_before(run: Run, subject: ResultComparison) -> list[str]:
    commands = commands_for(run, subject.here.folder, subject.tree)
    return [*takewhile(lambda one: one != subject.command, commands)]


async def _plainly(
    run: Run, subject: ResultComparison, tree: str, *, behind_others: bool = False
) -> CommandRun:
    """Run the command plainly in a place in which no command ran before, or only those that stand before it.

    What commands on an earlier tree left there in ignored files would pass for work that is in no commit.
    """
    every = sorted(await files_in(run.repository, tree))
    afresh = await run.evidence.have_outputs(run)
    async with run.evidence.scratch_worktree(run, tree, afresh=afresh) as scratch:
        for command in _others_before(run, subject) if behind_others else ():
            await run_tests(run.commands, scratch, command)
            await put_tracked_back(scratch.folder)
        tests = suite_of(subject.command, scratch.folder).test_files(every)
        name = run.repository.name
        return await run_plainly(run.commands, scratch, subject.command, name=name, tests=tests)
