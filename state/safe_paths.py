"""Files below a folder that an agent writes, opened component by component so that no link leads out of it.

A check of a path followed by its use is a race that a process in the folder can win. Here each folder on the
way is opened by its descriptor, without following links, and used by that descriptor. Links that stay inside
the folder are followed for reading, never for writing. What a process left there instead of a file, such as
a pipe or a hole, is an `OSError` at once, and goes with its folder.
"""

import os
import stat
import time
from collections import deque
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from errno import EFBIG, EINVAL, ELOOP, EXDEV
from itertools import islice
from pathlib import Path

_MOST_LINKS = 40
_REMOVAL_S = 300.0  # tens of thousands of files take a minute on a slow disk
_AT_ONCE = 10_000  # entries of a folder
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LARGEST = 256 * 2**20
_MOST_FILES = 1_000_000
_DEEPEST = 64  # folders, for a list of files
_LONGEST_PATH, _MOST_LEVELS = 2_000, 200  # bytes, of 4,096 that the kernel takes, and folders
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def read_inside(folder: Path, path: str, *, limit: int | None = None, largest: int = _LARGEST) -> bytes:
    """Return a file's bytes, at most `limit`. Links are followed as long as they stay in the folder.

    Raises:
        OSError: there is no such file, it is no regular file or, without a limit, has more bytes than
            `largest`, or a link leads out of the folder.
    """
    descriptor = _opened(folder, path)
    facts = os.fstat(descriptor)
    if not stat.S_ISREG(facts.st_mode):
        os.close(descriptor)
        raise OSError(EINVAL, "it is not a regular file", str(folder / path))
    with os.fdopen(descriptor, "rb") as file:
        if limit is None and facts.st_size > largest:
            raise OSError(EFBIG, f"it has more than {largest} bytes", str(folder / path))
        return file.read(largest if limit is None else limit)


def files_inside(
    folder: Path, *, skipped: Collection[str] = (), most: int = _MOST_FILES, every: bool = False
) -> Iterator[str]:
    """Yield the relative paths of what is no folder, each folder's sorted, before those of its folders.

    No link is followed. Folders that are closed, very deep or named in `skipped` are passed over, and so are
    names that are no text. Of very many files `most` are listed. `every`: other names too, and folders that
    are not looked into.
    """
    waiting, left = [""], most
    while waiting and left > 0:
        prefix = waiting.pop()
        try:
            with parent_inside(folder, f"{prefix}x") as (here, _), os.scandir(here) as found:
                kinds = sorted((one.name, one.is_dir(follow_symlinks=False)) for one in islice(found, most))
        except OSError:
            if every:
                yield prefix
            continue
        kinds = [one for one in kinds if every or is_text(one[0])]
        names = [name for name, is_folder in kinds if not is_folder][:left]
        left -= len(names)
        yield from (prefix + name for name in names)
        inner = [f"{prefix}{name}/" for name, folds in reversed(kinds) if folds and name not in skipped]
        if prefix.count("/") < _DEEPEST:
            waiting += inner
        elif every:
            yield from inner


def is_text(name: str) -> bool:
    """Whether a file's name is UTF-8, so that it can be stored and shown."""
    return name.isascii() or not any("\ud800" <= one <= "\udfff" for one in name)


@dataclass(slots=True, kw_only=True)
class Oddities:
    """What a snapshot could not take in: paths that were removed, and git's words on those `left_out`."""

    removed: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)


