"""Tests as they were: the base's tests that the work changed or removed, run on the new code.

A test that was weakened, skipped, deleted, or made to pass by a configuration fails in this run.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from orchestrator.git.scratch import files_in, pieced_together, renamed_files
from orchestrator.run.evidence.changes import is_of, lost_tests
from orchestrator.run.evidence.comparison import ResultComparison, inline_among, run_on, with_tests_of
from orchestrator.run.evidence.summary import cause_of, readable
from orchestrator.run.record import Run
from state.records.changed_tests import TestChange, TestChangeKind
from state.records.commands import CommandRun, TestState
from state.words import listed, names_of

_OUTPUT_KEPT = 1_500  # characters of a failing test's output


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseTestResults:
    """The tests that do not hold as they were, and the checks without an answer."""

    changes: tuple[TestChange, ...] = ()
    untold: tuple[str, ...] = ()


async def as_they_were(run: Run, subject: ResultComparison) -> BaseTestResults:
    """Run the base's tests that the work touched on the new code. Each that passed at the base has to pass.

    Tests that the work moved elsewhere are removed for this: two of one name would collide.
    """
    if not subject.touched.as_it_was:
        return BaseTestResults()
    mixed, files = await _with_old_tests(run, subject)
    if mixed == subject.tree:
        return BaseTestResults()
    answer = await _run_as_they_were(run, subject, mixed, files)
    return answer if subject.now.count.tests else await _with_gone(run, subject, answer)


async def _run_as_they_were(
    run: Run, subject: ResultComparison, mixed: str, files: list[str]
) -> BaseTestResults:
    paths = subject.touched.as_it_was
    now = await run_on(run, subject, mixed, files)
    if now.exit_code == 0 and not names_of(now.count, TestState.FAILED) and not now.count.says_none:
        return BaseTestResults(changes=tuple(_skipped(subject, now)) if not files else ())
    control = await run_on(run, subject, subject.base, files)
    if control.count.tests and (now.count.tests or now.exit_code):
        contradicted = _no_longer(names_of(control.count, TestState.PASSED), now)
        again = await run_on(run, subject, mixed, files) if contradicted else now
        steady = _no_longer(contradicted, again)
        return BaseTestResults(changes=tuple(_failing(subject, name, now) for name in steady))
    if control.exit_code == 0 and now.exit_code != 0:
        failing = partial(TestChange, test="", kind=TestChangeKind.FAILS, detail=_end_of(now))
        return BaseTestResults(changes=tuple(failing(path=path) for path in paths))
    if control.exit_code != 0:
        told = (
            f"whether the work passes {listed(paths)} as at the base: `{subject.command}` fails at the base "
            f"too ({cause_of(control)}). Read the change of these tests"
        )
        return BaseTestResults(untold=(told,))
    return BaseTestResults()


async def _with_old_tests(run: Run, subject: ResultComparison) -> tuple[str, list[str]]:
    """Return the tree with the old tests, and the files to run, empty for all if more than tests is old."""
    repository, held = run.repository, list(subject.touched.held)
    inline = await inline_among(repository, subject.base, held)
    moved = await renamed_files(repository, subject.base, subject.tree)
    paths = [path for path in subject.touched.as_it_was if path not in inline]
    paths += [new for old, new in moved.items() if old in held]
    mixed = await pieced_together(repository, subject.tree, of=subject.base, paths=paths)
    mixed = await with_tests_of(repository, mixed, of=subject.base, paths=inline)
    by_file = not (subject.touched.data or subject.touched.configuration or inline)
    return mixed, held if by_file else []


async def _with_gone(run: Run, subject: ResultComparison, answer: BaseTestResults) -> BaseTestResults:
    """Add the base's files of tests that the work removed and did not move, where nothing names the tests."""
    now = await files_in(run.repository, subject.tree)
    moved = await renamed_files(run.repository, subject.base, subject.tree)
    known = {*now, *moved, *(change.path for change in answer.changes)}
    gone = [path for path in subject.touched.held if path not in known]
    changes = [TestChange(test="", path=path, kind=TestChangeKind.GONE) for path in gone]
    return replace(answer, changes=(*answer.changes, *changes))


def _skipped(subject: ResultComparison, now: CommandRun) -> list[TestChange]:
    """Return the tests skipped with the old configuration. Tests that do not run are reported elsewhere."""
    before = subject.before.count.tests if subject.before else {}
    return [one for one in lost_tests(before, now.count.tests) if one.kind is TestChangeKind.SKIPPED]


def _no_longer(names: Sequence[str], now: CommandRun) -> list[str]:
    """Return those of the tests that did not pass now."""
    return [name for name in names if now.count.tests.get(name) is not TestState.PASSED]


def _failing(subject: ResultComparison, name: str, now: CommandRun) -> TestChange:
    path = next((path for path in subject.touched.held if is_of(name, path)), "")
    return TestChange(test=name, path=path, kind=TestChangeKind.FAILS, detail=_end_of(now))


def _end_of(done: CommandRun) -> str:
    return readable(done.output_tail, _OUTPUT_KEPT)
