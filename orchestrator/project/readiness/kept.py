"""What the steps of a set-up made at the run's base, kept once in a run and put into its other places.

Kept are all ignored files that a step's command made, wherever its tool puts them, by the key of all that the
step reads. A seal, the digest of them all, is compared before each copy. In a copy the texts and links that
name the place in which they were made name the new one. A binary file that names it cannot be moved.
"""

import hashlib
import os
import re
import stat
import subprocess
from collections.abc import Iterator, Mapping, Sequence
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

_DRAFT, _ABOUT = ".draft", "about.json"
ENVIRONMENT = "pyvenv.cfg"  # in each virtual environment
_COMPILED = ".pyc"


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """A kept result: the place that it was made in, its paths there, and the files and links that name it."""

    made_in: str
    paths: tuple[str, ...]
    naming: tuple[str, ...]


def kept_folder(run_folder: Path) -> Path:
    """Return the folder of a run in which such results are kept."""
    return run_folder / "ready"


def downloads_of(kept: Path) -> Path:
    """Return the folder with the downloads of steps that an agent changed, a folder a key."""
    return kept / "downloads"


def wheels_of(kept: Path) -> Path:
    """Return the folder with the wheels of packages that the base needed, a folder a key."""
    return kept / "wheels"


def keep(kept: Path, key: str, folder: Path, paths: Sequence[str]) -> str:
    """Keep what a step made in a place, and return its seal, or "" if it can be used in no other place."""
    draft = kept / f"{key}{_DRAFT}"
    remove_tree(draft)
    draft.mkdir(mode=0o700, parents=True)
    if all(copied(folder / path, draft / str(number)) for number, path in enumerate(paths)):
        naming = _naming(draft, paths, folder)
        if naming is not None:
            about = Product(made_in=str(folder), paths=tuple(paths), naming=naming)
            (draft / _ABOUT).write_bytes(msgspec.json.encode(about))
            seal = seal_of(draft)
            remove_tree(kept / key)
            draft.rename(kept / key)
            return seal
    remove_tree(draft)
    return ""


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
    there = (_put(source / str(number), folder, path) for number, path in enumerate(about.paths))
    if all(there) and _names_anew(about, folder):
        return about
    for path in about.paths:
        with suppress(OSError):  # a link on the way, which is not followed
            remove_inside(folder, path)
    return None


def seal_of(folder: Path) -> str:
    """Return the digest of a folder: of the names, the modes and the content of everything in it."""
    found = hashlib.sha256()
    for name in files_inside(folder, every=True):
        path = folder / name
        try:
            facts = path.lstat()
            found.update(f"\0{facts.st_mode:o} {facts.st_size}\0".encode() + os.fsencode(name) + b"\0")
            if stat.S_ISLNK(facts.st_mode):
                found.update(os.fsencode(path.readlink()))
            elif stat.S_ISREG(facts.st_mode):
                with path.open("rb") as file:
                    found.update(hashlib.file_digest(file, "sha256").digest())
        except OSError:
            found.update(b"\0unreadable")
    return found.hexdigest()


def copied(source: Path, target: Path, *, keeps: Sequence[int] = ()) -> bool:
    """Copy a folder with its links, holes and times, sharing blocks if possible. Whether all is there."""
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


def _spellings(folder: str, to: str = "") -> Mapping[bytes, bytes]:
    """Return the ways in which files name a place, and what stands for each in another one."""
    forms = (str, os.path.realpath, quote, lambda one: quote(os.path.realpath(one)))
    return {os.fsencode(form(folder)): os.fsencode(form(to)) for form in forms}


def _naming(draft: Path, paths: Sequence[str], folder: Path) -> tuple[str, ...] | None:
    """Return the paths of the texts and links that name their place. None: they can be used only there.

    Compiled files of Python that name it are removed: they are made anew.
    """
    spelled, found = tuple(_spellings(str(folder))), list[str]()
    for name, path in _every(draft, paths):
        if path.is_symlink():
            target = os.fsencode(path.readlink())
            if _is_below(target, spelled):
                found.append(name)
            elif _leads_out(
                name, os.fsdecode(target), of_environment=(path.parents[1] / ENVIRONMENT).exists()
            ):
                return None
        elif path.is_file() and (kind := _names(path, spelled)):
            if path.suffix == _COMPILED:
                path.unlink()
            elif kind == "binary":
                return None
            else:
                found.append(name)
    return tuple(found)


def _every(draft: Path, paths: Sequence[str]) -> Iterator[tuple[str, Path]]:
    """Yield each file and link of a kept result, by its path in a place, with where it is kept."""
    for number, path in enumerate(paths):
        kept = draft / str(number)
        if kept.is_symlink() or not kept.is_dir():
            yield path, kept
        else:
            yield from ((f"{path}/{one}", kept / one) for one in files_inside(kept, every=True))


def _names(path: Path, spelled: Sequence[bytes]) -> str:
    """Return whether a file that names a place is a "text" or "binary", or "" if it does not name it."""
    if not path.stat().st_size:
        return ""
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        if all(content.find(one) < 0 for one in spelled):
            return ""
        return "binary" if content.find(b"\0") >= 0 else "text"


def _is_below(target: bytes, folders: Sequence[bytes]) -> bool:
    return any(target == one or target.startswith(one + b"/") for one in folders)


def _leads_out(name: str, target: str, *, of_environment: bool) -> bool:
    """Whether a link leads out of its place, as `npm link` makes them. An environment's interpreter may."""
    if target.startswith("/"):
        return not of_environment
    return os.path.normpath(f"{os.path.dirname(name)}/{target}").startswith(os.pardir)  # noqa: PTH120


def _put(source: Path, folder: Path, path: str) -> bool:
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
