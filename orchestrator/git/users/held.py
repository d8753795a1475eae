"""The content of a path of a checkout, to the byte, without following links or using git's filters."""

import hashlib
import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory

from orchestrator.git.command import git, git_bytes
from state.errors import GitError

_ALL_BITS = 0o7777
_SHA1_DIGITS = 40


class PathKind(StrEnum):
    """The kind of thing at a path."""

    FILE = "file"
    LINK = "link"
    NOTHING = "nothing"
    OTHER = "other"  # a folder, a socket: things that git does not keep


@dataclass(frozen=True, slots=True, kw_only=True)
class PathContent:
    """The content of a path: `blob` names its bytes, or a link's target. `mode` are its permission bits."""

    kind: PathKind
    mode: int = 0
    blob: str = ""


async def held_at(root: Path, path: str) -> PathContent:
    """Return the current content of a path, with its bytes in git's objects. Links are not followed."""
    kind, mode, content = look_at(root / path)
    return PathContent(kind=kind, mode=mode, blob=await blob_of(root, content) if content is not None else "")


def is_as(root: Path, path: str, held: PathContent) -> bool:
    """Whether a path holds exactly this content now, apart from its permission bits."""
    kind, _, content = look_at(root / path)
    if kind is not held.kind or content is None:
        return kind is held.kind
    digest = hashlib.sha1 if len(held.blob) == _SHA1_DIGITS else hashlib.sha256
    return digest(b"blob %d\0" % len(content) + content).hexdigest() == held.blob


def is_empty(held: PathContent) -> bool:
    """Whether it is an empty file."""
    digest = hashlib.sha1 if len(held.blob) == _SHA1_DIGITS else hashlib.sha256
    return held.kind is PathKind.FILE and held.blob == digest(b"blob 0\0").hexdigest()


def look_at(place: Path) -> tuple[PathKind, int, bytes | None]:
    """Return the kind and permission bits of a path, and its bytes or the target of the link.

    Raises:
        GitError: it cannot be read.
    """
    try:
        found = place.lstat()
        if stat.S_ISLNK(found.st_mode):
            return PathKind.LINK, 0, os.fsencode(place.readlink())
        if not stat.S_ISREG(found.st_mode):
            return PathKind.OTHER, 0, None
        return PathKind.FILE, found.st_mode & _ALL_BITS, place.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return PathKind.NOTHING, 0, None
    except OSError as error:
        raise GitError(f"{place} cannot be read, so that no copy of it can be kept: {error}") from error


def is_inside(path: Path, folders: Sequence[Path]) -> bool:
    """Whether a path is in one of the folders. A link is where it is, and also where it leads."""
    here = Path(os.path.realpath(path.parent)) / path.name
    return any(
        one.is_relative_to(folder) for one in (here, Path(os.path.realpath(path))) for folder in folders
    )


def set_aside(place: Path, where: Path) -> None:
    """Move something out of the way, to `where`, or to `where-N` if that is taken."""
    number, free = 1, where
    while os.path.lexists(free):
        number += 1
        free = where.with_name(f"{where.name}-{number}")
    free.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    shutil.move(place, free)


async def blob_of(root: Path, content: bytes) -> str:
    """Return the blob of these bytes as they are, written into git's objects."""
    return (await git_bytes(root, "hash-object", "-w", "--stdin", stdin=content)).decode().strip()


async def tree_of_files(root: Path, files: Mapping[str, PathContent]) -> str:
    """Return a tree of exactly these files, made through a temporary index."""
    lines = b"".join(
        b"%s %s\t%s\0" % (_git_mode(held), held.blob.encode(), os.fsencode(path))
        for path, held in files.items()
        if held.blob
    )
    with TemporaryDirectory(prefix="sq-") as temporary:
        environment = {"GIT_INDEX_FILE": str(Path(temporary) / "index")}
        await git_bytes(root, "update-index", "-z", "--index-info", stdin=lines, environment=environment)
        return await git(root, "write-tree", environment=environment)


def _git_mode(held: PathContent) -> bytes:
    if held.kind is PathKind.LINK:
        return b"120000"
    return b"100755" if held.mode & stat.S_IXUSR else b"100644"
