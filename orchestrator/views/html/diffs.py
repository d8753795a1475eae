"""Unified diffs as rows that a template shows: each line with its kind and its place in both versions.

Git's own counts in `@@` lines say how long a hunk is. So a removed line `-- x` is not taken for a header.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from orchestrator.views.html.amounts import MINUS

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


class LineKind(StrEnum):
    """The kind of a line of a diff."""

    ADDED = "added"
    REMOVED = "removed"
    SAME = "same"
    HUNK = "hunk"
    NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffLine:
    """One line without its sign. `old` and `new` are its numbers in both versions, 0 if it is not there."""

    kind: LineKind
    text: str
    old: int = 0
    new: int = 0

    @property
    def sign(self) -> str:
        """Return the sign before the line."""
        return {LineKind.ADDED: "+", LineKind.REMOVED: MINUS}.get(self.kind, " ")


def diff_lines(patch: str) -> list[DiffLine]:
    """Return the hunks of one file's patch. Headers of git before the first hunk are left out."""
    return list(_lines(patch.split("\n")))


def _lines(patch: list[str]) -> Iterator[DiffLine]:
    old = new = old_left = new_left = 0
    for line in patch:
        if old_left > 0 or new_left > 0:
            sign, text = line[:1], line[1:]
            if sign == "+":
                yield DiffLine(kind=LineKind.ADDED, text=text, new=new)
                new, new_left = new + 1, new_left - 1
            elif sign == "-":
                yield DiffLine(kind=LineKind.REMOVED, text=text, old=old)
                old, old_left = old + 1, old_left - 1
            elif sign == "\\":
                yield DiffLine(kind=LineKind.NOTE, text=text.strip())
            else:
                yield DiffLine(kind=LineKind.SAME, text=text, old=old, new=new)
                old, new, old_left, new_left = old + 1, new + 1, old_left - 1, new_left - 1
        elif found := _HUNK.match(line):
            old, new = int(found[1]), int(found[3])
            old_left, new_left = int(found[2] or 1), int(found[4] or 1)
            yield DiffLine(kind=LineKind.HUNK, text=line)
        elif line.startswith("\\"):
            yield DiffLine(kind=LineKind.NOTE, text=line[1:].strip())
        elif line.startswith("Binary files "):
            yield DiffLine(kind=LineKind.NOTE, text="a binary file")
