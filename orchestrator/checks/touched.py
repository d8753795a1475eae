"""The files that a work changed, sorted by their role for the tests of a command."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

_OF_TESTS = frozenset(
    {"test", "tests", "spec", "specs", "__tests__", "testing", "testdata", "test_data", "t", "e2e"}
)
_RECORDED = frozenset({"__snapshots__", "snapshots", "__image_snapshots__", "golden", "goldens", "fixtures"})
_SNAPSHOT = re.compile(r"\.(?:snap|snapshot|golden|approved\.\w+)$")
PROSE = re.compile(
    r"(?:^|/)docs?/|\.(?:md|rst|txt|adoc)$|(?:^|/)(?:LICENSE|CHANGELOG|README)[^/]*$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """The changed paths, sorted by their role for the tests.

    `held` are files that hold tests at the base, `new` those that hold tests only now, `data` files that
    tests compare with or read. `configuration` only decides how tests are run, `manifests` do so and have
    other content. `code` is the rest except prose.
    """

    held: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    configuration: tuple[str, ...] = ()
    manifests: tuple[str, ...] = ()
    code: tuple[str, ...] = ()

    @property
    def as_it_was(self) -> tuple[str, ...]:
        """The files that have to be as at the base when the base's tests are run."""
        return (*self.held, *self.data, *self.configuration)

    @property
    def decides(self) -> bool:
        """Whether a file was changed that decides how tests are run."""
        return bool(self.configuration or self.manifests)


@dataclass(frozen=True, slots=True, kw_only=True)
class Classified:
    """The roles of changed paths for a command in one tree."""

    tests: frozenset[str]
    deciders: frozenset[str]
    manifests: frozenset[str]


def touched(
    by: Sequence[Classified], changed: Sequence[str], at_base: Collection[str], now: Collection[str]
) -> Touched:
    """Sort changed paths.

    Args:
        by: their roles for the command, at the base and now.
        changed: the paths that differ.
        at_base: all paths at the base.
        now: all paths now.
    """
    tests = frozenset[str]().union(*(one.tests for one in by))
    deciders = frozenset[str]().union(*(one.deciders for one in by)) - tests
    manifests = frozenset[str]().union(*(one.manifests for one in by)) & deciders
    rest = [path for path in changed if path not in tests | deciders]
    data = [path for path in rest if is_test_data(path)]
    return Touched(
        held=tuple(path for path in changed if path in tests and path in at_base),
        new=tuple(path for path in changed if path in tests and path in now and path not in at_base),
        data=tuple(path for path in data if path in at_base),
        configuration=tuple(path for path in changed if path in deciders - manifests),
        manifests=tuple(path for path in changed if path in manifests),
        code=tuple(path for path in rest if path not in data and not PROSE.search(path)),
    )


def is_test_data(path: str) -> bool:
    """Whether a path is in a folder of tests, or holds results recorded by a test."""
    folders = {part.lower() for part in PurePosixPath(path).parts[:-1]}
    return bool(folders & (_OF_TESTS | _RECORDED)) or bool(_SNAPSHOT.search(path))
