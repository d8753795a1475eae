"""Which files of a project belong to its tests, by their names."""

import re
from pathlib import PurePosixPath

_TEST_FOLDERS = frozenset({
    "test", "tests", "spec", "specs", "__tests__", "testing", "fixtures", "testdata", "__mocks__", "e2e",
    "cypress", "features",
})  # fmt: skip
_TEST_NAME = re.compile(
    r"(?:test[_-].*|.*[._-](?:test|tests|spec|specs|t)|conftest|tests?|\w*[a-z](?:Test|Tests|Spec|IT))\Z"
)


def is_test_file(path: str) -> bool:
    """Whether a file belongs to the tests, by its folders and its name."""
    pure = PurePosixPath(path)
    folders = {part.lower() for part in pure.parts[:-1]}
    if not _TEST_FOLDERS.isdisjoint(folders):
        return True
    stem = pure.name.split(".py")[0].rsplit(".", 1)[0]
    named = pure.suffix == ".t" or _TEST_NAME.match(stem) or _TEST_NAME.match(stem.lower())
    return bool(named) and pure.suffix != ""