def make_ordinary(folder: Path) -> list[str]:
    """Remove what no commit can hold, and return the paths: pipes, sockets, devices, paths too long for git.

    Closed folders and files are opened for their owner. Links and the folder's own `.git` stay as they are.

    Raises:
        OSError: something can be neither opened nor removed.
    """
    until, removed, waiting = time.monotonic() + _REMOVAL_S, list[str](), [""]
    while waiting:
        prefix = waiting.pop()
        with parent_inside(folder, f"{prefix}x") as (here, _):
            for name in os.listdir(here):  # noqa: PTH208  by its descriptor
                mode = os.lstat(name, dir_fd=here).st_mode
                too_long = len(os.fsencode(prefix + name)) > _LONGEST_PATH or prefix.count("/") > _MOST_LEVELS
                if too_long or not (stat.S_ISDIR(mode) or stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
                    _remove_at(here, name, until=until)
                    removed.append(prefix + name)
                elif stat.S_ISDIR(mode) and (prefix or name != ".git"):
                    with _entered(here, name):
                        waiting.append(f"{prefix}{name}/")
                elif stat.S_ISREG(mode):
                    _give_owner(here, name, stat.S_IRUSR)
        if time.monotonic() > until:
            raise TimeoutError(f"{folder} holds too much to look at")
    return removed


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
        _remove_at(parent, name, until=time.monotonic() + _REMOVAL_S)


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


# --- removal ------------------------------------------------------------------------------------------


def remove_tree(folder: Path, *, within_s: float = _REMOVAL_S) -> str:
    """Remove a folder, a file or a link. Return why something of it is left, or "". Never raises.

    Folders inside are moved up into the one that is removed before they are emptied, so that depth costs
    neither recursion, nor descriptors, nor a path that is too long for the kernel.
    """
    try:
        above = os.open(folder.parent, _FOLDER & ~os.O_NOFOLLOW)
        try:
            _remove_at(above, folder.name, until=time.monotonic() + within_s)
        finally:
            os.close(above)
    except FileNotFoundError:
        return ""
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _remove_at(parent: int, name: str, *, until: float) -> None:
    """Remove what has this name in the folder of a descriptor. `until` is a time of `time.monotonic`.

    Raises:
        OSError: something of it is left.
    """
    if not stat.S_ISDIR(os.lstat(name, dir_fd=parent).st_mode):
        os.unlink(name, dir_fd=parent)
        return
    with _entered(parent, name) as top:
        while (inner := _emptied(top, top, until)) is not None:
            for one in inner:
                with _entered(top, one) as folder:
                    _emptied(folder, top, until)
                with suppress(OSError):  # not empty yet: it is found again
                    os.rmdir(one, dir_fd=top)
    os.rmdir(name, dir_fd=parent)


@contextmanager
def _entered(parent: int, name: str) -> Iterator[int]:
    """Open a folder in a folder, whose owner gets every right to it, and yield its descriptor.

    Raises:
        OSError: it is no folder, or somebody else's.
    """
    _give_owner(parent, name, stat.S_IRWXU)
    folder = os.open(name, _FOLDER, dir_fd=parent)
    try:
        yield folder
    finally:
        os.close(folder)


def _give_owner(parent: int, name: str, rights: int) -> None:
    """Give the owner of a file or a folder these rights to it. Another process may put a link in its place.

    Raises:
        OSError: it is somebody else's.
    """
    mode = os.lstat(name, dir_fd=parent).st_mode
    if mode & rights != rights:
        itself = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
        try:
            os.chmod(f"/proc/self/fd/{itself}", stat.S_IMODE(mode) | rights)  # noqa: PTH101  it takes a descriptor
        finally:
            os.close(itself)


def _emptied(folder: int, top: int, until: float) -> list[str] | None:
    """Remove the files of a folder and move its folders to `top`. Return their names, None if it is empty."""
    with os.scandir(folder) as found:
        entries = [(one.name, one.is_dir(follow_symlinks=False)) for one in islice(found, _AT_ONCE)]
    folders = []
    for name, is_folder in entries:
        if time.monotonic() > until:
            raise TimeoutError("its removal takes too long")
        if not is_folder:
            os.unlink(name, dir_fd=folder)
        elif folder == top:
            folders.append(name)
        else:
            with _entered(folder, name):  # a closed folder cannot be moved
                os.rename(name, f".{os.urandom(8).hex()}", src_dir_fd=folder, dst_dir_fd=top)
    return folders if entries else None
