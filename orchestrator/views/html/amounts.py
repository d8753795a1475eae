"""Amounts, moments, names and diffs as templates show them. Times are in UTC.

Git's own counts in `@@` lines say how long a hunk is. So a removed line `-- x` is not taken for a header.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

MINUS = "\u2212"
_CENT = 0.01
_OTHER = re.compile(r"[^a-z0-9]+")


def money(usd: float) -> str:
    """Return an amount in US dollars, with more digits below a cent."""
    return f"${usd:.4f}" if 0 < abs(usd) < _CENT else f"${usd:,.2f}"


def number(value: float | None) -> str:
    """Return a number with commas between the thousands, or "unknown" for None."""
    return "unknown" if value is None else f"{value:,}"


def signed(value: int | None) -> str:
    """Return a difference with its sign: `+14`, `±0`, or "unknown" for None."""
    if value is None:
        return "unknown"
    return "±0" if value == 0 else f"{'+' if value > 0 else MINUS}{abs(value):,}"


def clock(moment_: datetime) -> str:
    """Return the time of day in UTC, to the second."""
    return f"{moment_.astimezone(UTC):%H:%M:%S}"


def moment(moment_: datetime) -> str:
    """Return date and time in UTC, to the second."""
    return f"{moment_.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def iso(moment_: datetime) -> str:
    """Return date and time as a machine reads them."""
    return f"{moment_.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def slug(text: str) -> str:
    """Return a text as part of a class or an id: small letters, digits and hyphens."""
    return _OTHER.sub("-", text.lower()).strip("-") or "none"


def thousandth(share: float) -> str:
    """Return a share of the whole width (0 to 1) in thousandths, as drawings use them."""
    return f"{share * 1000:.1f}"


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
    return list(_diff_rows(patch.split("\n")))


def _diff_rows(patch: list[str]) -> Iterator[DiffLine]:
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
