"""All commands that verify a folder, each test once: the project's own targets and scripts come first.

After them come the runners of its languages and the commands of its workflows.
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.project.build_files import packages
from orchestrator.project.build_files.python_envs import hatch_scripts
from orchestrator.project.build_files.recipes import TASKS, justfile_in, makefile_in, taskfile_in
from orchestrator.project.build_files.step import BuildFile
from orchestrator.project.files import Shown, belongs_to_tests, look
from orchestrator.project.runners.row import Table
from orchestrator.project.runners.suite import suite_of
from orchestrator.project.runners.table import usual_table
from orchestrator.project.ways import Way, shown_runners, way, workflow_ways

_CHECK = "check"
_TESTS = ("test", "tests", "unittest", "unittests")  # the first that exists is taken
_TEST = {"npm": "npm test", "pnpm": "pnpm test", "yarn": "yarn test", "bun": "bun run test"}
_WORKSPACES = {
    "npm": "npm test --workspaces --if-present",
    "pnpm": "pnpm --recursive --if-present test",
    "yarn": "yarn workspaces run test",
    "yarn berry": "yarn workspaces foreach --all run test",
    "bun": "bun run --filter '*' test",
}
_WATCHES = re.compile(r"react-scripts\s+test(?!.*--watchAll=false)")
_MOST_LINES = 500
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

    The same tests are taken once. The parts of a repository count if its root shows no tests, or none of
    their runners, a workflow's command if nothing else calls its runner. Without a table it is sq's own.
    """
    table = table or usual_table()
    shown = look(folder)
    ways = _ways_in(shown, table)
    if not any(one.tests for one in ways):
        ways += [*_hatch(shown, table)][:1] or _ways_of_parts(shown, table)
    elif not any(one.stands_for_all for one in ways):
        known = _covered(ways)
        others = [one for one in _ways_of_parts(shown, table) if one.runners and not one.runners & known]
        ways += [one for one in others if one.own or _has_tests(one, shown, table)]
    known = _covered(ways)
    ways += [one for one in workflow_ways(shown, table) if not one.runners & known]
    return tuple(Detected(command=one.command, source=one.source, tests=one.tests) for one in ways)


def by_languages(folder: Path) -> tuple[str, ...]:
    """Return the commands that follow from the languages of a folder, whatever the project names itself."""
    table = usual_table()
    return tuple(one.command for one in _ways_of_rows(look(folder), table) if one.tests)


def _ways_in(shown: Shown, table: Table) -> list[Way]:
    taken = list(_each_once(list(_own_ways(shown, table))))
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


def _has_tests(one: Way, shown: Shown, table: Table) -> bool:
    return bool(suite_of(one.command, shown.folder, table).test_files(sorted(shown.files)))


def _ways_of_parts(shown: Shown, table: Table) -> Iterator[Way]:
    """Yield the commands of the folders that have manifests of their own, as commands for the root."""
    taken: list[str] = []
    for path in shown.folders_with(*table.manifests, deepest=_DEEPEST_PART):
        if len(taken) == _MOST_PARTS or any(path.startswith(f"{one}/") for one in taken):
            continue
        if belongs_to_tests(f"{path}/x"):
            continue
        ways = [one for one in _ways_in(shown.part(path), table) if one.tests]
        if ways:
            taken.append(path)
        for one in ways:
            command = f"cd {shlex.quote(path)} && {one.command}"
            yield replace(one, command=command, source=f"{path}/{one.source}")


def _own_ways(shown: Shown, table: Table) -> Iterator[Way]:
    """Yield the ways that the project itself names."""
    files = {
        "make": makefile_in(shown.folder),
        "just": justfile_in(shown.folder, called_bare=True),
        "task": taskfile_in(shown.folder),
        **{f"{one} run": taskfile_in(shown.folder, program=one) for one in TASKS if one != "task"},
    }
    for program, file in files.items():
        if file is not None:
            yield from _targets(program, file, shown, table)
    yield from _package(shown, table)
    yield from _turbo(shown, table)
    yield from _deno(shown, table)
    if "test" in packages.composer_scripts(shown.folder):
        yield way("composer test", "composer.json", shown.folder, table, own=True, one_language=True)


