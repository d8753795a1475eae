"""What the steps of a set-up made at the run's base, kept once in a run and put into its other places.

What a lock file decides lasts, and the next runs of the state folder begin with it.
Kept are all ignored files that a step's command made, wherever its tool puts them, by the key of all that the
step reads. A seal, the digest of them all, is compared before each copy. In a copy the texts and links that
name the place in which they were made name the new one. A binary file that names it cannot be moved.
"""

import hashlib
import os
import re
import stat
import subprocess
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from mmap import ACCESS_READ, mmap
from pathlib import Path
from urllib.parse import quote

import msgspec

from state.safe_paths import (
    files_inside,
    parent_inside,
    read_inside,
    remove_inside,
    remove_tree,
    write_inside,
)

_DRAFT, _TREE, _ABOUT, _MADE, _SEAL = ".draft", "tree", "about.json", "sq-made", ".seal"
_LASTS_S = 7 * 86400  # from its last use
ENVIRONMENT = "pyvenv.cfg"  # in each virtual environment
_COMPILED = ".pyc"
_Marks = dict[str, tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """A kept result: the place that it was made in, its paths there, and the files and links that name it."""

    made_in: str
    paths: tuple[str, ...]
    naming: tuple[str, ...]


def kept_folder(run_folder: Path) -> Path:
    """Return the folder of a run in which such results are kept."""
    return run_folder / "ready"


def lasting_folder(state: Path) -> Path:
    """Return the folder in which such results stay between the runs of a state folder."""
    return state / "ready"


def lasting_seal(lasting: Path, key: str) -> str:
    """Return the seal of a result that an earlier run has left, "" if there is none, and note its use."""
    seal = lasting / f"{key}{_SEAL}"
    try:
        os.utime(seal)
        return seal.read_text("ascii")
    except OSError:
        return ""


def let_last(kept: Path, lasting: Path, *, most: int = 3_000_000_000) -> None:
    """Move what lasts to where the next runs of the state folder find it.

    There, what was not used for a week goes, and of the rest what is more than `most` bytes.

    Raises:
        OSError: the folder cannot be written.
    """
    lasting.mkdir(mode=0o700, exist_ok=True)
    for seal in kept.glob(f"*{_SEAL}"):
        (lasting / seal.name).unlink(missing_ok=True)
        remove_tree(lasting / seal.stem)
        (kept / seal.stem).rename(lasting / seal.stem)
        seal.rename(lasting / seal.name)
    used = {one.stem: one.stat().st_mtime for one in lasting.glob(f"*{_SEAL}")}
    left, begins = most, time.time() - _LASTS_S
    for key in sorted(used, key=used.__getitem__, reverse=True):
        left -= _size_of(lasting / key / _TREE)
        if left < 0 or used[key] < begins:
            (lasting / f"{key}{_SEAL}").unlink(missing_ok=True)
            remove_tree(lasting / key)


def _size_of(folder: Path) -> int:
    return sum((folder / name).lstat().st_size for name in files_inside(folder, every=True))


def downloads_of(kept: Path) -> Path:
    """Return the folder with the downloads of steps that an agent changed, a folder a key."""
    return kept / "downloads"


def wheels_of(kept: Path) -> Path:
    """Return the folder with the wheels of packages that the base needed, a folder a key."""
    return kept / "wheels"


def keep(kept: Path, key: str, folder: Path, paths: Sequence[str], *, lasts: bool = False) -> str:
    """Keep what a step made in a place, and return its seal, or "" if it can be used in no other place."""
    draft, naming = kept / f"{key}{_DRAFT}", None
    remove_tree(draft)
    (draft / _TREE).mkdir(mode=0o700, parents=True)
    if all(copied(folder / path, draft / _TREE / path) for path in paths):
        naming = _naming(draft / _TREE, str(folder))
    if naming is None:
        remove_tree(draft)
        return ""
    about = Product(made_in=str(folder), paths=tuple(paths), naming=naming)
    (draft / _ABOUT).write_bytes(msgspec.json.encode(about))
    remove_tree(kept / key)
    draft.rename(kept / key)
    seal = seal_of(kept / key)
    if lasts:
        (kept / f"{key}{_SEAL}").write_text(seal, "ascii")
    return seal


def put(kept: Path, key: str, seal: str, folder: Path) -> Product | None:
    """Put a kept result into a place, instead of what is there.

    Returns:
        The result, or None if there is none with this seal or it cannot be put there: the command has to run.
    """
    source = kept / key
    if not (seal and source.is_dir() and seal_of(source) == seal):
        remove_tree(source)
        return None
    about = msgspec.json.decode((source / _ABOUT).read_bytes(), type=Product)
    there = (put_at(source / _TREE / path, folder, path) for path in about.paths)
    if all(there) and _names_anew(about, folder):
        return about
    remove_all(folder, about.paths)
    return None


def remove_all(folder: Path, paths: Iterable[str]) -> None:
    """Remove these paths in a place, but nothing behind a link on the way."""
    for path in paths:
        with suppress(OSError):
            remove_inside(folder, path)


def seal_of(folder: Path) -> str:
    """Return the digest of a folder: of the names, the modes and the content of everything in it."""
    found = hashlib.sha256()
    for name in files_inside(folder, every=True):
        path = folder / name
        with suppress(OSError):  # what cannot be read stands there by its name and mode
            mode = path.lstat().st_mode
            found.update(f"\0{mode:o}\0".encode() + os.fsencode(name) + b"\0")
            if stat.S_ISLNK(mode):
                found.update(os.fsencode(path.readlink()))
            elif stat.S_ISREG(mode):
                with path.open("rb") as file:
                    found.update(hashlib.file_digest(file, "sha256").digest())
    return found.hexdigest()


def note_made(own: Path, folder: Path, paths: Sequence[str], *, note: str = _MADE) -> None:
    """Note the files below these paths in a place of sq's. `own` is the place's git folder."""
    write_inside(own, note, msgspec.json.encode((paths, _marks(folder, paths))))


def is_as_made(own: Path, folder: Path, *, tidies: bool = False, note: str = _MADE) -> bool:
    """Whether all that a set-up made is there and was not touched. `tidies`: remove what came to it since."""
    if not (own / note).exists():
        return True
    paths, files = msgspec.json.decode((own / note).read_bytes(), type=tuple[list[str], _Marks])
    now = _marks(folder, paths)
    remove_all(folder, now.keys() - files.keys() if tidies else ())
    return all(now.get(name) == mark for name, mark in files.items())


def _marks(folder: Path, paths: Sequence[str]) -> _Marks:
    """Return the files below paths of a place, each with its node and the time of its last change."""
    found: _Marks = {}
    below = (f"{path}/{one}" for path in paths for one in files_inside(folder / path, every=True))
    for name in (*paths, *below):
        with suppress(OSError):
            facts = (folder / name).lstat()
            if not stat.S_ISDIR(facts.st_mode):
                found[name] = facts.st_ino, facts.st_ctime_ns
    return found


def copied(source: Path, target: Path, *, keeps: Sequence[int] = ()) -> bool:
    """Copy a folder with its links, holes and times, sharing blocks if possible. Whether all is there."""
    target.parent.mkdir(parents=True, exist_ok=True)
    for options in (("-a", "--reflink=auto"), ("-a",)):
        try:
            subprocess.run(
                ["cp", *options, "--", str(source), str(target)],
                capture_output=True,
                check=True,
                pass_fds=keeps,
            )
        except (OSError, subprocess.CalledProcessError):
            remove_tree(target)
        else:
            return True
    return False


# --- other places ---------------------------------------------------------------------------------------


def _spellings(folder: str, to: str = "") -> dict[bytes, bytes]:
    """Return the ways in which files name a place, and what stands for each in another one."""
    return {os.fsencode(form(folder)): os.fsencode(form(to)) for form in (str, os.path.realpath, quote)}


def _naming(tree: Path, folder: str) -> tuple[str, ...] | None:
    """Return the texts and links in a kept result that name its place. None: it can be used only there.

    Compiled files of Python that name it are removed: they are made anew.
    """
    spelled, found = _spellings(folder), list[str]()
    for name in files_inside(tree, every=True):
        path = tree / name
        names, moves = _link(path, name, spelled) if path.is_symlink() else _file(path, spelled)
        if names and path.suffix == _COMPILED:
            path.unlink()
        elif not moves:
            return None
        elif names:
            found.append(name)
    return tuple(found)


def _link(path: Path, name: str, spelled: Iterable[bytes]) -> tuple[bool, bool]:
    """Return whether a link names its place, and whether it can be moved: it does not lead out."""
    target = os.readlink(path)  # noqa: PTH115  it is compared as text
    names = any(f"{target}/".startswith(f"{os.fsdecode(one)}/") for one in spelled)
    if target.startswith("/"):  # as `npm link` makes them, or an environment to its interpreter
        return names, names or (path.parents[1] / ENVIRONMENT).exists()
    return names, not os.path.normpath(Path(name).parent / target).startswith(os.pardir)


def _file(path: Path, spelled: Iterable[bytes]) -> tuple[bool, bool]:
    """Return whether a file names its place, and whether it can be moved: it does not, or is a text."""
    if not (path.is_file() and path.stat().st_size):
        return False, True
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        names = any(content.find(one) >= 0 for one in spelled)
        return names, not names or content.find(b"\0") < 0


def put_at(source: Path, folder: Path, path: str) -> bool:
    """Put a file or a folder into a place, instead of the current one. No link in the place is followed."""
    try:
        remove_inside(folder, path)
        with parent_inside(folder, path, like=folder) as (parent, name):
            by_descriptor = Path(f"/proc/self/fd/{parent}")
            where = by_descriptor if by_descriptor.is_dir() else (folder / path).parent
            return copied(source, where / name, keeps=(parent,))
    except OSError:
        return False


def _names_anew(about: Product, folder: Path) -> bool:
    """Let texts and links of a copy name the place that they lie in now. Whether all do."""
    spelled = _spellings(about.made_in, str(folder))
    longest = sorted(spelled, key=len, reverse=True)
    pattern = re.compile(b"(?:" + b"|".join(map(re.escape, longest)) + rb")(?![\w-])")
    try:
        for name in about.naming:
            with parent_inside(folder, name) as (parent, last):
                facts = os.lstat(last, dir_fd=parent)
                if stat.S_ISLNK(facts.st_mode):
                    target = os.fsencode(os.readlink(last, dir_fd=parent))
                    os.unlink(last, dir_fd=parent)
                    os.symlink(pattern.sub(lambda one: spelled[one[0]], target), last, dir_fd=parent)
                    continue
            new = pattern.sub(lambda one: spelled[one[0]], read_inside(folder, name))
            write_inside(folder, name, new, mode=stat.S_IMODE(facts.st_mode))
    except OSError:
        return False
    return True
