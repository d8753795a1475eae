"""The plan of a sandbox, as data: what a process sees of the file system, its network, its limits.

`agents.process.sandbox.bubblewrap` turns a plan into a command line. A path that no mount shows does not
exist inside.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from agents.process.sandbox.needs import GatewaySocket, Network
from state.settings.records import SandboxLimits

_MB = 1024 * 1024


class Access(StrEnum):
    """What a mount gives."""

    READ = "read"
    WRITE = "write"
    EMPTY = "empty"
    """A folder without content that forgets what is written to it, or an unreadable stand-in for a file."""
    LINK = "link"
    """A symbolic link. `source` is its text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """One path inside. `source` is the path outside that is shown there, None: the same path."""

    target: Path
    access: Access = Access.READ
    source: Path | None = None

    @property
    def shown(self) -> Path:
        """The path outside."""
        return self.source or self.target


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxPlan:
    """All that a sandboxed process may reach.

    `sockets` are reached by a port of its loopback each. `dropped` are environment variables that are unset,
    `variables` those that are set. `own_processes`: processes outside are hidden by a
    namespace that the sandbox makes itself, which is not needed if the process tree already has one.
    `warn` hears of a ceiling that is near. `control_groups` are folders of the run's groups, in which it has
    its own, with `memory` bytes of theirs (0: no limit),
    `program` is bubblewrap's path, and `filter` the file of its `system_calls`.
    """

    workspace: Path
    mounts: tuple[Mount, ...]
    network: Network = Network.NONE
    sockets: tuple[GatewaySocket, ...] = ()
    dropped: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    own_processes: bool = False
    ceilings: SandboxLimits = field(default_factory=SandboxLimits)
    warn: Callable[[str], None] = field(default=lambda _near: None, compare=False)
    control_groups: tuple[Path, ...] = ()
    memory: int = 0
    program: str = "bwrap"
    filter: Path

    @property
    def limits(self) -> list[str]:
        """The limits for the whole tree, as `agents/process/supervisor.py` reads them."""
        most = self.ceilings
        processes = [f"processes={most.processes}"] if most.processes else []
        file = [f"file={most.file_mb * _MB}"] if most.file_mb else []
        memory = [f"memory={self.memory}"] if self.memory else []
        return [*processes, *file, *memory, *(f"cgroup={folder}" for folder in self.control_groups)]

    @property
    def written(self) -> list[Path]:
        """The folders outside that its processes may write."""
        return [mount.shown for mount in self.mounts if mount.access is Access.WRITE]

    def ordered(self) -> list[Mount]:
        """Return the mounts, a folder before its contents. Of two on one path the later one wins."""
        last = {mount.target: mount for mount in self.mounts}
        return sorted(last.values(), key=lambda mount: mount.target.parts)

    def missing(self) -> list[Path]:
        """Return the paths outside that the plan needs and that do not exist, in the order of the mounts."""
        shown = (mount.shown for mount in self.ordered() if mount.access in {Access.READ, Access.WRITE})
        return [path for path in shown if not os.path.lexists(path)]

    def reaches(self, path: Path) -> Access | None:
        """Return how `path` outside is reachable inside under its own name, or None if it is not."""
        found: Access | None = None
        for mount in self.ordered():
            if path.is_relative_to(mount.target):
                found = mount.access if mount.shown == mount.target else None
        return found if found in {Access.READ, Access.WRITE} else None


def reading(paths: Iterable[Path]) -> Iterator[Mount]:
    """Yield read-only mounts of the paths that exist."""
    return (mount for path in paths if path.exists() for mount in at_both(path, Access.READ))


def writing(paths: Iterable[Path]) -> Iterator[Mount]:
    """Yield writable mounts of the paths that exist."""
    return (mount for path in paths if path.exists() for mount in at_both(path, Access.WRITE))


def at_both(path: Path, access: Access) -> Iterator[Mount]:
    """Yield the mount of a path, and of its real path if a link leads there: both names are in use."""
    path, real = Path(os.path.abspath(path)), Path(os.path.realpath(path))  # noqa: PTH100
    yield Mount(target=real, access=access)
    if real != path:
        yield Mount(target=path, access=access, source=real)
