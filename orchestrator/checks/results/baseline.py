"""The baseline: what the commands say on the untouched tree, which decides how their later results count.

(product.md, section 12)
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from orchestrator.checks.asking import asks
from orchestrator.checks.bench import Bench, ScratchWorktree
from orchestrator.checks.change import Baseline, Change
from orchestrator.checks.results.canary import make_canary, try_canary
from orchestrator.checks.results.environment import fingerprint_of
from orchestrator.checks.results.running import run_counted
from orchestrator.checks.results.vouching import shown_commands
from orchestrator.git.workspace import put_tracked_back
from orchestrator.project.configured_checks import configured_checks
from orchestrator.project.detection import detect
from orchestrator.project.runners.endless import WAITS, never_ends
from orchestrator.project.runners.suite import Suite, suite_of
from state.records.commands import BaselineCheck, BaselineOutcome, CanaryResult, CommandRun
from state.words import OTHER_FORM

CHOSEN = "--verify"


def sources_of(given: Baseline, folder: Path) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the commands to run and where each was found, and why checks are left out."""
    also = dict.fromkeys(given.also, CHOSEN)
    if not given.verify:
        shown, left_out = shown_commands(folder)
        return shown | also, left_out
    chosen = dict.fromkeys(given.verify, CHOSEN) | also
    words = {one for command in chosen for one in words_of(suite_of(command, folder))}
    tests = {one.command: one.source for one in detect(folder)}
    others = {one: tests[one] for one in tests if not words.issuperset(words_of(suite_of(one, folder)))}
    checks = configured_checks(folder, tuple(chosen)).commands.items()
    suites = [f"`{one}` ({source}) {OTHER_FORM}" for one, source in others.items()]
    told = (
        f"`{one}` ({source}) is left out: --verify names others"
        for one, source in checks
        if one not in others
    )
    return chosen, (*suites, *told)


async def checks_on(
    bench: Bench, repository: Path, scratch: ScratchWorktree, sources: Mapping[str, str]
) -> list[BaselineCheck]:
    """Run the commands on the untouched tree, and return what they say there. Each has its source."""
    checks: list[BaselineCheck] = []
    for nth, (command, source) in enumerate(sources.items(), 1):
        asks(nth=nth, of=len(sources))
        why = never_ends(suite_of(command, scratch.folder), bench.commands.environ)
        waits = CommandRun(
            command=command, exit_code=None, seconds=0, output_tail="", problem=why, timed_out=True
        )
        if checks and bench.has_places:
            await put_tracked_back(scratch.folder)
        done = waits if why else await run_counted(bench.commands, scratch, command)
        chosen = source == CHOSEN
        outcome = outcome_of(done, chosen=chosen)
        checks.append(
            BaselineCheck(
                run=done,
                source=source,
                outcome=outcome,
                chosen=chosen,
                environment=await fingerprint_of(bench, repository, scratch, [command]),
            )
        )
    return checks


def outcome_of(done: CommandRun, *, chosen: bool = False) -> BaselineOutcome:
    """Return the meaning of a command's result on the base for the command itself."""
    if done.timed_out:
        is_waiting = not done.seconds or done.problem.startswith(WAITS)  # or it was not begun
        return BaselineOutcome.NEVER_ENDS if is_waiting else BaselineOutcome.TOO_LONG
    if done.broken:
        return BaselineOutcome.BROKEN
    if done.nothing_yet or done.count.says_none:
        return BaselineOutcome.NOTHING_YET
    if done.missing or done.exit_code is None:
        return BaselineOutcome.MISSING
    if done.exit_code and done.complaints == () and not chosen:
        return BaselineOutcome.UNREADABLE
    return BaselineOutcome.PASSES if done.exit_code == 0 else BaselineOutcome.FAILS


async def with_canary(change: Change, bench: Bench, check: BaselineCheck, suite: Suite) -> BaselineCheck:
    """Return the check with its canary's result, or unchanged if a canary is impossible or useless."""
    by_name = bool(check.run.count.tests)
    shows = check.outcome is BaselineOutcome.PASSES or (check.outcome is BaselineOutcome.FAILS and by_name)
    if not shows or suite.runs_tests is False:
        return check
    command = check.run.command
    asks("is a failing test noticed?")
    if not suite.test_runs:
        return replace(check, canary=CanaryResult(command=command, problem="it does not know the runner"))
    async with bench.place(change.repository, change.tree) as scratch:
        canary = make_canary([(suite_of(command, scratch.folder), check.run.count)])
    if canary is None:
        why = "no test that must fail could be made"
        return replace(check, canary=CanaryResult(command=command, problem=why))
    result = await try_canary(change, bench, command, canary, [suite], check.run.count)
    if not bench.has_places and result.caught:
        result = await _controlled(change, bench, command, result)
    return replace(check, canary=result)


async def _controlled(change: Change, bench: Bench, command: str, result: CanaryResult) -> CanaryResult:
    """Return the canary's result, unless a scratch worktree cannot run the command even without it."""
    async with bench.scratch(change.tree) as scratch:
        without = await run_counted(bench.commands, scratch, command)
    if without.exit_code == 0:
        return result
    problem = "in a scratch worktree, where sq uses the canary, the command fails without the canary too"
    return replace(result, caught=None, problem=problem)


def words_of(suite: Suite) -> list[tuple[str, ...]]:
    """Return the words of a command's runs, without the interpreter: `python -m pytest` is `pytest`."""
    return [one.simple.words for one in suite.runs]
