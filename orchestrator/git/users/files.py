"""Changes to the user's uncommitted work since it was copied, and putting it back to the byte.

In a text only the user's own lines count, and other lines around them stay. In anything else, such as a
binary or a deleted file, every change counts.
"""

import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agents.process.sandbox.inside import framed
from orchestrator.git.command import git_bytes, told_of
from orchestrator.git.users.backup import (
    Backup,
    Kept,
    KeptRepository,
    PathKind,
    Seen,
    blob_of,
    is_as,
    look_at,
)

_HEADER = re.compile(rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
_DIFF = ("diff", "-U0", "--text", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames")
_LOOKED_AT = 8000  # bytes in which a NUL marks a binary file, as in git


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A path that no longer holds all of the user's work.

    `lost` are the user's lines that are gone or changed, with their numbers in the user's version. `restored`
    are lines that the user had deleted and that are back. If both are empty, the whole path differs.
    `content` is the content to write (None: the copied one). `overwritten`: the current content has parts of
    its own that will be replaced. `refused`: the change is not trivial.
    """

    kept: Kept
    lost: tuple[tuple[int, str], ...] = ()
    restored: tuple[str, ...] = ()
    content: bytes | None = None
    overwritten: bool = False
    refused: bool = True


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


async def changes_since(root: Path, backup: Backup) -> list[Change]:
    """Return the paths of a copy that no longer hold all of the user's work.

    Raises:
        GitError: something cannot be read.
    """
    found = []
    now = await look_at(
        root, [path for path, kept in backup.files.items() if kept.held.kind is not PathKind.OTHER]
    )
    for repository in backup.repositories:
        for kept in repository.files:
            if kept.path in now and not is_as(now[kept.path], kept.held):
                change = await _change(root, repository, kept, now[kept.path])
                found += [change] if change else []
    return found


async def put_back(root: Path, changes: Sequence[Change], *, aside: Path) -> None:
    """Put the user's work back where it changed. Folders and links in the way are moved into `aside`.

    Raises:
        OSError: a file cannot be written.
    """
    files = [(one.kept.path, *await _put(root, one)) for one in changes]
    if files:
        await told_of(root, "put", str(aside), given=framed(files), writes=[root, aside])


async def _put(root: Path, change: Change) -> tuple[int, bytes]:
    """Return the mode and the content that a path gets back."""
    held = change.kept.held
    if held.kind is PathKind.NOTHING:
        return 0, b""
    content = change.content
    if content is None:
        content = await git_bytes(root, "cat-file", "blob", held.blob)
    return (stat.S_IFLNK if held.kind is PathKind.LINK else stat.S_IFREG | held.mode), content


async def users_line_numbers(root: Path, backup: Backup, path: str, now: bytes) -> set[int]:
    """Return the numbers of the user's lines in the current text of a path, empty if there are none."""
    for repository in backup.repositories:
        for kept in repository.files:
            if kept.path == path and kept.held.kind is PathKind.FILE:
                copied = await git_bytes(root, "cat-file", "blob", kept.held.blob)
                base, mine, theirs = map(whole_lines, (await _base(root, repository, kept), copied, now))
                own, changes = await hunks_between(root, base, mine), await hunks_between(root, mine, theirs)
                return numbers_in(own, changes)
    return set()


async def hunks_between(root: Path, old: bytes, new: bytes) -> list[Hunk]:
    """Return the hunks from one text to another."""
    if old == new:
        return []
    blobs = [await blob_of(root, text) for text in (old, new)]
    return hunks_of(await git_bytes(root, *_DIFF, *blobs))


def whole_lines(text: bytes) -> bytes:
    """Return the text with an end of its last line, so that a line added after it does not change it."""
    return text if text.endswith(b"\n") or not text else text + b"\n"


def by_line(text: bytes) -> list[bytes]:
    """Return the lines as git counts them."""
    return [line + b"\n" for line in text.split(b"\n")[:-1]]


async def _change(root: Path, repository: KeptRepository, kept: Kept, seen: Seen) -> Change | None:
    kind, now = seen.kind, seen.content
    if kept.whole or kind is not PathKind.FILE or now is None:
        return Change(kept=kept, overwritten=kind in {PathKind.FILE, PathKind.LINK})
    copied = await git_bytes(root, "cat-file", "blob", kept.held.blob)
    base, mine, theirs = map(whole_lines, (await _base(root, repository, kept), copied, now))
    if any(b"\0" in text[:_LOOKED_AT] for text in (mine, theirs)):
        return Change(kept=kept, overwritten=True)
    own, changes = await hunks_between(root, base, mine), await hunks_between(root, mine, theirs)
    texts = by_line(base), by_line(mine), by_line(theirs)
    merged = without_overlaps(*texts, own=own, changes=changes)
    content = _ended(b"".join(merged.lines), [(mine, copied), (theirs, now)])
    if content == now:
        return None
    return Change(
        kept=kept,
        lost=tuple((number, _shown(line)) for number, line in merged.lost),
        restored=tuple(_shown(line) for line in merged.restored),
        content=content,
        overwritten=merged.overwritten,
        refused=bool(merged.lost or merged.restored),
    )


async def _base(root: Path, repository: KeptRepository, kept: Kept) -> bytes:
    """Return HEAD's content of a path, as git writes it into the checkout: with the user's line ends."""
    if not kept.base:
        return b""
    if kept.plain:
        return await git_bytes(root, "cat-file", "blob", kept.base)
    name = os.path.relpath(kept.path, repository.path or ".")
    return await git_bytes(root / repository.path, "cat-file", "--filters", f"--path={name}", kept.base)


def _ended(content: bytes, whose: Sequence[tuple[bytes, bytes]]) -> bytes:
    """Return a text ended like the text that has the same last line: some have no final line end.

    `whose`: texts with a line end, each with its original.
    """
    last = by_line(content)[-1:]
    really = next((real for text, real in whose if by_line(text)[-1:] == last), content)
    return content if really.endswith(b"\n") else content.removesuffix(b"\n")


def _shown(line: bytes) -> str:
    return line.decode(errors="replace").rstrip("\r\n")


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
