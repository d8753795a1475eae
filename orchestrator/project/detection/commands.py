"""All commands that verify a folder, each test once, the project's own targets and scripts first."""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.project.detection.javascript import deno_ways, package_ways
from orchestrator.project.detection.languages import language_ways
from orchestrator.project.detection.makefile import make_ways
from orchestrator.project.detection.python import python_ways
from orchestrator.project.detection.task_files import just_ways, task_ways
from orchestrator.project.detection.ways import Way
from orchestrator.project.detection.words import alike, needs_container
from orchestrator.project.detection.workflows import workflow_ways
from orchestrator.project.files import Shown, look

_DEEPEST_PART = 2
_MOST_PARTS = 12
_MANIFESTS = (
    *(
        "package.json",
        "deno.json",
        "pyproject.toml",
        "setup.py",
        "setup.cfg",
        "requirements.txt",
        "Cargo.toml",
    ),
    *(
        "go.mod",
        "pom.xml",
        "build.gradle",
        "build.gradle.kts",
        "build.sbt",
        "project.clj",
        "mix.exs",
        "Gemfile",
    ),
    *("composer.json", "pubspec.yaml", "Package.swift", "CMakeLists.txt", "meson.build", "stack.yaml"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Detected:
    """A command that a repository shows. `source` is the file that shows it. `tests` is False for linters."""

    command: str
    source: str
    tests: bool


def detect(folder: Path) -> tuple[Detected, ...]:
    """Return the commands that verify a folder, empty if it shows none. Nothing is run.

    The same tests are taken once. The parts of a repository count if its root shows no tests, a workflow's
    command if nothing else calls its runner.
    """
    shown = look(folder)
    ways = _ways_in(shown)
    if not any(way.tests for way in ways):
        ways += _ways_of_parts(shown)
    known = alike(runner for way in ways if way.tests for runner in way.runners)
    ways += [way for way in workflow_ways(shown) if not way.runners & known]
    return tuple(Detected(command=way.command, source=way.source, tests=way.tests) for way in ways)


def _ways_in(shown: Shown) -> list[Way]:
    own = [*make_ways(shown), *just_ways(shown), *task_ways(shown), *package_ways(shown), *deno_ways(shown)]
    languages = [*language_ways(shown), *python_ways(shown)]
    own += [way for way in languages if way.own]
    taken = list(_each_once(own))
    if any(way.stands_for_all for way in taken):
        return taken
    covered = _covered(taken)
    return taken + [way for way in languages if not way.own and not way.runners & covered]


def _each_once(own: Sequence[Way]) -> Iterator[Way]:
    """Yield the project's own commands, except those that another one runs or whose runners another calls."""
    taken: list[Way] = []
    for at, way in enumerate(own):
        callers = [other for other in own if other is not way and other.calls(way)]
        if any(not way.calls(other) or own.index(other) < at for other in callers):
            continue
        elsewhere = [other for other in taken if other.source != way.source]
        if way.runners and way.runners <= _covered(elsewhere):
            continue
        taken.append(way)
        yield way


def _covered(ways: Sequence[Way]) -> frozenset[str]:
    """Return the runners whose tests already run, without those that need a container."""
    return alike(
        runner for way in ways if way.tests and not needs_container(way.lines) for runner in way.runners
    )


def _ways_of_parts(shown: Shown) -> Iterator[Way]:
    """Yield the commands of the folders that have manifests of their own, as commands for the root."""
    taken: list[str] = []
    for path in shown.folders_with(*_MANIFESTS, deepest=_DEEPEST_PART):
        if len(taken) == _MOST_PARTS or any(path.startswith(f"{one}/") for one in taken):
            continue
        ways = [way for way in _ways_in(shown.part(path)) if way.tests]
        if ways:
            taken.append(path)
        for way in ways:
            command = f"cd {shlex.quote(path)} && {way.command}"
            yield replace(way, command=command, source=f"{path}/{way.source}")
