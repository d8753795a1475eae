"""Python: an environment of the worktree's own, by its lock file, or by pip if the project needs one.

None is made for code that runs without installation, nor if `python3` has everything that the project
declares.
"""

import shlex
from collections.abc import Callable, Iterator, Sequence

from orchestrator.project.detection.rows import ways_of_rows
from orchestrator.project.files import MANIFESTS, Shown
from orchestrator.project.readiness.interpreter import Interpreter
from orchestrator.project.readiness.python_project import PythonProject, python_project
from orchestrator.project.readiness.steps import VENV, SetUpStep, at, below, key_of
from orchestrator.project.readiness.tools import tool_of
from orchestrator.project.runners.table import Table

_PIP = f"{VENV}/bin/python -m pip install --quiet --disable-pip-version-check"


def python_steps(
    shown: Shown,
    part: str,
    table: Table,
    python: Callable[[], Interpreter | None],
    *,
    from_checkout: Callable[[], bool],
) -> Iterator[SetUpStep]:
    """Yield the step for one folder (`part`, "" is the root) of the worktree, if it needs one.

    Args:
        shown: the worktree.
        part: the folder in it.
        table: the table of runners and tools.
        python: returns the interpreter that commands would run with.
        from_checkout: returns whether it has the project installed from the user's checkout.
    """
    here = shown.part(part) if part else shown
    project = python_project(here)
    runner = _runner(here, project, table)
    if tool := tool_of(here, "python", table):
        lock = here.first(*tool.locks)
        extras = "".join(tool.extra.format(name=name) for name in project.extras)
        command = tool.command.format(extras=extras, groups=tool.groups if project.wanted else "")
    else:
        found = python()
        if found is None or not _is_needed(project, found, from_checkout=from_checkout()):
            return
        tool, lock, command = table.tools["python3"], "", _pip(project, runner)
    version = found.version if (found := python()) else ""
    yield SetUpStep(
        command=at(part, command),
        ecosystem=tool.ecosystem,
        tool=tool.name,
        program=tool.name,
        why=below(part, (lock or here.first(*MANIFESTS, *project.files),))[0],
        makes=below(part, (VENV,)),
        key=key_of(here, (lock, *MANIFESTS, *project.files, ".python-version"), command, version),
        wants=None if project.open_ended else (*project.wants, *runner),
    )


def _is_needed(project: PythonProject, python: Interpreter, *, from_checkout: bool) -> bool:
    if project.built:
        return True
    if from_checkout:
        return not project.requires <= python.names
    installed = bool(project.name) and project.name in python.names
    unknown = project.open_ended and not installed
    unmet = not project.requires <= python.names
    return unmet or unknown or (project.installable and project.src and not installed)


def _pip(project: PythonProject, runner: Sequence[str]) -> str:
    words = []
    if project.installable:
        words += ["-e", f".[{','.join(project.extras)}]" if project.extras else "."]
    words += [word for name in project.files for word in ("-r", name)]
    words += project.wanted
    words += runner
    return f"python3 -m venv {VENV} && {_PIP} {shlex.join(words)}"


def _runner(here: Shown, project: PythonProject, table: Table) -> tuple[str, ...]:
    """Return pytest, if the project's tests need it and its manifests do not name it."""
    runs_pytest = any(way.command.endswith("pytest") for way in ways_of_rows(here, table))
    return ("pytest",) if runs_pytest and "pytest" not in project.requires else ()
