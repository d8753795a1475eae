"""Files of the checkout that git ignores (`.env`, local data), copied into worktrees, which lack them.

Files that sq's snapshots would see are never copied: they would be taken for the work of an agent.
"""

import os
import re
import shutil
import stat
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import structlog

from orchestrator.git.command import git, ignoring_junk
from orchestrator.git.repository import named
from state.errors import GitError, UsageError
from state.safe_paths import parent_inside

log = structlog.get_logger(__name__)

_PERMISSIONS = 0o777
_BUFFER = 1 << 20
_LARGEST_TEXT = 1_000_000
# Of a virtual environment: its interpreter, a link, and the files that hold the path of the checkout.
_INTERPRETER = re.compile(r"(?:.*/)?bin/python[\d.]*")
_HOLDS_A_PATH = re.compile(r"(?:^|/)(?:bin/[^/]+|pyvenv\.cfg|[^/]+\.(?:pth|egg-link)|__editable__[^/]*\.py)$")
_AS_NAME = "./"  # before a name that git would take for a pattern
INCLUDE_FILE = ".worktreeinclude"  # the patterns of a project that sets no `worktree.include`


def patterns_in(text: str) -> tuple[str, ...]:
    """Return the patterns of a file in the syntax of .gitignore."""
    lines = (re.sub(r"(?<!\\)\s+$", "", line) for line in text.split("\n"))
    return tuple(line for line in lines if line and not line.startswith("#"))


async def files_to_copy(
    repository: Path, patterns: Sequence[str], *, state: Path | None = None
) -> tuple[str, ...]:
    """Return the files in a checkout that match patterns (as in .gitignore) and that git ignores, as paths.

    Links that lead out of the checkout, and repositories in it, are left out and named in the log. `state` is
    sq's state folder, of which nothing is copied.
    """
    matching = await _matching(repository, patterns, state, "--others")
    ignored = await ignored_paths(repository, matching)
    left = {path: _why_not(repository, path) for path in ignored}
    for path, why in left.items():
        if why:
            log.warning("worktree.include.skipped", path=path, reason=why)
    return tuple(path for path, why in left.items() if not why)


async def not_ignored(
    repository: Path, patterns: Sequence[str], *, state: Path | None = None
) -> tuple[str, ...]:
    """Return the files in a checkout that match patterns and that the repository itself does not ignore.

    They include files ignored only by the user's settings for all repositories: sq's snapshots see them.
    """
    matching = await _matching(repository, patterns, state, "--others")
    ignored = set(await ignored_paths(repository, matching))
    return tuple(path for path in matching if path not in ignored)


async def left_out(repository: Path, patterns: Sequence[str]) -> tuple[str, ...]:
    """Return the files in a checkout that match patterns and that git tracks or does not ignore."""
    tracked = await _matching(repository, patterns, None, "--cached")
    return (*tracked, *await not_ignored(repository, patterns))


async def refuse_not_ignored(repository: Path, patterns: Sequence[str], *, state: Path | None = None) -> None:
    """Refuse patterns that name files which git does not ignore.

    Raises:
        UsageError: they do. Names some and says how to fix that.
    """
    if found := await not_ignored(repository, patterns, state=state):
        raise UsageError(
            f"`worktree.include` names {len(found)} file(s) that git does not ignore ({named(found)}): "
            "copies would look like an agent's work. Commit them, or add them to the repository's .gitignore"
        )


async def not_ignored_there(folder: Path, paths: Sequence[str]) -> tuple[str, ...]:
    """Return the paths that are missing in a worktree and that its committed files do not ignore."""
    missing = [path for path in paths if not os.path.lexists(folder / path) and not _leads_out(folder, path)]
    ignored = set(await ignored_paths(folder, missing))
    return tuple(path for path in missing if path not in ignored)


def copy_files(repository: Path, folder: Path, paths: Iterable[str]) -> tuple[str, ...]:
    """Copy files from a checkout to a worktree, with modes and times, and return the paths copied.

    Existing files in the worktree stay, and nothing is written through a link. A copy that was cut off is
    made again.

    Raises:
        OSError: a file cannot be read or written.
    """
    return tuple(path for path in paths if _copy(repository, folder, path))


async def _matching(repository: Path, patterns: Sequence[str], state: Path | None, of: str) -> list[str]:
    """Return matching files of git's kind `of`. The path of a repository inside ends with a slash."""
    if not patterns:
        return []
    excludes = [f"--exclude={pattern}" for pattern in patterns]
    listed = await git(repository, "ls-files", of, "--ignored", "-z", *excludes)
    root = os.path.realpath(repository)
    states = [".sq", os.path.relpath(os.path.realpath(state), root)] if state else [".sq"]
    return [
        path
        for path in listed.split("\0")
        if path and not any(path == one or path.startswith(f"{one}/") for one in states)
    ]


