"""The sandbox in which sq asks (`inside`) about folders that another process may change meanwhile."""

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from agents.process.sandbox.inside import COMMAND, ROOMS, ROOT
from agents.process.sandbox.needs import Network
from agents.process.sandbox.plan import Access, Mount, SandboxPlan, reading


def asking(question: str, *words: str) -> list[str]:
    """Return the command that asks, for a sandbox that shows `interpreter`."""
    program = os.path.realpath(sys.executable)  # without the packages of sq's environment
    return [program, "-I", "-S", "-c", COMMAND, str(ROOT), question, *words]


def interpreter() -> Iterator[Mount]:
    """Yield the mounts of Python and of the modules that it imports."""
    return reading([Path(sys.base_prefix), *ROOMS])


def looking(plan: SandboxPlan, folders: Iterable[Path]) -> SandboxPlan:
    """Return the plan for looking at the folders that a process of `plan` writes: they are read-only."""
    looked_at = [Mount(target=folder) for folder in folders]
    kept = (
        one
        for one in plan.mounts
        if one.access is not Access.WRITE
        and not any(one.target.is_relative_to(each.target) for each in looked_at)
    )
    mounts = (*kept, *interpreter(), *looked_at)
    return replace(
        plan,
        mounts=mounts,
        workspace=Path("/"),
        network=Network.NONE,
        sockets=(),
        own_processes=True,
        control_groups=(),
    )
