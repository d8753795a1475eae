"""One command on a tree, compared with the tree that the work began with: the subject of the proofs.

Tests as they were: the base's tests that the work changed or removed are run on the new code. A test that was
weakened, skipped, deleted, or made to pass by a configuration fails in this run. A file that holds code and
its tests is separated into the two.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from orchestrator.git.scratch import files_in, pieced_together, renamed_files, text_at, with_files
from orchestrator.git.workspace import changed_paths
from orchestrator.project.runners.suite import Suite, suite_of
from orchestrator.run.evidence.changes import Touched, classified, is_of, lost_tests, touched
from orchestrator.run.evidence.summary import cause_of, readable
from orchestrator.run.evidence.verification import moved, run_counted, run_only
from orchestrator.run.record import Run
from state.records.commands import CommandRun, TestState
from state.records.reviews import TestChange, TestChangeKind
from state.words import listed, names_of

_MARK = "#[cfg(test)]"
_INLINE = (".rs",)
_OUTPUT_KEPT = 1_500  # characters of a failing test's output


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultComparison:
    """A command's result `now` on `tree`, and its result `before` on `base`, if that is known.

    `there` and `here` are the command's suites at the base and in the tree.
    """

    command: str
    base: str
    tree: str
    there: Suite
    here: Suite
    before: CommandRun | None
    now: CommandRun
    touched: Touched

    @property
    def suites(self) -> list[Suite]:
        """The command's suites at the base, then in the tree."""
        return [self.there, self.here]


async def subject_of(run: Run, now: CommandRun, base: str, tree: str) -> ResultComparison:
    """Compare a command on both trees.

    Raises:
        GitError: one of them cannot be put into a folder.
    """
    repository = run.repository
    changed = await changed_paths(repository, base, tree)
    counted = bool(now.count.ran)
    async with run.evidence.scratch_worktree(run, base) as scratch:
        there = suite_of(now.command, scratch.folder)
        by = [classified(there, changed, counted=counted)]
    async with run.evidence.scratch_worktree(run, tree) as scratch:
        here = suite_of(now.command, scratch.folder)
        by.append(classified(here, changed, counted=counted))
    sorted_ = touched(by, changed, await files_in(repository, base), await files_in(repository, tree))
    before = at_base(run, base, now.command)
    return ResultComparison(
        command=now.command,
        base=base,
        tree=tree,
        there=there,
        here=here,
        before=before,
        now=now,
        touched=sorted_,
    )


def at_base(run: Run, base: str, command: str) -> CommandRun | None:
    """Return a command's result on the tree that the work began with, else on the run's base."""
    verified = run.view.evidence.verifications.get(base)
    done = next((one for one in verified.runs if one.command == command), None) if verified else None
    if done is None and command in run.view.baseline.checks:
        return run.view.baseline.checks[command].run
    return done


async def run_on(run: Run, subject: ResultComparison, tree: str, files: Sequence[str]) -> CommandRun:
    """Run the test files on a tree, or all tests if none are named or the runner takes no files."""
    async with run.evidence.scratch_worktree(run, tree) as scratch:
        there = [file for file in files if (scratch.folder / file).is_file()]
        elsewhere = [moved(one, scratch.folder) for one in subject.suites]
        suites = [suite_of(subject.command, scratch.folder), *elsewhere]
        done = await run_only(run.commands, scratch, suites, there) if there else None
        return done or await run_counted(run.commands, scratch, subject.command)


def is_inline(path: str, text: str) -> bool:
    """Whether a file holds code and, after a mark, its tests."""
    return path.endswith(_INLINE) and _MARK in text


async def with_tests_of(repository: Path, tree: str, *, of: str, paths: list[str]) -> str:
    """Return the tree `tree` with these inline files' tests taken from the tree `of`."""
    files = {}
    for path in paths:
        code, tests = await text_at(repository, tree, path), await text_at(repository, of, path)
        if code and tests:
            files[path] = code.partition(_MARK)[0] + _MARK + tests.partition(_MARK)[2]
    return await with_files(repository, tree, files) if files else tree


async def inline_among(repository: Path, tree: str, paths: list[str]) -> list[str]:
    """Return those of the paths that are inline files in a tree."""
    candidates = [path for path in paths if path.endswith(_INLINE)]
    return [path for path in candidates if is_inline(path, await text_at(repository, tree, path))]


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
