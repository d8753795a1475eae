"""New objects that git made from an agent's files: looked at, then taken over into the repository.

Each is a regular file, its content has its name as hash, and it is a blob or a tree. Entries of trees have
the kinds that git makes and names that stay inside a worktree. What is not so is never taken over.
"""

import hashlib
import os
import re
import shutil
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path

from state.errors import GitError

_NAME = re.compile(r"[0-9a-f]{38}(?:[0-9a-f]{24})?")
_SHA256 = 64  # characters of a name
_KINDS = {b"100644", b"100755", b"120000", b"40000", b"160000"}
_PIECE = 1 << 20  # bytes
_UNSEEN = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")  # HFS+ ignores these in names
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def take_over(quarantine: Path, objects: Path) -> None:
    """Move the objects of a quarantine into a repository's folder of objects, those without others first.

    Raises:
        GitError: one of them is not what git makes of files. Nothing is taken over then, and it is removed.
    """
    try:
        found = sorted(_found_in(quarantine))
        trees = [name for name in found if _is_tree(quarantine / name[:2] / name[2:], name)]
        for name in (*(one for one in found if one not in trees), *trees):
            _move(quarantine / name[:2] / name[2:], objects / name[:2] / name[2:])
    except (GitError, OSError, ValueError, zlib.error) as error:
        shutil.rmtree(quarantine, ignore_errors=True)
        raise GitError(f"what git made of an agent's files is not taken over: {error}") from error


def _found_in(quarantine: Path) -> Iterator[str]:
    for folder in quarantine.iterdir():
        if folder.name == "pack" and (pack := next(folder.glob("*.pack"), None)):
            raise GitError(f"{pack.name}: a file is too large for git to take in as one object")
        if len(folder.name) == 2:  # noqa: PLR2004  the first characters of a name
            for file in folder.iterdir():
                if _NAME.fullmatch(file.name):
                    yield folder.name + file.name
                else:
                    file.unlink(missing_ok=True)  # begun by a git that was killed


def _is_tree(path: Path, name: str) -> bool:
    """Whether an object is a tree, and no blob. A blob is read piece by piece."""
    digest = hashlib.sha256() if len(name) == _SHA256 else hashlib.sha1(usedforsecurity=False)
    head, body, size = b"", b"", 0
    for piece in _unpacked(path):
        digest.update(piece)
        if not size:
            head = piece.partition(b"\0")[0]
        if head.startswith(b"tree "):
            body += piece
        size += len(piece)
    kind, _, said = head.partition(b" ")
    if digest.hexdigest() != name or said != str(size - len(head) - 1).encode():
        raise GitError(f"{name} has other content than its name says")
    if kind == b"tree":
        _check_entries(name, body[len(head) + 1 :])
    elif kind != b"blob":
        raise GitError(f"{name} is a {kind.decode(errors='replace')}")
    return kind == b"tree"


def _unpacked(path: Path) -> Iterator[bytes]:
    """Yield the content of a loose object, its head included."""
    descriptor = os.open(path, _FILE)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise GitError(f"{path.name} is no file")
        packed = zlib.decompressobj()
        while not packed.eof:
            given = packed.unconsumed_tail or file.read(_PIECE)
            if not given:
                raise GitError(f"{path.name} is cut off")
            if piece := packed.decompress(given, _PIECE):
                yield piece
        if packed.unused_data or file.read(1):
            raise GitError(f"{path.name} goes on behind its end")


def _check_entries(tree: str, body: bytes) -> None:
    at, length = 0, len(tree) // 2
    while at < len(body):
        space, end = body.index(b" ", at), body.index(b"\0", at)
        mode, name = body[at:space], body[space + 1 : end]
        if mode not in _KINDS or not is_inside(name):
            raise GitError(f"{tree} has an entry {mode!r} {name!r}")
        at = end + 1 + length


def is_inside(name: bytes) -> bool:
    """Whether a name of an entry stays in its folder, and is that of no git folder on any file system."""
    if name in {b"", b".", b".."} or b"/" in name:
        return False
    parts = _UNSEEN.sub("", name.decode(errors="replace")).lower().split("\\")
    return not any(part.partition(":")[0].rstrip(". ") in {".git", "git~1"} for part in parts)


def _move(source: Path, target: Path) -> None:
    if target.exists():
        source.unlink()
        return
    target.parent.mkdir(exist_ok=True)
    source.chmod(0o444)
    try:
        source.rename(target)
    except OSError:  # another file system
        draft = target.with_name(f"tmp_obj_{os.getpid()}_{target.name}")
        shutil.copyfile(source, draft)
        draft.chmod(0o444)
        draft.replace(target)
        source.unlink()
