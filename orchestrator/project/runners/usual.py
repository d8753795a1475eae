"""Files of tests by their usual names and folders, for commands whose runner no row of the table knows."""

import re
from pathlib import PurePosixPath

_NAME = re.compile(
    r"^(?:tests?|specs?)(?:[._-]|$)|[._-](?:tests?|specs?)(?:[._-]|$)|^Tests?[A-Z]|[a-z0-9](?:Tests?|Spec)(?:\.|$)"
)
_FOLDERS = frozenset({"test", "tests", "spec", "specs", "__tests__", "t"})
_BESIDE = re.compile(
    r"(?:^|/)(?:fixtures?|helpers?|support|data|testdata|mocks?|__mocks__|snapshots?|__snapshots__|golden)(?:[./]|$)"
)
_NO_CODE = re.compile(
    r"\.(?:json|ya?ml|toml|ini|cfg|txt|md|rst|adoc|csv|tsv|xml|html?|css|svg|png|jpe?g|gif|snap|lock|log|out|golden)$"
)


def is_usual(path: str) -> bool:
    """Whether a relative path looks like a file of tests: by its name, or by its folder if it is code."""
    place = PurePosixPath(path)
    if place.name.startswith(("_", ".")) or _NO_CODE.search(place.name) or _BESIDE.search(path):
        return False
    return bool(_NAME.search(place.name)) or not _FOLDERS.isdisjoint(place.parts[:-1])
