"""The ignored files of the user's checkout: known by hash, copied into the run's folder, put back at its end.

They are in no commit, so a change of them would go unnoticed otherwise. Files that builds and tests leave
behind are not copied, and none are if they are too many or too large.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

from agents.process.sandbox.inside import set_aside
from orchestrator.git.command import git_bytes
from orchestrator.git.users.backup import is_inside

MOST_BYTES = 50 * 2**20
MOST_FILES = 20_000
_COPIES, _LIST, _REPLACED = "files", "list.json", "replaced"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignored:
    """The ignored files at the start: `hashes` by path, or why there are none (`not_kept`).

    `guarded` are the paths, files or whole folders, that no file tool may write.
    """

    hashes: dict[str, str]
    guarded: tuple[str, ...]
    not_kept: str = ""


async def keep_ignored(root: Path, folder: Path, *, leave_out: Sequence[Path]) -> Ignored:
    """Copy the ignored files of a checkout into `folder` and note their hashes, if they are not too many.

    Raises:
        GitError: git cannot list them.
    """
    real = [Path(os.path.realpath(path)) for path in leave_out]
    found = [path for path in await _listed(root) if not is_inside(root / path, real)]
    sizes = [(root / path).lstat().st_size for path in found]
    too_many = ""
    if sum(sizes) > MOST_BYTES or len(found) > MOST_FILES:
        too_many = (
            f"{len(found)} ignored files hold {sum(sizes) / 2**20:.0f} MB, more than sq copies "
            f"({MOST_BYTES / 2**20:.0f} MB, {MOST_FILES} files)"
        )
        collapsed = await _listed(root, "--directory")
        guarded = tuple(path.rstrip("/") for path in collapsed if not is_inside(root / path, real))
        kept = Ignored(hashes={}, guarded=guarded, not_kept=too_many)
    else:
        hashes = {path: _hash(root / path) for path in found}
        for path in found:
            _copy(root / path, folder / _COPIES / path)
        kept = Ignored(hashes=hashes, guarded=tuple(found))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    listed = {"hashes": kept.hashes, "guarded": kept.guarded, "not_kept": kept.not_kept}
    (folder / _LIST).write_text(json.dumps(listed), "utf-8")
    return kept


def read_ignored(folder: Path) -> Ignored:
    """Return the record of `keep_ignored`, empty if it was never called."""
    try:
        listed = json.loads((folder / _LIST).read_text("utf-8"))
    except FileNotFoundError:
        return Ignored(hashes={}, guarded=())
    return Ignored(hashes=listed["hashes"], guarded=tuple(listed["guarded"]), not_kept=listed["not_kept"])


def changed_ignored(root: Path, ignored: Ignored) -> list[str]:
    """Return the ignored files that are gone or have other content."""
    return [path for path, was in ignored.hashes.items() if _hash(root / path) != was]


def put_ignored_back(root: Path, folder: Path, paths: Sequence[str]) -> None:
    """Put these files back, with their times, so that no build considers them newer than they are.

    Files in their place are moved into the folder.

    Raises:
        OSError: a file cannot be written.
    """
    for path in paths:
        target = root / path
        for place in reversed([target, *(one for one in target.parents if one.is_relative_to(root))]):
            is_way = place != target and place.is_dir() and not place.is_symlink()
            if os.path.lexists(place) and not is_way:
                set_aside(place, folder / _REPLACED / place.relative_to(root))
        _copy(folder / _COPIES / path, target)


async def _listed(root: Path, *more: str) -> list[str]:
    """Return the ignored files, without those that `junk.gitignore` names, which every build writes."""
    words = ("ls-files", "--others", "--ignored", "--exclude-standard", "-z", *more)
    every = (await git_bytes(root, *words)).decode(errors="surrogateescape").split("\0")
    with as_file(files("orchestrator.git") / "junk.gitignore") as junk:
        listed = await git_bytes(
            root, "ls-files", "--others", "--ignored", f"--exclude-from={junk}", "-z", *more
        )
    left_behind = set(listed.decode(errors="surrogateescape").split("\0"))
    return [
        path
        for path in every
        if path and path not in left_behind and (path.endswith("/") or _is_plain(root / path))
    ]


def _is_plain(path: Path) -> bool:
    return path.is_symlink() or path.is_file()


def _hash(path: Path) -> str:
    """Return the hash of a file's bytes or the target of a link, or "" if there is neither."""
    try:
        if path.is_symlink():
            return f"link {path.readlink()}"
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target, follow_symlinks=False)
