"""One command on a tree, compared with the tree that the work began with: the subject of the proofs.

A file that holds code and its tests is separated into the two.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator.git.diffs import changed_paths
from orchestrator.git.scratch import files_in, text_at, with_files
from orchestrator.project.runners.suite import Suite, suite_of
from orchestrator.run.evidence.changes import Touched, classified, touched
from orchestrator.run.evidence.verification import moved, run_counted, run_only
from orchestrator.run.record import Run
from state.records.commands import CommandRun
from state.records.reviews import TestChange

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


def tests_in(path: str, content: bytes) -> bytes:
    """Return the tests of an inline file, else the whole content."""
    if not is_inline(path, content.decode("utf-8", "replace")):
        return content
    return content.partition(_MARK.encode())[2]


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
