"""Changes to the user's uncommitted work since it was copied, and putting it back to the byte.

In a text only the user's own lines count, and other lines around them stay. In anything else, such as a
binary or a deleted file, every change counts.
"""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator.git.command import git_bytes
from orchestrator.git.users.backup import Backup, Kept, KeptRepository
from orchestrator.git.users.held import PathContent, PathKind, blob_of, is_as, look_at
from orchestrator.git.users.hunks import Hunk, hunks_of, numbers_in, without_overlaps
from state.safe_paths import write_inside

_DIFF = ("diff", "-U0", "--text", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames")
_LOOKED_AT = 8000  # bytes in which a NUL marks a binary file, as in git
_EXECUTABLE = 0o111


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


async def changes_since(root: Path, backup: Backup) -> list[Change]:
    """Return the paths of a copy that no longer hold all of the user's work.

    Raises:
        GitError: something cannot be read.
    """
    found = []
    for repository in backup.repositories:
        for kept in repository.files:
            if kept.held.kind is not PathKind.OTHER and not is_as(root, kept.path, kept.held):
                change = await _change(root, repository, kept)
                found += [change] if change else []
    return found


async def put_back(root: Path, changes: Sequence[Change], *, aside: Path) -> None:
    """Put the user's work back where it changed. Folders and links in the way are moved into `aside`.

    Raises:
        OSError: a file cannot be written.
    """
    for change in changes:
        kept = change.kept
        target = root / kept.path
        _clear_the_way(root, target, kept.held, aside)
        if kept.held.kind is PathKind.NOTHING:
            continue
        content = change.content
        if content is None:
            content = await git_bytes(root, "cat-file", "blob", kept.held.blob)
        target.parent.mkdir(parents=True, exist_ok=True)
        if kept.held.kind is PathKind.LINK:
            target.symlink_to(os.fsdecode(content))
        else:
            write_inside(root, kept.path, content, mode=kept.held.mode)


async def users_line_numbers(root: Path, backup: Backup, path: str) -> set[int]:
    """Return the current numbers of the user's lines of a path, empty if there are none or it is not text."""
    for repository in backup.repositories:
        for kept in repository.files:
            now = look_at(root / path)[2]
            if kept.path == path and kept.held.kind is PathKind.FILE and now is not None:
                copied = await git_bytes(root, "cat-file", "blob", kept.held.blob)
                base, mine, theirs = map(whole_lines, (await _base(root, repository, kept), copied, now))
                own, changes = await hunks_between(root, base, mine), await hunks_between(root, mine, theirs)
                return numbers_in(own, changes)
    return set()


async def _change(root: Path, repository: KeptRepository, kept: Kept) -> Change | None:
    kind, _, now = look_at(root / kept.path)
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


def whole_lines(text: bytes) -> bytes:
    """Return the text with an end of its last line, so that a line added after it does not change it."""
    return text if text.endswith(b"\n") or not text else text + b"\n"


async def hunks_between(root: Path, old: bytes, new: bytes) -> list[Hunk]:
    """Return the hunks from one text to another."""
    if old == new:
        return []
    blobs = [await blob_of(root, text) for text in (old, new)]
    return hunks_of(await git_bytes(root, *_DIFF, *blobs))


def _ended(content: bytes, whose: Sequence[tuple[bytes, bytes]]) -> bytes:
    """Return a text ended like the text that has the same last line: some have no final line end.

    `whose`: texts with a line end, each with its original.
    """
    last = by_line(content)[-1:]
    really = next((real for text, real in whose if by_line(text)[-1:] == last), content)
    return content if really.endswith(b"\n") else content.removesuffix(b"\n")


def by_line(text: bytes) -> list[bytes]:
    """Return the lines as git counts them."""
    return [line + b"\n" for line in text.split(b"\n")[:-1]]


def _shown(line: bytes) -> str:
    return line.decode(errors="replace").rstrip("\r\n")


def _clear_the_way(root: Path, target: Path, held: PathContent, aside: Path) -> None:
    """Clear the target path: only a file may be there, and only folders above it.

    A file that is removed is in a commit of its own by now. Everything else is moved.
    """
    above = [folder for folder in target.parents if folder != root and folder.is_relative_to(root)]
    for place in reversed(above):
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            _set_aside(root, place, aside)
    kind, _, _ = look_at(target)
    if kind is PathKind.OTHER:
        _set_aside(root, target, aside)
    elif kind is not PathKind.NOTHING and (kind, held.kind) != (PathKind.FILE, PathKind.FILE):
        target.unlink()


def _set_aside(root: Path, place: Path, aside: Path) -> None:
    where = aside / place.relative_to(root)
    number = 1
    while os.path.lexists(where):
        number += 1
        where = aside / f"{place.relative_to(root)}-{number}"
    where.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    shutil.move(place, where)
