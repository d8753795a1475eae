"""Which lines of a text were changed, and a text with some of another's changes undone. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_HEADER = re.compile(rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines `old` of one text are lines `new` of the other, each from the first to before the last."""

    old: tuple[int, int]
    new: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Merged:
    """A text without those changes that took lines away from their author.

    `lost` are the lines that the changes had removed, with their numbers from 1. `restored` are lines that
    had been deleted and that the changes had brought back. `overwritten`: an undone change had lines of its
    own.
    """

    lines: tuple[bytes, ...]
    lost: tuple[tuple[int, bytes], ...]
    restored: tuple[bytes, ...]
    overwritten: bool


def hunks_of(diff: bytes) -> list[Hunk]:
    """Return the hunks of a `git diff -U0` of one file."""
    return [Hunk(_range(found[1], found[2]), _range(found[3], found[4])) for found in _HEADER.finditer(diff)]


def without_overlaps(
    base: Sequence[bytes],
    mine: Sequence[bytes],
    theirs: Sequence[bytes],
    *,
    own: Sequence[Hunk],
    changes: Sequence[Hunk],
) -> Merged:
    """Return `theirs`, with the changes to my lines undone.

    Args:
        base: the lines of a text.
        mine: my version of it.
        theirs: a changed version of mine.
        own: the hunks from `base` to `mine`.
        changes: the hunks from `mine` to `theirs`.
    """
    lines: list[bytes] = []
    lost: list[tuple[int, bytes]] = []
    restored: list[bytes] = []
    at, overwritten = 0, False
    for change in changes:
        brought = theirs[change.new[0] : change.new[1]]
        taken = [number for hunk in own for number in _common(hunk.new, change.old)]
        taken += [number for hunk in own for number in _around(hunk, change, len(mine))]
        again = [line for hunk in own for line in _brought_back(hunk, change, base, brought)]
        lines += mine[at : change.old[0]]
        if taken or again:
            lost += [(number + 1, mine[number]) for number in taken]
            restored += again
            overwritten = overwritten or len(brought) > len(again)
            lines += mine[change.old[0] : change.old[1]]
        else:
            lines += brought
        at = change.old[1]
    lines += mine[at:]
    return Merged(tuple(lines), tuple(lost), tuple(restored), overwritten)


def numbers_in(own: Sequence[Hunk], changes: Sequence[Hunk]) -> set[int]:
    """Return the numbers, from 1, of my lines (`own`, from a base to mine) after `changes` to mine."""
    numbers = set()
    for mine in {number for hunk in own for number in range(*hunk.new)}:
        before = [change for change in changes if change.old[1] <= mine]
        if not any(change.old[0] <= mine < change.old[1] for change in changes):
            shift = before[-1].new[1] - before[-1].old[1] if before else 0
            numbers.add(mine + shift + 1)
    return numbers


def _common(one: tuple[int, int], other: tuple[int, int]) -> range:
    return range(max(one[0], other[0]), min(one[1], other[1]))


def _around(own: Hunk, change: Hunk, size: int) -> list[int]:
    """Return the neighbours of a place where I deleted lines, if a change takes all of them.

    Nothing shows the place after such a change. `size` is the number of lines.
    """
    place = own.new[0]
    before, behind = place == 0 or change.old[0] < place, place == size or place < change.old[1]
    if own.new[0] != own.new[1] or not (before and behind and change.old[0] <= place <= change.old[1]):
        return []
    neighbours = (place - 1, place)
    return [number for number in neighbours if change.old[0] <= number < change.old[1]]


def _brought_back(own: Hunk, change: Hunk, base: Sequence[bytes], brought: Sequence[bytes]) -> list[bytes]:
    """Return the lines that I deleted, if a change brings all of them back at their place, else none."""
    if own.new[0] != own.new[1] or not change.old[0] <= own.new[0] <= change.old[1]:
        return []
    deleted = list(base[own.old[0] : own.old[1]])
    if not any(line.strip() for line in deleted):
        return []
    size = len(deleted)
    starts = range(len(brought) - size + 1)
    return deleted if any(list(brought[start : start + size]) == deleted for start in starts) else []


def _range(start: bytes, count: bytes | None) -> tuple[int, int]:
    """Convert git's notation, which names an empty range by the line before it."""
    number = 1 if count is None else int(count)
    first = int(start) - 1 if number else int(start)
    return first, first + number
