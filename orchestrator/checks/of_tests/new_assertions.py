"""Each new assertion decides: turned to its opposite, its test has to fail.

If a test passes either way, the assertion never runs, is not awaited, or asserts nothing: an empty table, a
loop of zero rounds, a callback without a caller, a shell test without `-e`. The files of tests that the work
touched are run. In each run every test has one assertion turned, so there are as many runs as a test has
assertions. An assertion under a condition counts only if no other decides in its test: an honest test may be
for another platform. (product.md, section 12)
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from agents.concurrency import aside
from orchestrator.checks.answers import Answers
from orchestrator.checks.bench import Bench
from orchestrator.checks.change import Change
from orchestrator.checks.comparison import ResultComparison
from orchestrator.checks.names_of_tests import is_of
from orchestrator.checks.objecting import NEW_ASSERTIONS, undecided, unknown
from orchestrator.checks.results.output import cause_of
from orchestrator.checks.results.running import run_on
from orchestrator.git.trees import contents_at, with_contents
from orchestrator.project.files import changed_lines
from orchestrator.project.functions.assertions import Assertion, assertions_of, turned
from state.records.commands import CommandRun, TestState
from state.words import names_of

_RUNS = 8
_MOST_FILES = 60
_LARGEST = 300_000  # bytes of a file


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """An assertion in a file, and the names of the tests that it may fail, if the runner tells any."""

    file: str
    assertion: Assertion
    tests: tuple[str, ...]

    @property
    def place(self) -> str:
        return f"{self.file}:{self.assertion.line}"


async def ask(change: Change, bench: Bench, compared: ResultComparison, _: Answers) -> Answers:
    """Return the new assertions by which no test decides."""
    files = [*compared.touched.new, *compared.touched.held][:_MOST_FILES]
    after = await contents_at(change.repository, change.tree, files, largest=_LARGEST)
    before = await contents_at(change.repository, change.base, files, largest=_LARGEST)
    passed = names_of(compared.now.count, TestState.PASSED)
    finding = partial(_assertions, before, after, passed, is_named=bool(compared.now.count.tests))
    asked = await aside(finding, "the tests of the work")
    decided, undone = set[str](), [one for one in asked if one.assertion.idle]
    for group in _rounds([one for one in asked if not one.assertion.idle]):
        if not bench.asks(NEW_ASSERTIONS):
            break
        done = await _run(change, bench, compared, after, group)
        if done.missing or done.exit_code is None:
            told = f"whether each new assertion of `{compared.command}` decides: {cause_of(done)}"
            return Answers(objections=(unknown(NEW_ASSERTIONS, compared.command, told),))
        for one in group:
            if _passes(one, done):
                undone.append(one)
            else:
                decided.update(one.tests or ("",))
    left = [one for one in undone if not one.assertion.conditional or decided.isdisjoint(one.tests or ("",))]
    if not left:
        return Answers()
    left.sort(key=lambda one: (one.file, one.assertion.line))
    tests = dict.fromkeys(name for one in left for name in one.tests)
    return Answers(objections=(undecided(compared.command, [one.place for one in left], tests),))


def _assertions(
    before: Mapping[str, bytes], after: Mapping[str, bytes], tests: Sequence[str], *, is_named: bool
) -> list[_Asked]:
    found = []
    for file, content in after.items():
        (_, _), (_, lines) = changed_lines(before.get(file, b""), content)
        own = [name for name in tests if is_of(name, file)] or tests
        for one in assertions_of(file, content, frozenset(lines)):
            holding = _holding(one, own)
            if holding or not is_named:
                found.append(_Asked(file=file, assertion=one, tests=holding))
    return found


def _holding(assertion: Assertion, tests: Iterable[str]) -> tuple[str, ...]:
    """Return the tests of an assertion, by the innermost function or block around it that names some."""
    every = list(tests)
    for title in reversed(assertion.within):
        word = re.compile(rf"(?<!\w){re.escape(title)}(?!\w)") if title else None
        if word and (found := tuple(name for name in every if word.search(name))):
            return found
    return ()


def _rounds(asked: Iterable[_Asked]) -> list[list[_Asked]]:
    """Return what is turned in each run: of each test one assertion, of tests without names one in all."""
    rounds: list[list[_Asked]] = []
    taken: list[set[str]] = []
    for one in asked:
        keys = set(one.tests) or {""}
        free = next((number for number, names in enumerate(taken) if names.isdisjoint(keys)), len(rounds))
        if free == len(rounds):
            rounds.append([])
            taken.append(set())
        rounds[free].append(one)
        taken[free] |= keys
    return rounds[:_RUNS]


async def _run(
    change: Change,
    bench: Bench,
    compared: ResultComparison,
    after: Mapping[str, bytes],
    group: Sequence[_Asked],
) -> CommandRun:
    files = list(dict.fromkeys(one.file for one in group))
    contents = {
        file: turned(after[file], [one.assertion for one in group if one.file == file]) for file in files
    }
    tree = await with_contents(change.repository, change.tree, contents)
    # A command that names no test may load a file of tests otherwise than as a program.
    return await run_on(bench, compared, tree, files if compared.now.count.tests else [])


def _passes(one: _Asked, done: CommandRun) -> bool:
    """Whether the tests of a turned assertion pass all the same. A file that no longer loads says nothing."""
    if not one.tests:
        return done.passed and bool(done.count.ran is None or done.count.ran)
    return all(done.count.tests.get(name) is TestState.PASSED for name in one.tests)
