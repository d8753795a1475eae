"""Totals of a sandbox: how much its processes may write altogether, and how many files they may make.

They are counted. A quota of a project would be exact, but needs a mount option (`prjquota`) that the ext4
looked at does not have. The free space is looked at each second, and files are counted only
where it sank as much: those of the writable folders that changed since the start. A new folder that cannot be
looked into counts as too much. A file that is deleted and still open is missing in the count, and
`sandbox.limits.file_mb` alone bounds it.
"""

import os
import stat
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from anyio import sleep, to_thread

from state.safe_paths import files_inside, parent_inside
from state.settings.records import SandboxLimits

_MB = 1024 * 1024
_PAUSE_S = 1.0
_PAUSE_COUNTED_S = 10.0  # once it has counted, because others may use the space
NEAR = 0.8  # of a total, at which it is said
_BLOCK = 512  # bytes, of `st_blocks`


async def exceeded(folders: Iterable[Path], limits: SandboxLimits, warn: Callable[[str], None]) -> str:
    """Wait until processes exceed a total in these folders, and return which. Never, without a limit.

    `warn` hears once, before that, which one they come near to.
    """
    writable = tuple(folders)
    most = (limits.total_mb or 0) * _MB, limits.files or 0
    near = [NEAR * limit for limit in most]
    began, before, pause, warned = time.time(), _free(writable), _PAUSE_S, False
    while True:
        await sleep(pause)
        now = _free(writable)
        gone = [sum(before[one][kind] - now[one][kind] for one in before.keys() & now) for kind in (0, 1)]
        if not any(limit and sank >= limit for limit, sank in zip(near, gone, strict=True)):
            continue
        pause = _PAUSE_COUNTED_S
        written, files = await to_thread.run_sync(_written, writable, began, abandon_on_cancel=True)
        for has, limit, which in ((written, near[0], "total_mb"), (files, near[1], "files")):
            if limit and has >= limit and not warned:
                warned = True
                warn(f"sandbox.limits.{which} ({getattr(limits, which)}) is near: {NEAR:.0%} is used")
        if most[0] and written >= most[0]:
            return f"it wrote more than {limits.total_mb} MiB (sandbox.limits.total_mb)"
        if most[1] and files >= most[1]:
            return f"it made more than {limits.files} files (sandbox.limits.files)"


def _free(folders: Sequence[Path]) -> dict[int, tuple[int, int]]:
    """Return the free bytes and the free files of each file system that the folders lie on."""
    found: dict[int, tuple[int, int]] = {}
    for folder in folders:
        try:
            facts = os.statvfs(folder)
            found[folder.stat().st_dev] = facts.f_bavail * facts.f_frsize, facts.f_favail
        except OSError:
            continue
    return found


def _written(folders: Sequence[Path], since: float) -> tuple[int, int]:
    """Return the bytes and the number of the files that were changed since then."""
    seen: dict[tuple[int, int], int] = {}
    for folder in folders:
        for name in files_inside(folder, every=True):
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
