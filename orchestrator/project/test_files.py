"""Which files of a project hold tests, or belong to them, by their usual names and folders alone.

A row of the table knows better which files its runner takes. These are for runners that no row knows, and for
sessions whose project is not read.
"""

import re
from pathlib import PurePosixPath

_NAME = re.compile(
    r"^(?:tests?|specs?)(?:[._-]|$)|[._-](?:tests?|specs?)(?:[._-]|$)|^Tests?[A-Z]|[a-z0-9](?:Tests?|Spec)(?:\.|$)"
)
_OTHER_NAME = re.compile(r"^conftest\.|[a-z]IT\.|[._-]t\.|\.t$")
_FOLDERS = frozenset({"test", "tests", "spec", "specs", "__tests__", "t"})
_OTHER_FOLDERS = frozenset(
    {"testing", "fixtures", "testdata", "__mocks__", "e2e", "cypress", "features"} | _FOLDERS - {"t"}
)
_BESIDE = re.compile(
    r"(?:^|/)(?:fixtures?|helpers?|support|data|testdata|mocks?|__mocks__|snapshots?|__snapshots__|golden)(?:[./]|$)"
)
_NO_CODE = re.compile(
    r"\.(?:json|ya?ml|toml|ini|cfg|txt|md|rst|adoc|csv|tsv|xml|html?|css|svg|png|jpe?g|gif|snap|lock|log|out|golden)$"
)


def is_test_file(path: str) -> bool:
    """Whether a relative path looks like a file of tests: by its name, or by its folder if it is code."""
    place = PurePosixPath(path)
    if place.name.startswith(("_", ".")) or _NO_CODE.search(place.name) or _BESIDE.search(path):
        return False
    return bool(_NAME.search(place.name)) or not _FOLDERS.isdisjoint(place.parts[:-1])


def belongs_to_tests(path: str) -> bool:
    """Whether a file holds tests, or is of their kind: a fixture, a helper, a configuration."""
    place = PurePosixPath(path)
    if not _OTHER_FOLDERS.isdisjoint(part.lower() for part in place.parts[:-1]):
        return True
    names = (place.name, place.name.lower())
    return bool(place.suffix) and any(_NAME.search(one) or _OTHER_NAME.search(one) for one in names)
