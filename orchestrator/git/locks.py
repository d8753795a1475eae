"""Git in sq's own worktrees, where another git may still be running, or was killed and left a lock."""

import os
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeVar

from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, wait_random_exponential

from orchestrator.git.command import DEADLINE_S, git
from orchestrator.git.pinned_config import pointer_of, trusted_now
from state.errors import GitError

STILL_MADE = "another git is still making the worktree"
_LOCKS = ("index.lock", "HEAD.lock")
# A lock, or a worktree that is only half made or half removed.
_RACE = re.compile(rf"\.lock'?: File exists|commondir|{STILL_MADE}")
_T = TypeVar("_T")


async def in_worktree(folder: Path, *arguments: str, settings: Sequence[str] = ()) -> str:
    """Run `git -C folder …` in a worktree of sq's.

    A lock that a killed git left there is removed. A lock that a running git holds is waited for.

    Raises:
        GitError: as `git`.
    """

    async def run() -> str:
        for lock in (git_dir(folder) / name for name in _LOCKS):
            if lock.exists() and not _is_held(lock, folder):
                lock.unlink(missing_ok=True)
        return await git(folder, *arguments, settings=settings)

    return await patiently(run)


async def patiently(action: Callable[[], Awaitable[_T]]) -> _T:
    """Return an action's result. For some seconds it is tried again if another git is in its way.

    Raises:
        GitError: it failed for another reason, or the other git does not end.
    """
    retrying = AsyncRetrying(
        retry=retry_if_exception(_is_a_race),
        stop=stop_after_attempt(8),
        wait=wait_random_exponential(multiplier=0.05, max=1),
        reraise=True,
    )
    return await retrying(action)


def git_dir(folder: Path) -> Path:
    """Return the folder of a worktree's own index and HEAD. sq's notes on the worktree are there too.

    Raises:
        GitError: the folder is not a worktree.
    """
    trusted = trusted_now()
    if trusted and (place := trusted.place_of(Path(os.path.abspath(folder)))):  # noqa: PTH100  no link is followed
        return trusted.git_dir(place)
    return Path(pointer_of(folder / ".git"))


def git_is_at_work(folder: Path) -> bool:
    """Whether a git command runs in a worktree, or makes it. False if processes cannot be listed."""
    real = os.path.realpath(folder)
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if not (process / "comm").read_text("utf-8", errors="replace").startswith("git"):
                continue
            where = (process / "cwd").readlink()
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:  # it has ended, or is another user's
            continue
        if where.is_relative_to(real) or os.fsencode(folder) in words:
            return True
    return False


def _is_held(lock: Path, folder: Path) -> bool:
    if Path("/proc/self/cwd").exists():
        return git_is_at_work(folder)
    try:
        return time.time() - lock.stat().st_mtime < DEADLINE_S  # no git command of sq's runs longer
    except FileNotFoundError:
        return False


def _is_a_race(error: BaseException) -> bool:
    return isinstance(error, GitError) and bool(_RACE.search(str(error)))
