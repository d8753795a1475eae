"""Python: an environment of the worktree's own, by its lock file, or by pip if the project needs one.

None is made for code that runs without installation, nor if `python3` has everything that the project
declares.
"""

import shlex
from collections.abc import Callable, Iterator

from orchestrator.run.detection.python import python_ways
from orchestrator.run.detection.tree import MANIFESTS, Shown
from orchestrator.run.readiness.interpreter import Interpreter
from orchestrator.run.readiness.python_project import PythonProject, python_project
from orchestrator.run.readiness.steps import VENV, SetUpStep, at, below, key_of

_PIP = f"{VENV}/bin/python -m pip install --quiet --disable-pip-version-check"


def python_steps(
    shown: Shown, part: str, python: Callable[[], Interpreter | None], *, from_checkout: Callable[[], bool]
) -> Iterator[SetUpStep]:
    """Yield the step for one folder (`part`, "" is the root) of the worktree, if it needs one.

    Args:
        shown: the worktree.
        part: the folder in it.
        python: returns the interpreter that commands would run with.
        from_checkout: returns whether it has the project installed from the user's checkout.
    """
    here = shown.part(part) if part else shown
    project = python_project(here)
    lock, program, command = _locked(here, project)
    files = (lock, *MANIFESTS, *project.files, ".python-version")
    if not lock:
        if not (project.built or project.requires or project.open_ended or project.installable):
            return  # whatever the interpreter has: it is not asked, which costs a process for each worktree
        found = python()
        if found is None or not _is_needed(project, found, from_checkout=from_checkout()):
            return
        program, command = "python3", _pip(here, project)
    version = found.version if (found := python()) else ""
    yield SetUpStep(
        command=at(part, command),
        ecosystem="python",
        program=program,
        why=below(part, (lock or here.first(*MANIFESTS, *project.files),))[0],
        makes=below(part, (VENV,)),
        key=key_of(here, files, command, version),
        wants=None if project.open_ended else (*project.wants, *_runner(here, project)),
    )


def _locked(here: Shown, project: PythonProject) -> tuple[str, str, str]:
    """Return the lock file, its program and the command, or three empty texts."""
    extras = "".join(f" --extra {name}" for name in project.extras)
    if here.has("uv.lock"):
        return "uv.lock", "uv", f"uv sync --frozen{extras}{' --all-groups' if project.wanted else ''}"
    if here.has("poetry.lock"):
        chosen = "".join(f" --extras {name}" for name in project.extras)
        return (
            "poetry.lock",
            "poetry",
            f"env -u VIRTUAL_ENV POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction{chosen}",
        )
    if here.has("pdm.lock"):
        return "pdm.lock", "pdm", "PDM_IGNORE_ACTIVE_VENV=1 pdm sync"
    if here.has("Pipfile.lock"):
        return (
            "Pipfile.lock",
            "pipenv",
            "PIPENV_IGNORE_VIRTUALENVS=1 PIPENV_VENV_IN_PROJECT=1 pipenv sync --dev",
        )
    return "", "", ""


def _is_needed(project: PythonProject, python: Interpreter, *, from_checkout: bool) -> bool:
    if project.built:
        return True
    if from_checkout:
        return not project.requires <= python.names
    installed = bool(project.name) and project.name in python.names
    unknown = project.open_ended and not installed
    unmet = not project.requires <= python.names
    return unmet or unknown or (project.installable and project.src and not installed)


def _pip(here: Shown, project: PythonProject) -> str:
    words = []
    if project.installable:
        words += ["-e", f".[{','.join(project.extras)}]" if project.extras else "."]
    words += [word for name in project.files for word in ("-r", name)]
    words += project.wanted
    words += _runner(here, project)
    return f"python3 -m venv {VENV} && {_PIP} {shlex.join(words)}"


def _runner(here: Shown, project: PythonProject) -> tuple[str, ...]:
    """Return pytest, if the project's tests need it and its manifests do not name it."""
    runs_pytest = any(way.command.endswith("pytest") for way in python_ways(here))
    return ("pytest",) if runs_pytest and "pytest" not in project.requires else ()
