"""Totals of a sandbox: how much its processes may write altogether, and how many files they may make.

They are counted. A quota of a project would be exact, but needs a mount option (`prjquota`) that the ext4
looked at does not have. The free space is looked at each second, and only where it sank as much, a sandbox
counts the files of the writable folders that changed since the start. A new folder that cannot be looked into
counts as too much. A file that is deleted and still open is missing in the count, and
`sandbox.limits.file_mb` alone bounds it.
"""

import json
import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from anyio import sleep

from agents.process.sandbox.bubblewrap import bubblewrapped
from agents.process.sandbox.looking import asking, looking
from agents.process.sandbox.plan import SandboxPlan
from agents.process.to_end import run_to_end

_MB = 1024 * 1024
_PAUSE_S = 1.0
_WORDS_KEPT = 500
_PAUSE_COUNTED_S = 10.0  # once it has counted, because others may use the space
NEAR = 0.8  # of a total, at which it is said


async def exceeded(plan: SandboxPlan, folders: Iterable[Path] = ()) -> str:
    """Wait until the processes of a plan exceed a total of it, and return which. Never, without a limit.

    They are counted in `folders`, without any in those that they may write. The plan's `warn` hears once,
    before that, which total they come near to. What cannot be counted is one too.
    """
    writable, limits = tuple(folders) or tuple(plan.written), plan.ceilings
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
        try:
            written, files = await written_in(plan, writable, began)
        except OSError as error:
            return f"what it wrote cannot be counted: {error}"
        for has, limit, which in ((written, near[0], "total_mb"), (files, near[1], "files")):
            if limit and has >= limit and not warned:
                warned = True
                plan.warn(f"sandbox.limits.{which} ({getattr(limits, which)}) is near: {NEAR:.0%} is used")
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


async def written_in(plan: SandboxPlan, folders: Sequence[Path], since: float) -> tuple[int, int]:
    """Return the bytes and the number of the files that were changed since then.

    Raises:
        OSError: they cannot be counted.
    """
    there = [str(folder) for folder in folders if folder.exists()]
    words = bubblewrapped(asking("written", *there, str(since)), looking(plan, map(Path, there)))
    done = await run_to_end(words, b"", {})
    try:
        written, files = json.loads(done.stdout)
    except ValueError as error:
        raise OSError(done.stderr.decode(errors="replace").strip()[-_WORDS_KEPT:]) from error
    return written, files
