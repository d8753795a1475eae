"""Tests of the work that expect another result: each has to fail, as `orchestrator.project` alters them.

A product that reads the test, looks at it, or returns what equals anything, passes them too. So does a test
that compares nothing. Where the runner takes files, only theirs are run. (product.md, section 12)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from agents.concurrency import aside
from orchestrator.checks.answers import Answers
from orchestrator.checks.bench import Bench
from orchestrator.checks.change import Change
from orchestrator.checks.comparison import ResultComparison
from orchestrator.checks.names_of_tests import is_of
from orchestrator.checks.objecting import OTHER_RESULTS, compares_nothing, loose, unknown
from orchestrator.checks.results.output import cause_of
from orchestrator.checks.results.running import run_on
from orchestrator.git.trees import contents_at, files_in, with_files
from orchestrator.project.functions.expectations import comparing_nothing, with_other_results
from orchestrator.project.runners.suite import suite_of
from state.records.commands import TestState
from state.words import names_of

_MOST_FILES = 100
_MOST_TESTS = 200
_LARGEST = 500_000  # bytes of a file


@dataclass(frozen=True, kw_only=True)
class NewTests:
    """Of the tests that pass with the work and did not at the base, those that show little.

    `loose` pass expecting other results too. `comparing_nothing` only assert that there is a result, or of
    which type it is. `problem`: why the command did not answer.
    """

    loose: list[str] = field(default_factory=list)
    comparing_nothing: list[str] = field(default_factory=list)
    problem: str = ""


async def ask(change: Change, bench: Bench, compared: ResultComparison, known: Answers) -> Answers:
    """Return that new tests pass expecting other results too, or that none that needs the work compares."""
    new = await new_tests(change, bench, compared)
    if new.problem:
        told = f"whether the new tests of `{compared.command}` pass with other results: {new.problem}"
        return Answers(objections=(unknown(OTHER_RESULTS, compared.command, told),))
    found = [loose(compared.command, new.loose)] if new.loose else []
    needing = set(known.without_work[-1].failing) if known.without_work else set()
    if needing and needing.issubset(new.comparing_nothing):
        found.append(compares_nothing(compared.command, sorted(needing)))
    return Answers(objections=tuple(found))


async def new_tests(change: Change, bench: Bench, compared: ResultComparison) -> NewTests:
    """Return which new tests show little. Those that expect other results are run.

    One text counts if it passes with all its parameters. A command that names no tests is not asked, and
    neither is a test that asserts of no plain value that something equals it.
    """
    before = compared.before.count.tests if compared.before else {}
    passed = names_of(compared.now.count, TestState.PASSED)
    tests = [name for name in passed if before.get(name) is not TestState.PASSED][:_MOST_TESTS]
    if not tests:
        return NewTests()
    every = await files_in(change.repository, change.tree)
    async with bench.scratch(change.tree) as scratch:
        holding = suite_of(compared.command, scratch.folder).test_files(sorted(every))
    own = [path for path in holding if any(is_of(name, path) for name in tests)]
    contents = await contents_at(
        change.repository, change.tree, (own or holding)[:_MOST_FILES], largest=_LARGEST
    )
    others = [name for name in compared.now.count.tests if name not in set(tests)]
    reading = partial(_altered, contents, tests, others)
    files, texts, idle = await aside(reading, "the tests of the work")
    if not files:
        return NewTests(comparing_nothing=idle)
    tree = await with_files(change.repository, change.tree, files)
    done = await run_on(bench, compared, tree, list(files))
    if not done.answered:
        return NewTests(problem=cause_of(done))
    passing = set(names_of(done.count, TestState.PASSED))
    loose = [names[0] for names in texts if passing.issuperset(names)]
    return NewTests(loose=loose, comparing_nothing=idle)


def _altered(
    contents: Mapping[str, bytes], tests: Sequence[str], others: Sequence[str]
) -> tuple[dict[str, str], list[tuple[str, ...]], list[str]]:
    """Return files with other results, the names of tests that share one altered text each, and idle tests.

    Idle ones compare nothing.
    """
    files: dict[str, str] = {}
    texts: list[tuple[str, ...]] = []
    idle: list[str] = []
    for path, content in contents.items():
        try:
            text = content.decode()
        except UnicodeDecodeError:
            continue
        own = [name for name in tests if is_of(name, path)] or tests
        idle += comparing_nothing(text, own, others)
        altered = with_other_results(text, own, others)
        if altered.titles:
            files[path] = altered.text
            texts += altered.titles.values()
    return files, texts, idle
