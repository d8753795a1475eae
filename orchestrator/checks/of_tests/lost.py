"""Tests of the base that no command runs any more."""

from collections.abc import Callable, Mapping, Sequence

from orchestrator.checks.answers import Answers
from orchestrator.checks.change import Change
from orchestrator.checks.names_of_tests import leaf_of, place_of, tests_below, unnumbered
from orchestrator.checks.objecting import BASE_TESTS, unknown
from orchestrator.checks.results.verdict import Judged
from state.records.commands import CommandRun, TestState
from state.records.reviews import TestChange, TestChangeKind


def ask(change: Change, found: Sequence[Judged]) -> Answers:
    """Return the base's tests that no command runs any more. Another command may run a test now."""
    before: dict[str, TestState] = {}
    after: dict[str, TestState] = {}
    for one in found:
        count = one.run.count
        after |= count.tests
        earlier = change.before(one.run.command)
        if earlier and (count.tests or count.says_none or one.run.nothing_yet):  # else unknown now
            before |= earlier.count.tests
    return Answers(changes=tuple(lost_tests(before, after)))


def fewer(change: Change, now: CommandRun) -> Answers:
    """Return that a command ran fewer tests than before, if it does not name them."""
    earlier = change.before(now.command)
    before, after = earlier.count.ran if earlier else None, now.count.ran
    if now.count.tests or before is None or after is None or after >= before:
        return Answers()
    told = f"which tests are gone: `{now.command}` ran {before} before and runs {after}, and names none"
    return Answers(objections=(unknown(BASE_TESTS, now.command, told),))


def lost_tests(before: Mapping[str, TestState], after: Mapping[str, TestState]) -> list[TestChange]:
    """Return the tests that ran before and are gone or skipped. Renamed or moved tests are not gone."""
    ran = {name for name, state in before.items() if state is not TestState.SKIPPED}
    now = [name for name, state in after.items() if state is TestState.SKIPPED and name in ran]
    skipped = [TestChange(test=name, kind=TestChangeKind.SKIPPED) for name in now]
    added = [name for name in after if name not in before and after[name] is not TestState.SKIPPED]
    gone = [name for name in before if name in ran - set(after)]
    left = [name for name in gone if before[name] is not TestState.FAILED or not tests_below(name, after)]
    for mark in (leaf_of, unnumbered, place_of):
        left = _without_pairs(left, added, mark)
    return [*skipped, *(TestChange(test=name, kind=TestChangeKind.GONE) for name in left)]


def _without_pairs(gone: list[str], added: list[str], mark: Callable[[str], str]) -> list[str]:
    """Return the tests without an added one of the same mark. Each added one replaces only one test."""
    left = []
    for name in gone:
        same = next((one for one in added if mark(one) == mark(name)), None)
        if same is None:
            left.append(name)
        else:
            added.remove(same)
    return left
