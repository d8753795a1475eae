"""The canary: a failing test that is added to a tree. A command that passes with it vouches for nothing.

Its name, place and words are random and ordinary, so that code in the tree cannot recognise it.
"""

import secrets
from collections.abc import Sequence
from string import ascii_lowercase

from orchestrator.git.scratch import with_files
from orchestrator.project.runners.canary import Canary, canary_for
from orchestrator.project.runners.suite import Suite
from orchestrator.run.evidence.verification import run_counted, run_only
from orchestrator.run.ports import ScratchWorktree
from orchestrator.run.record import Run
from state.records.commands import UNCOUNTED, CanaryResult, CommandRun, TestCount, TestState
from state.words import names_of

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
        canary: the test that must fail.
        suites: the command in the tree and at the base, one of which may take test files.
        before: the tests that the command ran without the canary. If they are known by name, only its
            file is run.
    """
    with_it = await with_files(run.repository, tree, {canary.path: canary.content})
    async with run.evidence.scratch_worktree(run, with_it) as scratch:
        done = await _run(run, scratch, command, canary, suites, by_name=bool(before.tests))
    if done.exit_code is None:
        problem = done.problem or "it did not answer"
        return CanaryResult(command=command, path=canary.path, name=canary.name, problem=problem)
    return CanaryResult(
        command=command,
        path=canary.path,
        name=canary.name,
        caught=_is_noticed(done, canary, before),
        seconds=done.seconds,
    )


async def _run(
    run: Run,
    scratch: ScratchWorktree,
    command: str,
    canary: Canary,
    suites: Sequence[Suite],
    *,
    by_name: bool,
) -> CommandRun:
    if by_name and canary.only and (done := await run_only(run.commands, scratch, suites, canary.only)):
        return done
    return await run_counted(run.commands, scratch, command)


def _is_noticed(done: CommandRun, canary: Canary, before: TestCount) -> bool:
    """Whether the command noticed: by its exit code, or by one more failed test if others fail anyway."""
    failed, known = set(names_of(done.count, TestState.FAILED)), set(names_of(before, TestState.FAILED))
    if any(canary.name in name for name in failed - known):
        return True
    return bool(failed - known) if failed & known else done.exit_code != 0
