"""Control groups for the limits of a run's sandboxes, where the kernel and the user's rights offer them.

With version 1 a controller has a tree of its own, and a group is made below sq's. With version 2 a group that
holds processes cannot have children with controllers, so a sibling of sq's group is made: in a session of
systemd the user may write there. Each sandbox has a group in it (`agents/process/supervisor.py`), so that
what one uses up is no other's.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from agents.process.containment import Containment
from agents.process.supervisor import has_own_pid_limit
from state.settings.records import SandboxLimits

_ROOT = Path("/sys/fs/cgroup")
_MB = 1024 * 1024
_SHARE = 0.75  # of the run's memory, for one sandbox
_SANDBOXES = 8  # whose processes a run may have at once
# The files of a limit with version 1 and 2. Of the processors a group has the usual share as a whole.
_FILES = {
    "memory": ("memory.limit_in_bytes", "memory.max"),
    "pids": ("pids.max", "pids.max"),
    "cpu": ("cpu.shares", "cpu.weight"),
}
_USUAL = {"cpu.shares": 1_024, "cpu.weight": 100}


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlGroups:
    """The groups that a run's sandboxes share. `limits` names what they limit: "memory", "processes", "cpu".

    `memory_each` is the most of one sandbox in bytes, 0 without a limit.
    """

    folders: tuple[Path, ...] = ()
    limits: frozenset[str] = frozenset()
    memory_each: int = 0


@contextmanager
def control_groups(name: str, limits: SandboxLimits, *, root: Path = _ROOT) -> Iterator[ControlGroups]:
    """Make the groups of a run, and remove them at the end. Yields none where they cannot be made."""
    wanted = {
        "memory": memory_of_run(limits),
        "pids": limits.processes and limits.processes * _SANDBOXES,
        "cpu": 1,
    }
    with ExitStack() as stack:
        folders: dict[Path, None] = {}
        held: set[str] = set()
        for controller, most in wanted.items():
            if most and (folder := _made(name, controller, most, root)):
                folders[folder] = None
                held.add("processes" if controller == "pids" else controller)
        for folder in folders:
            stack.callback(_remove, folder)
        each = int(memory_of_run(limits) * _SHARE)
        yield ControlGroups(
            folders=tuple(folders), limits=frozenset(held), memory_each=each if "memory" in held else 0
        )


def memory_of_run(limits: SandboxLimits) -> int:
    """Return the most bytes of memory of a run's sandboxes: half of the machine's unless the setting says."""
    if limits.memory_mb:
        return limits.memory_mb * _MB
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


def _made(name: str, controller: str, most: int, root: Path) -> Path | None:
    """Return the new group with this limit set, or None."""
    for parent, file in _places(controller, root):
        folder = parent / f"sq-{name}"
        try:
            folder.mkdir(exist_ok=True)
            (folder / file).write_text(str(_USUAL.get(file, most)))
            with suppress(OSError):  # version 2: for the groups of sandboxes
                (folder / "cgroup.subtree_control").write_text(f"+{controller}")
        except OSError:
            with suppress(OSError):
                folder.rmdir()
            continue
        return folder
    return None


def _places(controller: str, root: Path) -> Iterator[tuple[Path, str]]:
    """Yield the folders in which a group may be made, each with the name of its file for the limit."""
    file, newer = _FILES[controller]
    for controllers, path in _own_groups():
        if controller in controllers:
            yield root / controller / path, file
        elif not controllers:
            own = root / path if (root / "cgroup.controllers").exists() else root / "unified" / path
            yield own.parent, newer
    if (root / controller).is_dir():
        yield root / controller, file


def _own_groups() -> Iterator[tuple[list[str], str]]:
    """Yield the groups of this process: the controllers (none: version 2) and the path below the root."""
    try:
        lines = Path("/proc/self/cgroup").read_text("utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        yield [one for one in controllers.split(",") if one], path.lstrip("/")


def _remove(folder: Path) -> None:
    """Remove a group. Processes that ended a moment ago may still count."""
    for one in (*(each for each in folder.glob("*") if each.is_dir()), folder):
        with suppress(OSError):
            os.rmdir(one)  # noqa: PTH106  a group's files cannot be removed, and go with it


def not_limited(limits: SandboxLimits) -> list[str]:
    """Return a line for people if nothing limits the memory of sandboxes here."""
    with control_groups(f"probe-{os.getpid()}", limits) as groups:
        held = "memory" in groups.limits
    return [] if held else ["sandbox: nothing limits its memory, because no control group can be made here"]


def limits_that_hold(containment: Containment) -> str:
    """Return one sentence for people about the limits on processes, memory, files and output."""
    if containment is Containment.NAMESPACES and has_own_pid_limit():
        processes = "the number of processes is limited by their PID namespace"
    elif os.geteuid() == 0:
        processes = "the number of processes is limited by RLIMIT_NPROC alone: not as root"
    else:
        processes = "the number of processes is limited by RLIMIT_NPROC"
    with control_groups(f"probe-{os.getpid()}", SandboxLimits(processes=1_000, memory_mb=1_000)) as groups:
        found = groups.limits
    if "processes" in found:
        processes = "the number of processes is limited by a control group"
    memory = (
        "memory by a control group"
        if "memory" in found
        else "memory by nothing: no control group can be made"
    )
    counted = "what a session or a command writes and prints by sq, which counts it"
    return f"{processes[0].upper()}{processes[1:]}, {memory}, the size of a file by RLIMIT_FSIZE, {counted}"
