"""Python: the files that hold tests, and where the discovery of unittest has to begin."""

import re
import shlex
from collections.abc import Sequence
from pathlib import PurePosixPath

from orchestrator.project.files import MANIFESTS, Shown

_USUAL = re.compile(r"(?:tests?/(?:.*/)?)?(?:test_[^/]*)\.py|[^/]*_test\.py")
_ANYWHERE = re.compile(r"(?:.*/)?(?:test_[^/]*|[^/]*_test)\.py")
_IS_TEST = re.compile(r"^\s*(?:import|from) pytest\b|^(?:async )?def test_|\bTestCase\b", re.MULTILINE)
_IN_TESTS = re.compile(r"(?:^|/)tests?/")
_MOST_READ = 300  # tests that are read because their names alone do not show that they are


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
    elsewhere = set([name for name in named if not _IN_TESTS.search(name)][:_MOST_READ])
    return [name for name in named if name not in elsewhere or _IS_TEST.search(shown.text(name))]
