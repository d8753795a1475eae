"""The base's tests on the finished work, with everything as it was that decides what they say.

The base decides what belongs to that: its files of tests, their helpers and data, and the configuration and
scripts of its commands. What the work changed of it is put back, what it added is taken out. Tests that were
red count too, if the spec asks for them. (product.md, section 12)
"""

import re
import sys
from collections.abc import Collection
from pathlib import PurePosixPath

from orchestrator.git.scratch import files_in, pieced_together, renamed_files
from orchestrator.run.evidence.changes import is_of, is_test_data, leaf_of, of_files
from orchestrator.run.evidence.comparison import (
    BaseTestResults,
    ResultComparison,
    inline_among,
    run_on,
    with_tests_of,
)
from orchestrator.run.evidence.summary import cause_of, readable
from orchestrator.run.evidence.verification import flaky_at_the_base
from orchestrator.run.record import Run
from state.records.commands import CommandRun, TestState
from state.records.reviews import TestChange, TestChangeKind
from state.words import listed, names_of

_OUTPUT_KEPT = 1_500  # characters of a failing test's output
_ASKS_FOR_THE_SUITE = re.compile(
    r"\b(?:all|every|whole|entire|full|existing|failing|red)\b[^.\n]{0,40}\b(?:tests?|suite|specs?)\b[^.\n]{0,60}"
    r"\b(?:pass(?:es|ing)?|green|succeeds?|fixed)\b"
    r"|\b(?:make|get|turn|fix)\b[^.\n]{0,60}\b(?:tests?|suite)\b",
    re.IGNORECASE,
)
_LEAST_NAME = 4  # characters: a shorter name stands in any text
_PYTHON = re.compile(r"^(?:src/)?(\w+)(?:\.py$|/)")


async def base_tests(run: Run, subject: ResultComparison) -> BaseTestResults:
    """Run a command with the base's tests, and everything of theirs, on the new product.

    Each test that passed at the base has to pass, and each that was red and that the spec asks for.
    """
    before = subject.before
    if before is None or not before.answered:
        return BaseTestResults()
    mixed, files = await _as_at_the_base(run, subject)
    files = files if of_files(before.count.tests, files) else []
    now = subject.now if mixed == subject.tree else await run_on(run, subject, mixed, files)
    if not before.count.tests:
        return await _unnamed(run, subject, before, now)
    passed = names_of(before.count, TestState.PASSED)
    failing = [name for name in (of_files(passed, files) if files else passed) if not _passes(name, now)]
    if failing and mixed != subject.tree:
        again = await run_on(run, subject, mixed, files)
        unsteady = [name for name in failing if _passes(name, again)]
        flaky = await flaky_at_the_base(run, subject.command, unsteady)
        failing = [name for name in failing if name not in flaky]
    elif mixed == subject.tree:
        failing = []  # the verification itself has judged them
    red = list(names_of(before.count, TestState.FAILED))
    red = [
        name
        for name in red
        if not _passes(name, now if not files or of_files([name], files) else subject.now)
    ]
    asked = [name for name in red if _is_the_specs(name, run.started.spec_text, subject.touched.held)]
    changes = [_change(subject, name, now) for name in (*failing, *asked)]
    left = [name for name in red if name not in asked]
    told = (
        f"whether the work matters to {listed(left)}, which failed before and fail now in `{subject.command}`"
    )
    return BaseTestResults(changes=tuple(changes), untold=(told,) if left and mixed != subject.tree else ())


async def _as_at_the_base(run: Run, subject: ResultComparison) -> tuple[str, list[str]]:
    """Return the new tree with the base's test environment, and without what the work added to it.

    Also returns the files that decide all of it, if only files of tests were put back, else none.
    """
    touched, repository = subject.touched, run.repository
    at_base = set(await files_in(repository, subject.base))
    inline = await inline_among(repository, subject.base, list(touched.held))
    added = [
        path for path in (*touched.code, *touched.new) if path not in at_base and _is_added(path, touched.new)
    ]
    paths = [path for path in (*touched.as_it_was, *added) if path not in inline]
    mixed = await pieced_together(repository, subject.tree, of=subject.base, paths=paths)
    alone = set(paths) <= {*touched.held, *touched.new} and not inline
    tree = await with_tests_of(repository, mixed, of=subject.base, paths=inline)
    return tree, list(touched.held) if alone else []


def _is_added(path: str, new_tests: Collection[str]) -> bool:
    """Whether a new file belongs to the tests: in their folders, or a shadow of a module of Python's own."""
    module = _PYTHON.match(path)
    return path in new_tests or is_test_data(path) or bool(module and module[1] in sys.stdlib_module_names)


async def _unnamed(
    run: Run, subject: ResultComparison, before: CommandRun, now: CommandRun
) -> BaseTestResults:
    """Return the results where nothing names the tests: files of the base that fail, or that are gone."""
    paths = subject.touched.as_it_was
    there = await files_in(run.repository, subject.tree)
    moved = await renamed_files(run.repository, subject.base, subject.tree)
    gone = [path for path in subject.touched.held if path not in there and path not in moved]
    lost = tuple(TestChange(test="", path=path, kind=TestChangeKind.GONE) for path in gone)
    if before.exit_code == 0 and now.exit_code != 0:
        changes = [
            TestChange(test="", path=path, kind=TestChangeKind.FAILS, detail=_end_of(now)) for path in paths
        ]
        return BaseTestResults(changes=tuple(changes))
    if before.exit_code != 0 and now.exit_code != 0 and paths:
        told = (
            f"whether the work passes {listed(paths)} as at the base: `{subject.command}` fails at the base "
            f"too ({cause_of(before)}). Read the change of these tests"
        )
        return BaseTestResults(untold=(told,), changes=lost)
    return BaseTestResults(changes=lost)


def _passes(name: str, done: CommandRun) -> bool:
    return done.count.tests.get(name) is TestState.PASSED


def _is_the_specs(name: str, spec: str, files: Collection[str]) -> bool:
    """Whether the spec asks for a test that failed at the base: by name, by file, or for the suite.

    `files` are files of tests that the work touched.
    """
    leaf = re.sub(r"\W.*$", "", leaf_of(name))
    if _ASKS_FOR_THE_SUITE.search(spec) or (len(leaf) >= _LEAST_NAME and leaf in spec):
        return True
    return any(is_of(name, file) and (file in spec or PurePosixPath(file).name in spec) for file in files)


def _change(subject: ResultComparison, name: str, now: CommandRun) -> TestChange:
    path = next((path for path in subject.touched.held if is_of(name, path)), "")
    return TestChange(test=name, path=path, kind=TestChangeKind.FAILS, detail=_end_of(now))


def _end_of(done: CommandRun) -> str:
    return readable(done.output_tail, _OUTPUT_KEPT)
