"""A command that checks a project, with the commands it runs in the end and the files that affect it.

It is followed through the project's build files, by way of task runners, to the runners of tests.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from orchestrator.project.build_files.packages import composer_steps, package_steps, turbo_steps
from orchestrator.project.build_files.python_envs import hatch_steps, nox_steps, tox_steps
from orchestrator.project.build_files.recipes import TASKS, just_steps, make_steps, rake_steps, task_steps
from orchestrator.project.build_files.step import ShellStep, text_of
from orchestrator.project.files import matches
from orchestrator.project.runners.recognise import recognised
from orchestrator.project.runners.row import Runner, Table
from orchestrator.project.runners.table import usual_table
from orchestrator.project.shell import Simple, simple_commands

_CHECKS = re.compile(r"(?:^|[/._-])(?:tests?|checks?|specs?|verify)(?:$|[/._-])")
_SCRIPTS = re.compile(r"(?:^|\s|/)([\w./-]+\.(?:sh|bash|py|rb|js|mjs|pl))\b")
_Steps = Callable[[Simple, Path], list[ShellStep] | None]
_CARRIERS: Mapping[str, _Steps] = {
    "make": make_steps,
    "just": just_steps,
    "npm": package_steps,
    "pnpm": package_steps,
    "yarn": package_steps,
    "bun": package_steps,
    "composer": composer_steps,
    "turbo": turbo_steps,
    "tox": tox_steps,
    "nox": nox_steps,
    "hatch": hatch_steps,
    "rake": rake_steps,
    **dict.fromkeys(TASKS, task_steps),
}
_COMPARING = frozenset({"[", "[[", "test", "diff", "cmp"})
_SEARCHING = frozenset({"grep", "egrep", "fgrep", "rg"})
_DEEPEST = 8
_MOST = 200
_HIDDEN_RUN = re.compile(r"\b(hatch|pixi)\s+run\b")  # `simple_commands` takes this off as a wrapper
_CANNOT_GROW = re.compile(r"[)}&;#|]\s*$|(?:^|\s)#|\b(?:ba|da|z)?sh\s+(?:-\w+\s+)*-\w*c\b|<<")


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRun(ShellStep):
    """One command that a suite runs in the end, and the step that it stands in.

    `runs_tests`, `family` and `lints` are as in `Recognised`. `through` are the carriers that lead to it, and
    `lines` the lines, its own among them, both outermost first. `passes` counts from the suite's command on.
    `grows`: arguments appended to `line` are arguments of this command.
    """

    simple: Simple
    runner: Runner | None = None
    runs_tests: bool | None = None
    family: str = ""
    lints: bool = False
    through: tuple[Runner, ...] = ()
    lines: tuple[str, ...] = ()
    grows: bool = False


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
    def lints(self) -> bool:
        """Whether a linter, a formatter or a type checker is among its commands."""
        return any(run.lints for run in self.runs)

    @property
    def runs_tests(self) -> bool | None:
        """Whether it runs tests. False only if every command in it is known to run none, None if unknown.

        Programs that compare may check results, unless a linter runs beside them.
        """
        told = [run.runs_tests for run in self.runs]
        if True in told:
            return True
        compares = not self.lints and any(
            one.name in _COMPARING or (one.name in _SEARCHING and one.decides)
            for one in (run.simple for run in self.runs)
        )
        return None if None in told or not told or compares else False

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
        lines = {line for run in self.runs for line in run.lines}
        if _CHECKS.search(path) and any(path == one for line in lines for one in _SCRIPTS.findall(line)):
            return not self.test_files([path])
        unknown = [run for run in self.runs if run.runner is None and run.runs_tests is None]
        if _CHECKS.search(path) and any(path in run.simple.words for run in unknown):
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


def suite_of(command: str, folder: Path, table: Table | None = None) -> Suite:
    """Return the suite of a command line that runs in `folder`. Without a table it is sq's own."""
    return Suite(command=command, folder=folder, runs=runs_of(command, folder, table))


def runs_of(command: str, folder: Path, table: Table | None = None) -> tuple[SuiteRun, ...]:
    """Return everything that a command runs in the end, in order, as far as the project's files show it."""
    step = ShellStep(line=command, folder=folder, passes="")
    return tuple(islice(_followed(step, (), (), table or usual_table()), _MOST))


def _followed(
    step: ShellStep, through: tuple[Runner, ...], lines: tuple[str, ...], table: Table
) -> Iterator[SuiteRun]:
    folder = step.folder
    for simple in simple_commands(_HIDDEN_RUN.sub(r"\1 -- run", step.line)):
        if simple.name in {"cd", "pushd"} and simple.plain:
            folder = Path(os.path.normpath(folder / simple.plain[0]))
        known = recognised(simple, folder, table)
        grows = simple.is_last and not _CANNOT_GROW.search(step.line)
        run = SuiteRun(
            simple=known.simple,
            line=step.line,
            folder=folder,
            runner=known.runner,
            runs_tests=known.runs_tests,
            family=known.family,
            lints=known.lints,
            through=through,
            lines=(*lines, step.line),
            passes=step.passes if grows else None,
            grows=grows,
            programs=step.programs,
            choose=step.choose,
            replaces=step.replaces,
            elsewhere=step.elsewhere,
        )
        yield from _inside(run, known.script, table)


def _inside(run: SuiteRun, script: Path | None, table: Table) -> Iterator[SuiteRun]:
    """Yield the runs inside a carrier or a script of the project, or the run itself if it is neither."""
    steps: list[ShellStep] | None = None
    through = run.through
    if run.runner is not None and run.runner.carrier and run.runs_tests is None:
        read = _CARRIERS.get(run.runner.name)
        steps = read(run.simple, run.folder) if read else None
        through = (*through, run.runner)
    elif script is not None:
        steps = [ShellStep(line=re.sub(r"(?m)^#!.*\n", "", text_of(script)), folder=run.folder)]
    if steps is None or len(run.lines) > _DEEPEST:
        yield run
        return
    for step in steps:
        passes = None if step.passes is None or run.passes is None else _joined(run.passes, step.passes)
        if step.passes is not None and run.passes is not None and "--" in run.simple.words:
            passes = run.passes  # arguments pass already
        inner = replace(
            step,
            passes=passes,
            programs=step.programs or run.programs,
            replaces=step.replaces or run.replaces,
            elsewhere=step.elsewhere or run.elsewhere,
        )
        yield from _followed(inner, through, run.lines, table)


def _joined(outer: str, inner: str) -> str | None:
    """Return the text in front of arguments that pass through both, or None if it would need `--` twice."""
    return None if outer and inner else outer or inner
