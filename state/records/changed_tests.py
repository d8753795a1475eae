"""Tests of the base that changed, and rulings on them."""

from dataclasses import dataclass
from enum import StrEnum


class TestChangeKind(StrEnum):
    """How a test of the base differs from before."""

    __test__ = False

    FAILS = "fails as it was"
    GONE = "is gone"
    SKIPPED = "is skipped now"
    UNREADABLE = "was changed, and sq cannot run it as it was"


@dataclass(frozen=True, slots=True, kw_only=True)
class TestChange:
    """A test that passed at the base and no longer counts as it was.

    `test` is empty if the whole file is meant, `path` if the file is unknown. `expected_by` is the line of
    the spec or of the reviewed plan that announces the change, or "" if there is none.
    """

    __test__ = False

    test: str
    path: str = ""
    kind: TestChangeKind
    detail: str = ""
    expected_by: str = ""

    @property
    def name(self) -> str:
        """The name that people and agents use."""
        return self.test or self.path


@dataclass(frozen=True, slots=True, kw_only=True)
class TestRuling:
    """A reviewer's ruling on a changed test. `ruled`: the report did mention this test."""

    __test__ = False

    test: str
    accepted: bool
    why: str = ""
    ruled: bool = True
