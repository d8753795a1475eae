"""The set-up of a worktree as it follows from its files, in the order of its steps.

A Python project gets an environment of its own, by its lock file, or by pip if it needs one. None is made for
code that runs without installation, nor if `python3` has everything that the project declares.
"""

import hashlib
import os
import re
import shlex
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from configparser import ConfigParser
from configparser import Error as ConfigError
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from anyio import to_thread

from orchestrator.git.seeding import files_to_copy, ignored_in
from orchestrator.project.build_files.packages import MANIFEST as PACKAGE
from orchestrator.project.build_files.python_envs import toml_of
from orchestrator.project.files import MANIFESTS, Shown, look
from orchestrator.project.readiness.environment import Interpreter, look_into_python, normalized
from orchestrator.project.readiness.inputs import BUILT, is_below, key_of_inputs
from orchestrator.project.readiness.steps import VENV, SetUpStep, at, below, key_of, locked_steps, tool_of
from orchestrator.project.runners.row import Table
from orchestrator.project.runners.table import usual_table
from orchestrator.project.ways import shown_runners

# Files that commands of a user's list may depend on and that no row of the table names.
_DECIDING = (
    *("environment.yml", "GNUmakefile", "makefile", "Makefile", "justfile", "Taskfile.yml", ".tool-versions"),
    *(".python-version", ".nvmrc", ".ruby-version", "Dockerfile", "compose.yaml", "docker-compose.yml"),
)
_DEEPEST = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUpPlan:
    """The steps of a set-up. An equal `key` means an equal result. `left_out` names the impossible ones."""

    steps: tuple[SetUpStep, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The fingerprint of everything that the set-up depends on."""
        return hashlib.sha256(" ".join(step.key for step in self.steps).encode()).hexdigest()[:32]


async def plan_without_ignored(
    folder: Path, *, checkout: Path, include: Sequence[str], environ: Mapping[str, str]
) -> SetUpPlan:
    """Return the set-up as `plan_of`, from the files that git does not ignore there.

    A build makes the ignored ones, and no clone has them. Those of `include` count, the patterns of
    `worktree.include`, because each worktree gets them.
    """
    hidden = {*await ignored_in(folder)}
    ignored = hidden.union(
        one for one in (await to_thread.run_sync(look, folder)).files if is_below(one, hidden)
    )
    if ignored and include:
        ignored -= {*await files_to_copy(checkout, include)}
    look_at = partial(plan_of, folder, checkout=checkout, environ=environ, ignored=ignored)
    return await to_thread.run_sync(look_at)


def plan_of(
    folder: Path,
    *,
    checkout: Path | None = None,
    environ: Mapping[str, str] = os.environ,
    ignored: Collection[str] = (),
    table: Table | None = None,
) -> SetUpPlan:
    """Return the set-up of a folder from its lock files and manifests. Nothing of the project is run.

    Args:
        folder: the worktree.
        checkout: the user's checkout, from which the project may be installed.
        environ: the environment whose programs are used.
        ignored: files that do not count.
        table: the table of runners and tools. None is sq's own.
    """
    table = table or usual_table()
    path = environ.get("PATH", os.defpath)

    @cache
    def python() -> Interpreter | None:
        return look_into_python(environ, path, not_run_in=[folder, *([checkout] if checkout else [])])

    @cache
    def from_checkout() -> bool:
        found, root = python(), Path(os.path.realpath(checkout or os.devnull))
        return bool(
            found and checkout and any(place.is_relative_to(root) for place in (*found.roots, *found.places))
        )

    shown = look(folder)
    shown = replace(shown, files=shown.files.difference(ignored))
    steps: list[SetUpStep] = []
    left_out: dict[str, None] = {}
    for part in ("", *shown.folders_with(*_asking(table), deepest=_DEEPEST)):
        found = [
            *locked_steps(shown, part, table),
            *python_steps(shown, part, table, python, from_checkout=from_checkout),
        ]
        for step in found:
            if any(_stands_for(done, step) for done in steps):
                continue
            if shutil.which(step.program, path=path):
                steps.append(replace(step, key=key_of_inputs(shown, part, step, environ, ignored)))
            else:
                left_out[_lacking(step)] = None
    return SetUpPlan(steps=tuple(steps), left_out=tuple(left_out))


def _lacking(step: SetUpStep) -> str:
    return (
        f"{step.why} is there and {step.program} is not installed, so `{step.command}` is left out: install "
        f"{step.program}, or name the commands of the set-up in worktree.setup of sq.toml"
    )


def key_of_list(folder: Path, commands: Sequence[str]) -> str:
    """Return a fingerprint of the files that the commands of a user's list may depend on.

    These are the manifests and lock files in a folder, and the files that the commands name.
    """
    shown = look(folder)
    deciding = {*shown.named(*deciding_names(), deepest=_DEEPEST)}
    words = {word.strip("\"'").removeprefix("./") for command in commands for word in command.split()}
    files = [name for name in sorted(shown.files) if name in words or name in deciding]
    return key_of(shown, tuple(files), *commands)


def _asking(table: Table) -> set[str]:
    """Return the names of files that may ask for a step."""
    locks = {lock for tool in table.tools.values() if tool.ecosystem != "node" for lock in tool.locks}
    unlocked = {tool.requires[0] for tool in table.tools.values() if tool.requires}
    return {*locks, *unlocked, PACKAGE, "requirements.txt", *MANIFESTS}


def deciding_names() -> set[str]:
    """Return the names and globs of manifests, lock files and other files that a set-up may depend on."""
    table = usual_table()
    tools = {
        name for tool in table.tools.values() for name in (*tool.locks, *tool.files, *tool.apart.manifests)
    }
    return {*_asking(table), *tools, *table.manifests, *_DECIDING}


def _stands_for(done: SetUpStep, other: SetUpStep) -> bool:
    """Whether the step of a folder sets up one below it too, of the same ecosystem, as in workspaces."""
    above, below = done.why.rpartition("/")[0], other.why.rpartition("/")[0]
    return done.ecosystem == other.ecosystem and (
        not above or below == above or below.startswith(f"{above}/")
    )


# Names of extras, groups and files with the requirements of tests. All that exist are taken.
_FOR_TESTS = ("test", "tests", "testing", "dev")
_FILE_NAMES = ("requirements-{}.txt", "{}-requirements.txt", "requirements_{}.txt", "requirements/{}.txt")
_FILES = ("requirements.txt", *(form.format(name) for form in _FILE_NAMES for name in _FOR_TESTS))
_NAME = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")
_DEEPEST_INCLUDE = 5
_PIP = f"{VENV}/bin/python -m pip install --quiet --disable-pip-version-check"


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonProject:
    """The declarations of a folder.

    `requires` are normalized names. `open_ended`: only a script knows them all. `installable`: it can be
    installed itself, with these `extras`. `wanted` are requirements of its groups, `wants` all
    requirements of it and of its build that name a package of a registry.
    """

    name: str = ""
    installable: bool = False
    extras: tuple[str, ...] = ()
    wanted: tuple[str, ...] = ()
    wants: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    requires: frozenset[str] = frozenset()
    open_ended: bool = False
    built: bool = False
    src: bool = False


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
        if not (project.built or project.requires or project.open_ended or project.installable):
            return  # whatever the interpreter has: it is not asked, which costs a process for each worktree
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
        key=key_of(here, (lock, *MANIFESTS, *project.files, ".python-version"), command, version),
        wants=None if project.open_ended else (*project.wants, *runner),
    )


def python_project(shown: Shown) -> PythonProject:
    """Return the declarations in the manifests and requirement files of a folder."""
    toml, config = toml_of(shown.text("pyproject.toml")), _config(shown)
    project = _table(toml.get("project"))
    optional = _table(project.get("optional-dependencies"))
    groups = _table(toml.get("dependency-groups"))
    legacy = dict(config["options.extras_require"]) if config.has_section("options.extras_require") else {}
    extras = tuple(name for name in _FOR_TESTS if name in optional or name in legacy)
    wanted = tuple(dict.fromkeys(one for name in _FOR_TESTS for one in _group(groups, name)))
    files = tuple(name for name in _FILES if shown.has(name))
    declared = [
        *_texts(project.get("dependencies")),
        *(
            one
            for name in extras
            for one in (*_texts(optional.get(name)), *legacy.get(name, "").splitlines())
        ),
        *wanted,
        *config.get("options", "install_requires", fallback="").splitlines(),
        *(line for name in files for line in _requirements(shown, name)),
        *(name for name in _table(_poetry(toml).get("dependencies")) if name != "python"),
    ]
    script = shown.text("setup.py")
    installable = bool(
        script or project.get("name") or "build-system" in toml or config.has_option("metadata", "name")
    )
    return PythonProject(
        name=normalized(
            str(
                project.get("name")
                or _poetry(toml).get("name")
                or config.get("metadata", "name", fallback="")
            )
        ),
        installable=installable,
        extras=extras,
        wanted=wanted,
        files=files,
        wants=tuple(
            dict.fromkeys(
                one
                for line in (*declared, *(_for_build(toml) if installable else ()))
                if (one := _named(line))
            )
        ),
        requires=frozenset(name for line in declared if (name := _required(line))),
        open_ended="install_requires" in script or "dependencies" in _texts(project.get("dynamic")),
        built=any(BUILT.search(shown.text(name)) for name in MANIFESTS),
        src=bool(shown.ending(".py", under="src/")),
    )


def _for_build(toml: dict[str, Any]) -> Iterator[str]:
    """Yield the requirements of a build, with those of a build in editable form."""
    system = _table(toml.get("build-system"))
    if "requires" in system:
        yield from _texts(system["requires"])
    else:
        yield from ("setuptools>=40.8.0", "wheel")
    if "hatchling" in str(system.get("build-backend")):
        yield "editables"


def _named(line: str) -> str:
    """Return a requirement without the options behind it, or "" if it names no package of a registry."""
    text = line.partition("#")[0].partition(" --")[0].strip(" \\")
    return text if _NAME.match(text) and "@" not in text and "/" not in text else ""


def _required(line: str) -> str:
    """Return the normalized name in a requirement, or "" if it depends on where it is installed."""
    found = _NAME.match(line)
    return normalized(found.group(1)) if found and ";" not in line else ""


def _requirements(shown: Shown, name: str, depth: int = 0) -> Iterator[str]:
    """Yield the requirements in a file and in those that it includes."""
    for line in shown.text(name).splitlines():
        text = line.split("#")[0].strip()
        if included := re.match(r"(?:-r|--requirement)[ =]*(\S+)", text):
            folder = name.rpartition("/")[0]
            if depth < _DEEPEST_INCLUDE:
                yield from _requirements(shown, f"{folder}/{included[1]}".lstrip("/"), depth + 1)
        elif text and not text.startswith("-"):
            yield text


def _group(groups: dict[str, Any], name: str, depth: int = 0) -> Iterator[str]:
    """Yield the requirements of a dependency group and of those that it includes."""
    found = groups.get(name)
    for one in found if isinstance(found, list) and depth < _DEEPEST_INCLUDE else ():
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict) and isinstance(one.get("include-group"), str):
            yield from _group(groups, one["include-group"], depth + 1)


def _config(shown: Shown) -> ConfigParser:
    config = ConfigParser(interpolation=None, strict=False)
    try:
        config.read_string(shown.text("setup.cfg"))
    except ConfigError:
        return ConfigParser()
    return config


def _poetry(toml: dict[str, Any]) -> dict[str, Any]:
    return _table(_table(toml.get("tool")).get("poetry"))


def _table(found: object) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}


def _texts(found: object) -> list[str]:
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []


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
    runs_pytest = any(found.row.name == "pytest" for found in shown_runners(here, table))
    return ("pytest",) if runs_pytest and "pytest" not in project.requires else ()
