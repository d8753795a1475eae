"""Questions about a folder that an agent writes, which a sandbox answers, so that no link leads out of it.

    python -I -S -c COMMAND ROOT QUESTION WORDS…

`told` answers in the process that asks, where no session lives. The sandbox sees this room and `state` alone,
so nothing but Python's own modules and `state.safe_paths` is imported.
"""

import json
import os
import shutil
import stat
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from errno import ELOOP, ENOENT, ENOTDIR
from pathlib import Path

from state.safe_paths import files_inside, make_ordinary, parent_inside, read_inside, write_inside

ROOT = Path(__file__).parents[3]
ROOMS = (Path(__file__).parent, ROOT / "state")
COMMAND = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from agents.process.sandbox.inside import main; main()"
)
_LARGEST = 2**30
_BLOCK = 512  # bytes, of `st_blocks`
_NOT_THERE = {ENOENT, ENOTDIR, ELOOP}  # also if a part of the way is a link or no folder


def told(question: str, words: Sequence[str], given: bytes = b"") -> bytes:
    """Return the answer to a question. Its first word is the folder, and `given` its input.

    Raises:
        OSError: something cannot be read, written or removed.
    """
    match question, words:
        case "ordinary", [folder]:
            return b"\0".join(map(os.fsencode, make_ordinary(Path(folder))))
        case "large", [folder, least]:
            return json.dumps(large_inside(Path(folder), int(least))).encode()
        case "written", [*folders, since]:
            return json.dumps(written_inside(map(Path, folders), float(since))).encode()
        case "held", [folder]:
            return framed(("", *held_inside(Path(folder), path)) for path in json.loads(given))
        case "put", [folder, aside]:
            for path, mode, content in unframed(given):
                put_inside(Path(folder), path, mode, content, aside=Path(aside))
            return b""
    raise ValueError(question)


def main() -> None:
    """Answer the question of the command line."""
    sys.stdout.buffer.write(told(sys.argv[1], sys.argv[2:], sys.stdin.buffer.read()))


def large_inside(folder: Path, least: int) -> Mapping[str, int]:
    """Return the files of a folder that have so many bytes, each with its size."""
    found: dict[str, int] = {}
    for name in files_inside(folder):
        with suppress(OSError), parent_inside(folder, name) as (parent, last):
            if (size := os.lstat(last, dir_fd=parent).st_size) >= least:
                found[name] = size
    return found


def written_inside(folders: Iterable[Path], since: float) -> tuple[int, int]:
    """Return the bytes and the number of the files that were changed since then.

    A new folder that cannot be looked into counts as too much.
    """
    seen: dict[tuple[int, int], int] = {}
    for folder in folders:
        for name in files_inside(folder, most=sys.maxsize, every=True):
            try:
                with parent_inside(folder, name) as (parent, last):
                    facts = os.lstat(last, dir_fd=parent)
            except OSError:
                continue
            if facts.st_ctime >= since:
                if stat.S_ISDIR(facts.st_mode):
                    return sys.maxsize, sys.maxsize
                seen[facts.st_dev, facts.st_ino] = facts.st_blocks * _BLOCK
    return sum(seen.values()), len(seen)


def held_inside(folder: Path, path: str) -> tuple[int, bytes]:
    """Return the mode of a path, and a file's bytes or the target of a link. 0: there is nothing.

    No link is followed.

    Raises:
        OSError: it cannot be read, or is larger than a gigabyte.
    """
    try:
        with parent_inside(folder, path) as (parent, name):
            mode = os.lstat(name, dir_fd=parent).st_mode
            if stat.S_ISLNK(mode):
                return mode, os.fsencode(os.readlink(name, dir_fd=parent))
        return mode, read_inside(folder, path, largest=_LARGEST) if stat.S_ISREG(mode) else b""
    except OSError as error:
        if error.errno not in _NOT_THERE:
            raise
        return 0, b""


def put_inside(folder: Path, path: str, mode: int, content: bytes, *, aside: Path) -> None:
    """Put a file or a link at a path, or nothing if the mode is 0.

    Only a file may be there, and only folders above it. Everything else is moved into `aside`. Parts of the
    way are named, and not opened, so this is for a sandbox or a folder in which no session lives.

    Raises:
        OSError: it cannot be written.
    """
    target = folder / path
    above = [one for one in target.parents if one != folder and one.is_relative_to(folder)]
    for place in reversed(above):
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            set_aside(place, aside / place.relative_to(folder))
    now = target.lstat().st_mode if os.path.lexists(target) else 0
    if now and not (stat.S_ISREG(now) or stat.S_ISLNK(now)):
        set_aside(target, aside / path)
    elif now and not (stat.S_ISREG(now) and stat.S_ISREG(mode)):
        target.unlink()
    if not mode:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if stat.S_ISLNK(mode):
        target.symlink_to(os.fsdecode(content))
    else:
        write_inside(folder, path, content, mode=stat.S_IMODE(mode))


def set_aside(place: Path, where: Path) -> None:
    """Move something out of the way, to `where`, or to `where-N` if that is taken."""
    number, free = 1, where
    while os.path.lexists(free):
        number += 1
        free = where.with_name(f"{where.name}-{number}")
    free.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    shutil.move(place, free)


def framed(files: Iterable[tuple[str, int, bytes]]) -> bytes:
    """Return paths, each with a mode and a content, as bytes."""
    heads = ((json.dumps([path, mode, len(content)]).encode(), content) for path, mode, content in files)
    return b"".join(b"%b\n%b" % one for one in heads)


def unframed(content: bytes) -> Iterable[tuple[str, int, bytes]]:
    """Yield what `framed` was given."""
    at = 0
    while at < len(content):
        begins = content.index(b"\n", at) + 1
        path, mode, length = json.loads(content[at:begins])
        at = begins + length
        yield path, mode, content[begins:at]