async def ignored_paths(folder: Path, paths: Sequence[str]) -> list[str]:
    """Return those of the paths that git ignores without the user's own settings."""
    if not paths:
        return []
    try:
        with ignoring_junk() as ignoring:
            stdin = "".join(f"{_AS_NAME if path.startswith(':') else ''}{path}\0" for path in paths)
            listed = await git(folder, "check-ignore", "-z", "--stdin", stdin=stdin, settings=ignoring)
    except GitError:  # git fails if none is ignored. Any other failure is treated the same.
        return []
    return [path.removeprefix(_AS_NAME) for path in listed.split("\0") if path]


async def ignored_in(folder: Path, index: Path | None = None) -> dict[str, tuple[int, int]]:
    """Return what git ignores in a worktree, whole folders as one path, each with a mark of what is there.

    `index` is the index file that names the worktree's own files. None: git's own for it.
    """
    asked = ("ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z")
    environment = {"GIT_INDEX_FILE": str(index)} if index else {}
    found, listed = {}, ""
    with ignoring_junk() as ignoring, suppress(GitError):  # nothing is ignored where git is not
        listed = await git(folder, *asked, settings=ignoring, environment=environment)
    for path in (one.rstrip("/") for one in listed.split("\0") if one):
        with suppress(OSError):
            facts = (folder / path).lstat()
            found[path] = facts.st_ino, facts.st_mtime_ns
    return found


def _why_not(repository: Path, path: str) -> str:
    """Return why a path cannot be copied, or "" if it can."""
    source = repository / path
    if path.endswith("/"):
        return "it is a repository of its own"
    if not source.is_symlink():
        return ""
    target = source.readlink()
    there = Path(os.path.normpath(Path(path).parent / target))  # as it would be in a worktree
    real, root = Path(os.path.realpath(source)), Path(os.path.realpath(repository))
    if _INTERPRETER.fullmatch(path) and _environment_of(repository, path) and os.access(real, os.X_OK):
        return ""
    if target.is_absolute() or there.parts[:1] == (os.pardir,) or not real.is_relative_to(root):
        return f"it is a link that leads out of the checkout, to {target}"
    if real.is_relative_to(root / ".git"):
        return "it is a link into .git"
    return ""


def _leads_out(folder: Path, path: str) -> bool:
    """Whether a folder on the way to a path is a link or not a folder."""
    way = [folder / parent for parent in Path(path).parents]
    return any(step.is_symlink() or (step.exists() and not step.is_dir()) for step in way[:-1])


def _environment_of(repository: Path, path: str) -> str:
    """Return the virtual environment of Python that a path of a checkout is in, or ""."""
    parents = map(str, Path(path).parents)
    return next((one for one in parents if (repository / one / "pyvenv.cfg").is_file()), "")


def _moved(content: bytes, repository: Path, folder: Path) -> bytes:
    """Return a text of an environment that names its checkout, as one that names the worktree instead."""
    if b"\0" in content:
        return content
    for root in {str(repository), os.path.realpath(repository)}:
        content = re.sub(
            re.escape(os.fsencode(root)) + rb"(?=[/'\":\s]|\Z)", lambda _: os.fsencode(folder), content
        )
    return content


def _copy(repository: Path, folder: Path, path: str) -> bool:
    source = repository / path
    if _leads_out(folder, path):
        return False
    try:
        with parent_inside(folder, path, like=repository) as (parent, name):
            if not _is_free(parent, name):
                return False
            if source.is_symlink():
                os.symlink(source.readlink(), name, dir_fd=parent)
            else:
                _write(source, parent, name, moving=_moving(repository, folder, path))
    except FileNotFoundError:
        if source.exists():
            raise
        return False  # it has gone since it was listed
    return True


def _moving(repository: Path, folder: Path, path: str) -> Callable[[bytes], bytes] | None:
    """Return what makes the content of a copy, for the files of an environment that hold its path."""
    is_small = (repository / path).stat().st_size < _LARGEST_TEXT
    if is_small and _HOLDS_A_PATH.search(path) and _environment_of(repository, path):
        return lambda content: _moved(content, repository, folder)
    return None


def _write(source: Path, parent: int, name: str, *, moving: Callable[[bytes], bytes] | None = None) -> None:
    """Copy a file. It is unreadable until it is complete, which marks a copy that was cut off."""
    with source.open("rb") as given:
        facts = os.fstat(given.fileno())
        new = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0, dir_fd=parent)
        try:
            with os.fdopen(new, "wb") as made:
                if moving:
                    made.write(moving(given.read()))
                else:
                    shutil.copyfileobj(given, made, _BUFFER)
                made.flush()
                os.utime(made.fileno(), ns=(facts.st_atime_ns, facts.st_mtime_ns))
                os.fchmod(made.fileno(), facts.st_mode & _PERMISSIONS)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=parent)
            raise


def _is_free(parent: int, name: str) -> bool:
    """Whether there is no such file. A copy that was cut off is removed."""
    try:
        facts = os.lstat(name, dir_fd=parent)
    except FileNotFoundError:
        return True
    if not stat.S_ISREG(facts.st_mode) or facts.st_mode & _PERMISSIONS:
        return False
    os.unlink(name, dir_fd=parent)
    return True
