"""The git folders of a workspace, inside a sandbox: read-only, with a private index and private new objects.

A worktree's `.git` is a file that names its git folder, which shares objects, refs, hooks and settings with
the user's checkout. Inside, all of that is read-only. New objects go to a folder of the session's own, which
names the real one as its alternate, and the worktree's git folder is a copy: `git add`, `git restore` and
`git diff` work, and nothing of it is left afterwards. Commits and branches need refs, which cannot be
written.
"""

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agents.process.sandbox.plan import Access, Mount
from state.safe_paths import remove_tree

INDEX = "index"
MARKED_INDEX = "sq-marked-index"  # beside it: that of a session, in which it has marked paths as resolved
_POINTER = "gitdir: "
_REAL_OBJECTS = Path("/run/sq-objects")  # inside: where the real objects are shown
_SHARED = ("commondir", "gitdir")
# What git reads in the common folder. Nothing else is shown: people and tools keep credentials beside it.
_READ = (
    *(
        "HEAD",
        "ORIG_HEAD",
        "MERGE_HEAD",
        "MERGE_MSG",
        "MERGE_MODE",
        "packed-refs",
        "shallow",
        "index",
        "gc.pid",
    ),
    *("info/exclude", "info/attributes", "info/sparse-checkout", "info/grafts"),
    *("objects", "refs", "reftable", "modules", "lfs/objects", "annex/objects"),
)
_SETTINGS = ("config", "config.worktree")
# Lines of git's configuration that may hold a credential, or run a program with one.
_CREDENTIAL = re.compile(
    r"^\s*(?:extraheader|helper|proxy|sslkey|sslcert|cookiefile|username|[\w-]*(?:pass|token|secret|apikey)[\w-]*)"
    r"\s*=.*$|://[^/@\s]*@",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GitFolders:
    """Where git keeps a workspace: its own git folder, and the one that all worktrees share."""

    pointer: Path | None
    """The file `.git` of a worktree, None in a plain checkout."""
    own: Path
    common: Path


def git_folders(workspace: Path) -> GitFolders | None:
    """Return the git folders of a workspace, read from its files without running git, or None without any."""
    dot_git = workspace / ".git"
    if dot_git.is_dir() and not dot_git.is_symlink():
        return GitFolders(pointer=None, own=dot_git, common=dot_git)
    try:
        text = dot_git.read_text("utf-8", errors="surrogateescape").strip()
        own = Path(os.path.realpath(workspace / text.removeprefix(_POINTER)))
        shared = own / "commondir"
        common = own / shared.read_text("utf-8").strip() if shared.is_file() else own
    except (OSError, ValueError):
        return None
    if not text.startswith(_POINTER) or not own.is_dir():
        return None
    return GitFolders(pointer=dot_git, own=own, common=Path(os.path.realpath(common)))


def private_git(private: Path) -> Path:
    """Return the folder of the copy of a worktree's git folder. A process inside writes it."""
    return private / "git"


def git_mounts(found: GitFolders, private: Path, *, writes: bool) -> Iterator[Mount]:
    """Yield the mounts of a workspace's git folders.

    Args:
        found: the folders outside.
        private: a folder of the session's own, for copies and new objects.
        writes: give it an index and a place for new objects. Without it everything is read-only.
    """
    if found.pointer:
        yield Mount(target=found.pointer)
    yield from _common(found, private / "git-common")
    yield from _alternates(found.common / "objects")
    if not writes:
        yield from _cleaned(found, private)
        return
    objects = private / "objects"
    _prepare_objects(objects, found.common / "objects")
    yield Mount(target=found.common / "objects", access=Access.WRITE, source=objects)
    yield Mount(target=_REAL_OBJECTS, source=found.common / "objects")
    if found.own != found.common:
        copy = private_git(private)
        remove_tree(copy)
        shutil.copytree(found.own, copy, symlinks=True)
        if (copy / MARKED_INDEX).is_file():
            (copy / MARKED_INDEX).replace(copy / INDEX)
        yield Mount(target=found.own, access=Access.WRITE, source=copy)
        for name in _SHARED:
            if (found.own / name).is_file():
                yield Mount(target=found.own / name)
    yield from _cleaned(found, private)


def _common(found: GitFolders, shown: Path) -> Iterator[Mount]:
    """Yield the common folder as a read-only one of sq's, in which only what git reads is there."""
    remove_tree(shown)
    for name in ("lfs", "worktrees"):  # the places of further mounts (`git_drivers`)
        (shown / name).mkdir(parents=True)
    yield Mount(target=found.common, source=shown)
    own = [str(found.own.relative_to(found.common))] if found.own.is_relative_to(found.common) else []
    for name in (*_READ, *_SETTINGS, *own):
        path, place = found.common / name, shown / name
        if path == found.common or not path.exists():
            continue
        if path.is_dir():
            place.mkdir(parents=True, exist_ok=True)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch()
        yield Mount(target=path)


def _cleaned(found: GitFolders, private: Path) -> Iterator[Mount]:
    """Yield the settings without their credentials, those of submodules and of the worktree too."""
    folders = dict.fromkeys((found.common, found.own))
    files = [folder / name for folder in folders for name in _SETTINGS]
    files += [file for folder in folders for file in sorted((folder / "modules").rglob("config"))]
    for number, file in enumerate(file for file in files if file.is_file()):
        if cleaned := without_credentials(file, private / f"git-config-{number}"):
            yield Mount(target=file, source=cleaned)


def _prepare_objects(objects: Path, real: Path) -> None:
    remove_tree(objects)
    (objects / "info").mkdir(parents=True)
    (objects / "pack").mkdir()
    lines = [str(_REAL_OBJECTS), *map(str, alternate_folders(real))]
    (objects / "info" / "alternates").write_text("".join(f"{line}\n" for line in lines), "utf-8")


def _alternates(objects: Path) -> Iterator[Mount]:
    return (Mount(target=folder) for folder in alternate_folders(objects))


def alternate_folders(objects: Path, depth: int = 5) -> list[Path]:
    """Return the folders that hold further objects of a repository, those of these too."""
    try:
        lines = (objects / "info" / "alternates").read_text("utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return []
    found: dict[Path, None] = {}
    for line in lines:
        folder = Path(os.path.realpath(objects / line)) if line and not line.startswith("#") else None
        if folder and folder.is_dir():
            found[folder] = None
            found.update(dict.fromkeys(alternate_folders(folder, depth - 1) if depth else []))
    return [*found]


def without_credentials(config: Path, copy: Path) -> Path | None:
    """Write the configuration without its credentials, and return that file, or None if there are none."""
    lines = config.read_text("utf-8", errors="surrogateescape").splitlines(keepends=True)
    kept = [line for line in lines if not _CREDENTIAL.search(line)]
    if kept == lines:
        return None
    copy.write_text("".join(kept), "utf-8", errors="surrogateescape")
    return copy
