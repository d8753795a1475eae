"""The runners that the files of a project show, by the rows of the table, and their commands there."""

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from orchestrator.project.files import MANIFESTS, Shown, matches
from orchestrator.project.runners.row import Detection, Runner, Table

_PYTHON_TESTS = "{python tests}"
_UNITTEST = "{unittest}"
# A folder for build results that git never sees, and that is removed with the worktree.
_BUILT = '"$(git rev-parse --absolute-git-dir)/sq-build"'
_IGNORED_BUILD = re.compile(r"^/?(?:\*\*/)?build[*]?/?\s*$", re.MULTILINE)
_MOST_READ = 300  # files whose text is read to find the runner that they are for
_USUAL = re.compile(r"(?:tests?/(?:.*/)?)?(?:test_[^/]*)\.py|[^/]*_test\.py")
_ANYWHERE = re.compile(r"(?:.*/)?(?:test_[^/]*|[^/]*_test)\.py")
_IS_TEST = re.compile(r"^[ \t]*(?:import|from) pytest\b|^(?:async )?def test_|\bTestCase\b", re.MULTILINE)
_IN_TESTS = re.compile(r"(?:^|/)tests?/")
_MOST_SEEN = 300  # tests that are read because their names alone do not show that they are


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRunner:
    """A runner that the files of a folder show, its commands there, and the files that show it."""

    row: Runner
    commands: tuple[str, ...]
    source: str


def shown_runners(shown: Shown, table: Table) -> Iterator[ShownRunner]:
    """Yield the runners that the rows find in a folder, those of one family once."""
    taken: set[str] = set()
    for row in table.runners.values():
        if (row.family or row.name) in taken:
            continue
        for found in row.found:
            if files := files_showing(shown, found):
                taken.add(row.family or row.name)
                commands = tuple(dict.fromkeys(_commands(shown, found, files)))
                yield ShownRunner(row=row, commands=commands, source=_source(files[0]))
                break


def files_showing(shown: Shown, found: Detection) -> list[list[str]]:
    """Return the files that match each of the globs, or nothing if they do not show the runner."""
    matching: list[list[str]] = []
    for globs in found.files:
        matching.append(_matching(shown, globs.split("|")))
        if not matching[-1]:
            return []
    if found.alone and len(matching[0]) > 1:
        return []
    if found.contains:
        texts = map(shown.text, matching[-1][:_MOST_READ])
        return matching if any(re.search(found.contains, text) for text in texts) else []
    return matching


def _matching(shown: Shown, globs: Sequence[str]) -> list[str]:
    """Return the files that match one of the globs, which begin at the folder."""
    plain = [glob for glob in globs if shown.has(glob)]
    wild = [f"/{glob}" for glob in globs if "*" in glob]
    tests = python_tests(shown) if _PYTHON_TESTS in globs else []
    return [*plain, *tests, *(sorted(name for name in shown.files if matches(name, wild)) if wild else ())]


def _commands(shown: Shown, found: Detection, files: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the commands with the words of this project in them."""
    first, last = files[0], files[-1][0]
    command = found.command
    if command == _UNITTEST:
        yield from unittest_commands(shown, first)
    elif "{each}" in command:
        yield from (command.replace("{each}", shlex.quote(name)) for name in first)
    else:
        built = "build" if _IGNORED_BUILD.search(shown.text(".gitignore")) else _BUILT
        call = f"./{last}" if os.access(shown.folder / last, os.X_OK) else f"sh {last}"
        folders = sorted({name.rpartition("/")[0] or "." for name in first})
        words = {"{build}": built, "{run}": call, "{folders}": shlex.join(folders)}
        yield re.sub(r"\{(?:build|run|folders)\}", lambda used: words[used[0]], command)


def _source(files: Sequence[str]) -> str:
    return files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"


def python_tests(shown: Shown) -> list[str]:
    """Return the files that hold tests, by their usual names, else those in packages."""
    return sorted(name for name in shown.files if _USUAL.fullmatch(name)) or _tests_elsewhere(shown)


def unittest_commands(shown: Shown, tests: Sequence[str]) -> list[str]:
    """Return a command for each folder in which discovery has to begin. It enters only packages."""
    root = PurePosixPath()
    found: dict[tuple[PurePosixPath, PurePosixPath, str], None] = {}
    for test in map(PurePosixPath, tests):
        start = top = test.parent
        while top != root and str(top / "__init__.py") in shown.files:
            start, top = top, top.parent
        found[start, top, "" if test.name.startswith("test") else "*_test.py"] = None
    commands = []
    for start, top, pattern in found:
        if top == root != start and (root, root, pattern) in found:
            continue  # a package in the root: the root's own discovery enters it
        words = ["python3", "-m", "unittest"]
        words += ["discover"] if start != root or pattern else []
        words += ["-s", str(start)] if start != root else []
        words += ["-t", str(top)] if start != top else []
        words += ["-p", pattern] if pattern else []
        commands.append(shlex.join(words))
    return commands


def _tests_elsewhere(shown: Shown) -> list[str]:
    """Return tests inside packages, but none of a part with its own manifest and none by its name alone."""
    parts = tuple(f"{part}/" for part in shown.folders_with(*MANIFESTS, deepest=8))
    named = sorted(name for name in shown.files if _ANYWHERE.fullmatch(name) and not name.startswith(parts))
    elsewhere = set([name for name in named if not _IN_TESTS.search(name)][:_MOST_SEEN])
    return [name for name in named if name not in elsewhere or _IS_TEST.search(shown.text(name))]
