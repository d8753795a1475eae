"""The project's own ways to verify: targets of its build files, and scripts of its packages."""

import re
from collections.abc import Iterator
from dataclasses import replace

from orchestrator.project.build_files import packages
from orchestrator.project.build_files.makefile import makefile_in
from orchestrator.project.build_files.recipes import justfile_in, taskfile_in
from orchestrator.project.build_files.step import BuildFile
from orchestrator.project.detection.ways import Way, way
from orchestrator.project.files import Shown
from orchestrator.project.runners.row import Table

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


def own_ways(shown: Shown, table: Table) -> Iterator[Way]:
    """Yield the ways that the project itself names."""
    files = {
        "make": makefile_in(shown.folder),
        "just": justfile_in(shown.folder, called_bare=True),
        "task": taskfile_in(shown.folder),
    }
    for program, file in files.items():
        if file is not None:
            yield from _targets(program, file, shown, table)
    yield from _package(shown, table)
    yield from _deno(shown, table)
    if packages.composer_script(shown.folder, "test"):
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


def _deno(shown: Shown, table: Table) -> Iterator[Way]:
    name = shown.first("deno.json", "deno.jsonc")
    if name and (line := packages.deno_task(shown.folder / name, "test")):
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
