"""The present tree of a project as one hash: when it changes, earlier checks do not count any more.

In a checkout it covers everything that git would commit now. A temporary index and object store are used, so
nothing is staged and nothing is left in the repository. sq's own state below `.claude/`, files that git
ignores, caches of tools and the inside of submodules are left out. Without git it covers the names, modes,
sizes and times of all files.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from importlib.resources import files
from pathlib import Path

import anyio.lowlevel

from orchestrator.git.command import git
from state.errors import GitError

_OWN_STATE = (".claude/completion-state", ".claude/runtime")


async def present_tree(home: Path) -> str:
    """The hash of everything in the project now, `git:…` or `files:…`.

    Raises:
        GitError: git cannot read the tree.
    """
    return f"git:{await _git_tree(home)}" if has_git(home) else f"files:{await _hash_of_files(home)}"


def has_git(home: Path) -> bool:
    """Whether the project is a checkout of git."""
    return os.path.exists(home / ".git")  # noqa: PTH110  raises for no path


async def _git_tree(home: Path) -> str:
    with tempfile.TemporaryDirectory(prefix="sq-tree-") as made:
        folder = Path(made)
        objects = folder / "objects"
        objects.mkdir()
        index, own_objects = await _path(home, "index"), await _path(home, "objects")
        with suppress(FileNotFoundError):  # its cache saves reading every file, and git needs its time
            shutil.copy2(index, folder / "index")
        environment = {
            "GIT_INDEX_FILE": str(folder / "index"),
            "GIT_OBJECT_DIRECTORY": str(objects),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": _quoted(own_objects),
        }
        (folder / "ignored").write_bytes(await _ignored(home))
        settings = [
            f"core.excludesFile={folder / 'ignored'}",
            "core.looseCompression=0",
            "core.splitIndex=false",
        ]
        without = [f":(exclude,top,glob)**/{path}/**" for path in _OWN_STATE]
        await git(home, "add", "--all", "--", ":/", *without, settings=settings, environment=environment)
        tracked = [f":(top,glob)**/{path}/**" for path in _OWN_STATE]
        remove = ("rm", "-r", "--cached", "--quiet", "--force", "--ignore-unmatch", "--", *tracked)
        await git(home, *remove, environment=environment)
        return await git(home, "write-tree", environment=environment)


async def _path(home: Path, name: str) -> Path:
    return home / await git(home, "rev-parse", "--git-path", name)


async def _ignored(home: Path) -> bytes:
    """The user's own ignore patterns, and those of files that tools leave behind."""
    try:
        own = Path(await git(home, "config", "--type=path", "--get", "core.excludesFile"))
    except GitError:  # not set
        config = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")  # noqa: PTH111  raises for no home
        own = Path(config) / "git" / "ignore"
    text = b""
    with suppress(OSError, ValueError):
        text = (home / own).read_bytes() + b"\n"
    return text + _junk().encode()


def _junk() -> str:
    return (files("orchestrator.git") / "junk.gitignore").read_text("utf-8")


def _quoted(path: Path) -> str:
    """A path in a list that git reads: quoted as in C, since it may hold a colon."""
    text = str(path).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text}"'


async def _hash_of_files(home: Path) -> str:
    junk = [line.rstrip("/") for line in (*_junk().splitlines(), ".git") if line and not line.startswith("#")]
    digest = hashlib.sha256()
    for folder, inner, names in os.walk(home):
        await anyio.lowlevel.checkpoint()  # a caller's deadline holds between two folders
        inner[:] = sorted(name for name in inner if not _is_left_out(Path(folder, name), home, junk))
        for name in sorted(names):
            path = Path(folder, name)
            if _is_left_out(path, home, junk):
                continue
            with suppress(OSError):
                found = path.lstat()
                told = f"{path.relative_to(home)}\0{found.st_mode}\0{found.st_size}\0{found.st_mtime_ns}\0"
                digest.update(os.fsencode(told))
    return digest.hexdigest()


def _is_left_out(path: Path, home: Path, junk: Sequence[str]) -> bool:
    return path.relative_to(home).as_posix() in _OWN_STATE or any(fnmatchcase(path.name, one) for one in junk)