def _targets(program: str, file: BuildFile, shown: Shown, table: Table) -> Iterator[Way]:
    """Yield the targets that verify.

    A target that runs another is taken alone. One that only lints is taken beside the tests.
    """
    tests = next((name for name in _TESTS if name in file.targets), "")
    names = [name for name in (_CHECK, tests) if name in file.targets]
    reached = {name: _reached(program, name, file) for name in names}
    alone = [name for name in names if not any(name in reached[other] for other in names if other != name)]
    for name in alone or names[:1]:
        found = way(f"{program} {name}", file.path.name, shown.folder, table, own=True)
        only_lints = name == _CHECK and found.lints and not reached[name] & {*_TESTS}
        yield replace(found, tests=not only_lints)


def _reached(program: str, name: str, file: BuildFile) -> set[str]:
    """Return the other targets that are made for this one."""
    waiting, reached = [name], set[str]()
    while waiting:
        target = file.targets[waiting.pop()]
        for other in (*target.before, *_called(program, target.lines)):
            if other in file.targets and other not in reached:
                reached.add(other)
                waiting.append(other)
    return reached - {name}


def _called(program: str, lines: tuple[str, ...]) -> Iterator[str]:
    """Yield the words after the program's name in lines that call it for this folder."""
    for line in lines[:_MOST_LINES]:
        for call in re.finditer(rf"(?:^|[\s@;&|+-]){program}\s+([^;&|]+)", line):
            words = call[1].split()
            if "-C" not in words and not any(word.startswith("--directory") for word in words):
                yield from words


def _package(shown: Shown, table: Table) -> Iterator[Way]:
    """Yield the test script of the package, else that of its workspaces."""
    folder, manifest = shown.folder, packages.MANIFEST
    if not shown.has(manifest):
        return
    manager = packages.manager_of(folder)
    if packages.test_script(folder / manifest):
        found = way(_TEST[manager], manifest, folder, table, own=True, one_language=True)
        watches = any(map(_WATCHES.search, found.lines))
        yield replace(found, command=f"CI=true {found.command}") if watches else found
    elif any(packages.test_script(one / manifest) for one in packages.workspaces_in(folder)):
        if manager == "yarn" and shown.has(".yarnrc.yml"):
            manager = "yarn berry"
        source = f"{manifest}, workspaces"
        yield way(_WORKSPACES[manager], source, folder, table, own=True, one_language=True)


def _turbo(shown: Shown, table: Table) -> Iterator[Way]:
    """Yield the task `test` of a turbo.json, if no script of the package calls it."""
    scripts = " ".join(packages.scripts_of(shown.folder / packages.MANIFEST).values())
    if "turbo" not in scripts and "test" in packages.turbo_tasks(shown.folder):
        yield way("turbo run test", packages.TURBO[0], shown.folder, table, own=True, one_language=True)


def _hatch(shown: Shown, table: Table) -> Iterator[Way]:
    """Yield the scripts of hatch that run tests: they may be called anything, as their tests may."""
    scripts = hatch_scripts(shown.folder)
    named = [name for name in scripts if ":" in name]
    for name in sorted(named, key=lambda one: one.rpartition(":")[2] not in _TESTS):
        command = f"hatch run {name.removeprefix('default:')}"
        found = way(command, "scripts of hatch", shown.folder, table, own=True, one_language=True)
        if found.runners:
            yield found


def _deno(shown: Shown, table: Table) -> Iterator[Way]:
    name = shown.first("deno.json", "deno.jsonc")
    if name and (line := packages.deno_test_task(shown.folder / name)):
        yield way(
            "deno task test",
            name,
            shown.folder,
            table,
            line=line,
            also=("deno",),
            own=True,
            one_language=True,
        )
