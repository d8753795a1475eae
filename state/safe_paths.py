"""Files below a folder that an agent writes, opened component by component so that no link leads out of it.

A check of a path followed by its use is a race that a process in the folder can win. Here each folder on the
way is opened by its descriptor, without following links, and used by that descriptor. Links that stay inside
the folder are followed for reading, never for writing.
"""

import os
import shutil
import stat
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EINVAL, ELOOP, EXDEV
from pathlib import Path

_MOST_LINKS = 40
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def read_inside(folder: Path, path: str, *, limit: int | None = None) -> bytes:
    """Return a file's bytes, at most `limit`. Links are followed as long as they stay in the folder.

    Raises:
        OSError: there is no such file, it is no regular file, or a link leads out of the folder.
    """
    descriptor = _opened(folder, path)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(EINVAL, "it is not a regular file", str(folder / path))
    with os.fdopen(descriptor, "rb") as file:
        return file.read(-1 if limit is None else limit)


def write_inside(folder: Path, path: str, content: bytes, *, mode: int = 0o644) -> None:
    """Write a file whole or not at all, with exactly this mode. A link in its place is replaced.

    Raises:
        OSError: a part of the way is a link or no folder, or the file cannot be written.
    """
    with parent_inside(folder, path) as (parent, name):
        draft = f".{name}.{os.urandom(8).hex()}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            with os.fdopen(os.open(draft, flags, 0o600, dir_fd=parent), "wb") as file:
                file.write(content)
                os.fchmod(file.fileno(), mode)
            os.replace(draft, name, src_dir_fd=parent, dst_dir_fd=parent)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(draft, dir_fd=parent)
            raise


def remove_inside(folder: Path, path: str) -> None:
    """Remove a file, a link, or a folder with its content. Nothing happens if it or its folder is missing.

    Raises:
        OSError: a part of the way is a link, or something cannot be removed.
    """
    with suppress(FileNotFoundError), parent_inside(folder, path) as (parent, name):
        if stat.S_ISDIR(os.lstat(name, dir_fd=parent).st_mode):
            shutil.rmtree(name, dir_fd=parent)
        else:
            os.unlink(name, dir_fd=parent)


@contextmanager
def parent_inside(folder: Path, path: str, *, like: Path | None = None) -> Iterator[tuple[int, str]]:
    """Open the folder that holds `path` and yield its descriptor and the last part of the path.

    `like`: missing folders on the way are made, with the modes that they have below this folder.

    Raises:
        OSError: a part of the way is a link or no folder.
    """
    *way, name = _parts(path)
    if not name:
        raise OSError(EINVAL, "it names no file inside the folder", str(folder / path))
    current = os.open(folder, _FOLDER & ~os.O_NOFOLLOW)
    try:
        for number, part in enumerate(way):
            if like is not None:
                _made(current, part, like / "/".join(way[: number + 1]))
            current = _stepped(current, part)
        yield current, name
    finally:
        os.close(current)


def _made(parent: int, name: str, like: Path) -> None:
    """Make a folder with the permissions of another one, if it is missing."""
    with suppress(FileExistsError):
        os.mkdir(name, dir_fd=parent)
        new = os.open(name, _FOLDER, dir_fd=parent)
        try:
            os.fchmod(new, like.stat().st_mode & 0o777 | stat.S_IRWXU)
        finally:
            os.close(new)


def _stepped(current: int, part: str) -> int:
    """Open a folder in a folder and close the outer one."""
    inner = os.open(part, _FOLDER, dir_fd=current)
    os.close(current)
    return inner


def _opened(folder: Path, path: str) -> int:
    """Open a file. Each link on the way is read and walked from where it lies."""
    waiting, links = deque(_parts(path)), 0
    stack = [os.open(folder, _FOLDER & ~os.O_NOFOLLOW)]
    try:
        while waiting:
            part = waiting.popleft()
            if part == os.pardir:
                if len(stack) == 1:
                    raise OSError(EXDEV, "it leads out of the folder", str(folder / path))
                os.close(stack.pop())
                continue
            facts = os.lstat(part, dir_fd=stack[-1])
            if stat.S_ISLNK(facts.st_mode):
                links += 1
                target = os.readlink(part, dir_fd=stack[-1])
                if target.startswith("/"):
                    raise OSError(EXDEV, "it leads out of the folder", str(folder / path))
                if links > _MOST_LINKS:
                    raise OSError(ELOOP, os.strerror(ELOOP), str(folder / path))
                waiting.extendleft(reversed(_parts(target, upwards=True)))
            elif waiting:
                stack.append(os.open(part, _FOLDER, dir_fd=stack[-1]))
            else:
                return os.open(part, _FILE, dir_fd=stack[-1])
        raise OSError(EINVAL, "it is a folder", str(folder / path))
    finally:
        for one in stack:
            os.close(one)


def _parts(path: str, *, upwards: bool = False) -> list[str]:
    parts = [part for part in path.split("/") if part not in {"", os.curdir}]
    if path.startswith("/") or (os.pardir in parts and not upwards) or not (parts or upwards):
        raise OSError(EXDEV, "it leads out of the folder", path)
    return parts
