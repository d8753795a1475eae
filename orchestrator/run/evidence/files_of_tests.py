"""Which files hold the tests of these names, judged by the names."""

import re
from collections.abc import Iterable, Sequence

_PARTS = re.compile(r"[\\/.:>#\s]+")


def files_of(names: Sequence[str], files: Sequence[str]) -> list[str]:
    """Return the test files that hold these tests, empty if the file of one of them is unknown."""
    found: dict[str, None] = {}
    for name in names:
        holding = [file for file in files if is_of(name, file)]
        if not holding:
            return []
        found.update(dict.fromkeys(holding))
    return list(found)


def is_of(name: str, file: str) -> bool:
    """Whether a test's name begins with a file: as a path, or as a module in dotted form.

    `tests/test_a.py::T::test_x`, `tests.test_a.T.test_x` and `test_a.T.test_x` are of `tests/test_a.py`.
    """
    if name.startswith(file):
        return True
    stem = [part for part in _PARTS.split(file.rsplit(".", maxsplit=1)[0]) if part]
    parts = [part for part in _PARTS.split(name) if part]
    return any(parts[: len(stem) - skipped] == stem[skipped:] for skipped in range(len(stem)))


def of_files(names: Iterable[str], files: Iterable[str]) -> list[str]:
    """Return the tests that are in one of these files."""
    every = list(files)
    return [name for name in names if any(is_of(name, file) for file in every)]
