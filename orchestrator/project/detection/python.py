"""Python: pytest if the project uses it, else unittest if its discovery finds tests, else tox or nox."""

import re
import shlex
from collections.abc import Sequence
from pathlib import PurePosixPath

from orchestrator.project.detection.ways import Way
from orchestrator.project.files import MANIFESTS, Shown

_USUAL = re.compile(r"(?:tests?/(?:.*/)?)?(?:test_[^/]*)\.py|[^/]*_test\.py")
_ANYWHERE = re.compile(r"(?:.*/)?(?:test_[^/]*|[^/]*_test)\.py")
_PYTEST = re.compile(r"^\s*(import|from) pytest\b|^(async )?def test_", re.MULTILINE)
_IS_TEST = re.compile(rf"{_PYTEST.pattern}|\bTestCase\b", re.MULTILINE)
_CONFIGURED = {
    "pytest.ini": "",
    ".pytest.ini": "",
    "pytest.toml": "",
    "conftest.py": "",
    "tests/conftest.py": "",
    "test/conftest.py": "",
    "pyproject.toml": "[tool.pytest",
    "setup.cfg": "[tool:pytest]",
    "tox.ini": "[pytest]",
}
_IN_TESTS = re.compile(r"(?:^|/)tests?/")
_MOST_READ = 300  # tests that are read to find the runner that they are written for


def python_ways(shown: Shown) -> list[Way]:
    """Return the commands that run the Python tests, or nothing if there are none."""
    tests = sorted(name for name in shown.files if _USUAL.fullmatch(name)) or _tests_elsewhere(shown)
    if tests and _uses_pytest(shown, tests):
        return [Way(command="python3 -m pytest", source=_source(tests))]
    if (
        shown.has("manage.py")
        and "django" in shown.text("manage.py")
        and (tests or shown.ending("/tests.py"))
    ):
        return [Way(command="python3 manage.py test", source="manage.py", lines=("-m unittest",))]
    if tests:
        return [Way(command=command, source=_source(tests)) for command in unittest_commands(shown, tests)]
    if "[testenv" in shown.text("tox.ini"):
        return [Way(command="tox", source="tox.ini")]
    if "session" in shown.text("noxfile.py"):
        return [Way(command="nox", source="noxfile.py")]
    return []


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


def _uses_pytest(shown: Shown, tests: Sequence[str]) -> bool:
    if any(shown.has(name) and words in shown.text(name) for name, words in _CONFIGURED.items()):
        return True
    return any(_PYTEST.search(shown.text(test)) for test in tests[:_MOST_READ])


def _source(tests: Sequence[str]) -> str:
    return tests[0] if len(tests) == 1 else f"{tests[0]} and {len(tests) - 1} more"
