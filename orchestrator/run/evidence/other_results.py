"""Tests of the work that expect another result: each has to fail, as `orchestrator.project` alters them.

A product that reads the test, looks at it, or returns what equals anything, passes them too. So does a test
that compares nothing. They are run beside the canary, inside the whole command. (product.md, section 12)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agents.concurrency import aside
from orchestrator.git.trees import contents_at, files_in
from orchestrator.project.functions.expectations import with_other_results
from orchestrator.project.runners.canary import Canary
from orchestrator.project.runners.suite import suite_of
from orchestrator.run.evidence.changes import is_of
from orchestrator.run.evidence.comparison import ResultComparison
from orchestrator.run.record import Run
from state.records.commands import TestCount, TestState
from state.words import names_of

_MOST_FILES = 100
_MOST_TESTS = 200
_LARGEST = 500_000  # bytes of a file


@dataclass(frozen=True, kw_only=True)
class OtherResults:
    """Files of tests that expect other results. `titled` are names of tests that share one text each."""

    files: Mapping[str, str]
    titled: Sequence[tuple[str, ...]]

    @property
    def tests(self) -> frozenset[str]:
        """The names of these tests."""
        return frozenset(name for names in self.titled for name in names)

    def passing(self, count: TestCount) -> list[str]:
        """Return the tests that pass nevertheless. One text passes if it does so with all its parameters."""
        passed = set(names_of(count, TestState.PASSED))
        return [names[0] for names in self.titled if passed.issuperset(names)]


async def other_results(run: Run, subject: ResultComparison, canary: Canary) -> OtherResults | None:
    """Return the tests that pass with the work and did not at the base, expecting other results.

    A file that holds the canary keeps it. Returns None if the command names no tests, or none of them asserts that something equals a plain value.
    """
    before = subject.before.count.tests if subject.before else {}
    passed = names_of(subject.now.count, TestState.PASSED)
    tests = [name for name in passed if before.get(name) is not TestState.PASSED][:_MOST_TESTS]
    if not tests:
        return None
    every = await files_in(run.repository, subject.tree)
    async with run.evidence.scratch_worktree(run, subject.tree) as scratch:
        holding = suite_of(subject.command, scratch.folder).test_files(sorted(every))
    own = [path for path in holding if any(is_of(name, path) for name in tests)]
    paths = (own or holding)[:_MOST_FILES]
    contents = await contents_at(run.repository, subject.tree, paths, largest=_LARGEST)
    if canary.path in contents:
        contents = {**contents, canary.path: canary.content.encode()}
    others = [name for name in subject.now.count.tests if name not in set(tests)] + [*canary.names]
    return await aside(lambda: _altered(contents, tests, others), "the tests of the work")


def _altered(
    contents: Mapping[str, bytes], tests: Sequence[str], others: Sequence[str]
) -> OtherResults | None:
    files: dict[str, str] = {}
    titled: list[tuple[str, ...]] = []
    for path, content in contents.items():
        try:
            text = content.decode()
        except UnicodeDecodeError:
            continue
        own = [name for name in tests if is_of(name, path)]
        altered = with_other_results(text, own or tests, others)
        if altered.titles:
            files[path] = altered.text
            titled += altered.titles.values()
    return OtherResults(files=files, titled=titled) if files else None
