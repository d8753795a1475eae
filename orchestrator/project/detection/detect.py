"""All commands that verify a folder, each test once, the project's own targets and scripts first."""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.project.detection.own import own_ways
from orchestrator.project.detection.rows import shown_runners
from orchestrator.project.detection.ways import Way, way
from orchestrator.project.detection.workflows import workflow_ways
from orchestrator.project.files import Shown, look
from orchestrator.project.runners.row import Table
from orchestrator.project.runners.table import usual_table

_DEEPEST_PART = 2
_MOST_PARTS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Detected:
    """A command that a repository shows. `source` is the file that shows it. `tests` is False for linters."""

    command: str
    source: str
    tests: bool


def detect(folder: Path, table: Table | None = None) -> tuple[Detected, ...]:
    """Return the commands that verify a folder, empty if it shows none. Nothing is run.

    The same tests are taken once. The parts of a repository count if its root shows no tests, a workflow's
    command if nothing else calls its runner. Without a table it is sq's own.
    """
    table = table or usual_table()
    shown = look(folder)
    ways = _ways_in(shown, table)
    if not any(one.tests for one in ways):
        ways += _ways_of_parts(shown, table)
    known = {runner for one in ways if one.tests for runner in one.runners}
    ways += [one for one in workflow_ways(shown, table) if not one.runners & known]
    return tuple(Detected(command=one.command, source=one.source, tests=one.tests) for one in ways)


def _ways_in(shown: Shown, table: Table) -> list[Way]:
    taken = list(_each_once(list(own_ways(shown, table))))
    if any(one.stands_for_all for one in taken):
        return taken
    covered = _covered(taken)
    return taken + [one for one in _ways_of_rows(shown, table) if not one.runners & covered]


def _ways_of_rows(shown: Shown, table: Table) -> Iterator[Way]:
    """Yield the commands that follow from the languages of a project."""
    for found in shown_runners(shown, table):
        families = [found.row.family] if found.row.family else []
        for command in found.commands:
            yield way(command, found.source, shown.folder, table, also=families)


def _each_once(own: Sequence[Way]) -> Iterator[Way]:
    """Yield the project's own commands, except those that another one runs or whose runners another calls."""
    taken: list[Way] = []
    for at, one in enumerate(own):
        callers = [other for other in own if other is not one and other.calls(one)]
        if any(not one.calls(other) or own.index(other) < at for other in callers):
            continue
        elsewhere = [other for other in taken if other.source != one.source]
        if one.runners and one.runners <= _covered(elsewhere):
            continue
        taken.append(one)
        yield one


def _covered(ways: Sequence[Way]) -> frozenset[str]:
    """Return the runners whose tests already run."""
    return frozenset(runner for one in ways if one.tests for runner in one.runners)


def _ways_of_parts(shown: Shown, table: Table) -> Iterator[Way]:
    """Yield the commands of the folders that have manifests of their own, as commands for the root."""
    taken: list[str] = []
    for path in shown.folders_with(*table.manifests, deepest=_DEEPEST_PART):
        if len(taken) == _MOST_PARTS or any(path.startswith(f"{one}/") for one in taken):
            continue
        ways = [one for one in _ways_in(shown.part(path), table) if one.tests]
        if ways:
            taken.append(path)
        for one in ways:
            command = f"cd {shlex.quote(path)} && {one.command}"
            yield replace(one, command=command, source=f"{path}/{one.source}")
