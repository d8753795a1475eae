"""Names of tests as runners print them: the file that one is of, its own name, its place."""

import re
from collections.abc import Collection, Iterable, Sequence

_PARTS = re.compile(r"[\\/.:>#\s]+")
_NUMBERED = re.compile(r"(?<=[\[-])([A-Za-z_]+)\d+(?=[\]-])")  # how pytest names parameters without a text
_SEPARATORS = ("::", " > ", " » ", "#", "/", ".")  # the first one in a test's name is its separator
BOUNDARY = frozenset(".:/># »")


def tests_below(name: str, tests: Iterable[str]) -> list[str]:
    """Return the tests of a package or file, named by a test that stands for all of it."""
    return [one for one in tests if one.startswith(name) and one[len(name) :][:1] in BOUNDARY]


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
    folder, _, own = file.rsplit(".", maxsplit=1)[0].rpartition("/")
    folders, stem, parts = ([part for part in _PARTS.split(text) if part] for text in (folder, own, name))
    wholes = [[*folders[skipped:], *stem] for skipped in range(len(folders) + 1)]
    return bool(stem) and any(parts[: len(whole)] == whole for whole in wholes)


def of_files(names: Iterable[str], files: Collection[str]) -> list[str]:
    """Return the tests that are in one of these files."""
    return [name for name in names if any(is_of(name, file) for file in files)]


def leaf_of(name: str) -> str:
    """Return a test's own name without its file, class and group."""
    return name[len(place_of(name)) :]


def unnumbered(name: str) -> str:
    """Return a test's own name without the numbers that pytest gives parameters by their order."""
    return _NUMBERED.sub(r"\1", leaf_of(name))


def place_of(name: str) -> str:
    """Return a test's name without the last part."""
    plain = name.partition("[")[0]
    separator = next((one for one in _SEPARATORS if one in plain), "")
    return plain[: plain.rindex(separator) + len(separator)] if separator else ""
