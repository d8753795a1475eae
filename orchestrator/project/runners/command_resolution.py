"""Follows a command through the project's files, by way of carriers, to the runners it starts in the end."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from orchestrator.project.runners.reading import text_of
from orchestrator.project.runners.recognise import recognised
from orchestrator.project.runners.row import Runner
from orchestrator.project.runners.suite import Suite, SuiteRun
from orchestrator.project.runners.task_runners.justfile import just_steps
from orchestrator.project.runners.task_runners.makefile import make_steps
from orchestrator.project.runners.task_runners.python_envs import hatch_steps, nox_steps, tox_steps
from orchestrator.project.runners.task_runners.rakefile import rake_steps
from orchestrator.project.runners.task_runners.scripts import composer_steps, package_steps
from orchestrator.project.runners.task_runners.step import ShellStep
from orchestrator.project.shell import Simple, simple_commands

_Steps = Callable[[Simple, Path], list[ShellStep] | None]
_CARRIERS: Mapping[str, _Steps] = {
    "make": make_steps,
    "just": just_steps,
    "npm": package_steps,
    "pnpm": package_steps,
    "yarn": package_steps,
    "bun": package_steps,
    "composer": composer_steps,
    "tox": tox_steps,
    "nox": nox_steps,
    "hatch": hatch_steps,
    "rake": rake_steps,
}
_DEEPEST = 8
_MOST = 200
_HIDDEN_RUN = re.compile(r"\bhatch\s+run\b")  # `simple_commands` takes this off as a wrapper
_CANNOT_GROW = re.compile(r"[)}&;#|]\s*$|(?:^|\s)#|\b(?:ba|da|z)?sh\s+(?:-\w+\s+)*-\w*c\b|<<")


def suite_of(command: str, folder: Path) -> Suite:
    """Return the suite of a command line that runs in `folder`."""
    return Suite(command=command, folder=folder, runs=runs_of(command, folder))


def runs_of(command: str, folder: Path) -> tuple[SuiteRun, ...]:
    """Return everything that a command runs in the end, in order, as far as the project's files show it."""
    found: list[SuiteRun] = []
    for run in _followed(ShellStep(line=command, folder=folder, passes=""), (), 0):
        found.append(run)
        if len(found) >= _MOST:
            break
    return tuple(found)


def _followed(step: ShellStep, through: tuple[Runner, ...], depth: int) -> Iterator[SuiteRun]:
    folder = step.folder
    simples = simple_commands(_HIDDEN_RUN.sub("hatch -- run", step.line))
    for simple in simples:
        if simple.name in {"cd", "pushd"} and simple.plain:
            folder = Path(os.path.normpath(folder / simple.plain[0]))
        known = recognised(simple, folder)
        grows = simple.is_last and not _CANNOT_GROW.search(step.line)
        run = SuiteRun(
            simple=known.simple,
            line=step.line,
            folder=folder,
            runner=known.runner,
            runs_tests=known.runs_tests,
            through=through,
            passes=step.passes if grows else None,
            grows=grows,
            programs=step.programs,
            choose=step.choose,
            replaces=step.replaces,
            elsewhere=step.elsewhere,
        )
        yield from _inside(run, known.script, depth)


def _inside(run: SuiteRun, script: Path | None, depth: int) -> Iterator[SuiteRun]:
    """Yield the runs inside a carrier or a script of the project, or the run itself if it is neither."""
    steps: list[ShellStep] | None = None
    through = run.through
    if run.runner is not None and run.runner.carrier and run.runs_tests is None:
        steps = _CARRIERS[run.runner.name](run.simple, run.folder)
        through = (*through, run.runner)
    elif script is not None:
        steps = [ShellStep(line=re.sub(r"(?m)^#!.*\n", "", text_of(script)), folder=run.folder)]
    if steps is None or depth >= _DEEPEST:
        yield run
        return
    for step in steps:
        passes = None if step.passes is None or run.passes is None else _joined(run.passes, step.passes)
        if step.passes is not None and run.passes is not None and "--" in run.simple.words:
            passes = run.passes  # arguments pass already
        yield from _followed(
            ShellStep(
                line=step.line,
                folder=step.folder,
                passes=passes,
                programs=step.programs or run.programs,
                choose=step.choose,
                replaces=step.replaces or run.replaces,
                elsewhere=step.elsewhere or run.elsewhere,
            ),
            through,
            depth + 1,
        )


def _joined(outer: str, inner: str) -> str | None:
    """Return the text in front of arguments that pass through both, or None if it would need `--` twice."""
    return None if outer and inner else outer or inner
