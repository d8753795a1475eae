"""A command that checks a project, with the commands it runs in the end and the files that affect it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from orchestrator.project.runners.paths import matches
from orchestrator.project.runners.reading import text_of
from orchestrator.project.runners.row import Runner
from orchestrator.project.shell import Simple

_SCRIPTS = re.compile(r"(?:^|\s|/)([\w./-]+\.(?:sh|bash|py|rb|js|mjs|pl))\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRun:
    """One command that a suite runs in the end, with the shell line and the folder it stands in.

    `runs_tests` is None if unknown. `through` are the carriers that lead to it, outermost first. `passes` is
    the text between the suite's command and appended arguments that lets them reach this command, None if
    they cannot reach it. `grows`: arguments appended to `line` are arguments of this command. `programs` is a
    folder in front of PATH. `choose` is a command that takes files, to be used instead of `line`. `replaces`
    and `elsewhere` are those of its step.
    """

    simple: Simple
    line: str
    folder: Path
    runner: Runner | None = None
    runs_tests: bool | None = None
    through: tuple[Runner, ...] = ()
    passes: str | None = None
    grows: bool = False
    programs: str = ""
    choose: str = ""
    replaces: bool = False
    elsewhere: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A command, the folder it runs in, and everything it runs in the end, as far as that is known."""

    command: str
    folder: Path
    runs: tuple[SuiteRun, ...]

    @property
    def test_runs(self) -> tuple[SuiteRun, ...]:
        """The runs of rows that run tests."""
        return tuple(run for run in self.runs if run.runs_tests and run.runner is not None)

    @property
    def runners(self) -> tuple[Runner, ...]:
        """The rows that run tests in the end, each once."""
        return tuple(
            {run.runner.name: run.runner for run in self.test_runs if run.runner is not None}.values()
        )

    @property
    def carriers(self) -> tuple[Runner, ...]:
        """The rows through which it runs the tests, each once."""
        rows = [row for run in self.runs for row in run.through]
        rows += [run.runner for run in self.runs if run.runner is not None and run.runner.carrier]
        return tuple({row.name: row for row in rows}.values())

    @property
    def runs_tests(self) -> bool | None:
        """Whether it runs tests. False only if every command in it is known to run none, None if unknown."""
        told = [run.runs_tests for run in self.runs]
        if True in told:
            return True
        return None if None in told or not told else False

    def test_files(self, paths: Iterable[str]) -> list[str]:
        """Return those of the relative paths that hold tests.

        The text of a file is read if its name alone does not decide. A missing file is judged by its name.
        """
        return [path for path in paths if any(self.holds_tests(run, path) for run in self.test_runs)]

    def holds_tests(self, run: SuiteRun, path: str) -> bool:
        """Whether a relative path holds tests of this run."""
        inside = self._inside(run, path)
        if inside is None or run.runner is None:
            return False
        for files in run.runner.tests:
            if matches(inside, files.globs):
                text = text_of(self.folder / path) if files.contains else ""
                if not text or re.search(files.contains, text):
                    return True
        return False

    def deciders(self, paths: Iterable[str]) -> list[str]:
        """Return the paths that decide how its tests run: configuration, shadowing files, scripts."""
        return [path for path in paths if self._decides(path)]

    def manifests(self, paths: Iterable[str]) -> list[str]:
        """Return the paths that list dependencies and scripts."""
        rows = [*self.runners, *self.carriers]
        return [path for path in paths if any(matches(path, row.manifests) for row in rows)]

    def _decides(self, path: str) -> bool:
        if any(path == script.removeprefix("./") for script in _SCRIPTS.findall(self.command)):
            return not self.test_files([path])
        if any(matches(path, row.deciders) for row in self.carriers):
            return True
        for run in self.test_runs:
            inside = self._inside(run, path)
            if run.runner is not None and inside is not None and matches(inside, run.runner.deciders):
                return True
            if run.runner is not None and matches(
                path, [one for one in run.runner.deciders if "/" not in one]
            ):
                return True
        return False

    def _inside(self, run: SuiteRun, path: str) -> str | None:
        """Return a path relative to the folder of a run, or None if it lies outside."""
        full = self.folder / path
        return full.relative_to(run.folder).as_posix() if full.is_relative_to(run.folder) else None
