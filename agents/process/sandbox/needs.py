"""What one process needs of its sandbox: folders, the network, the way to the model."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from state.records.commands import HostUse


class Network(StrEnum):
    """The network of a sandbox."""

    NONE = "none"
    """A loopback of its own, and nothing else."""
    HOSTS = "hosts"
    """As `NONE`, and a port on it that leads to the open hosts."""
    GATEWAY = "gateway"
    """As `HOSTS`, and a port on it that leads to the model."""
    FULL = "full"
    """The network of the machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewaySocket:
    """A socket outside, the gateway's or another one, and the port on the inner loopback that leads to it."""

    path: Path
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """What the sandboxes of a run reach beside the model.

    `hosts` leads to the open hosts. `variables` say so to tools, with files that are `readable` inside.
    Sessions have those `of_sessions` too, and links to the files in `seeds` by their places in its temporary
    folder. `services` are the user's, for sessions and for verification. `take_uses` returns the uses of
    hosts since it was called last. `read` returns what a registry answers to sq itself, for the name of its
    host and a path.
    """

    hosts: GatewaySocket | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    of_sessions: Mapping[str, str] = field(default_factory=dict)
    seeds: Mapping[str, Path] = field(default_factory=dict)
    readable: Sequence[Path] = ()
    services: tuple[GatewaySocket, ...] = ()
    take_uses: Callable[[], tuple[HostUse, ...]] = tuple
    read: Callable[[str, str], Awaitable[bytes]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What one process needs beside the system, its toolchains and the caches.

    `path` is its PATH. `scratch` is a folder of its own for its home and temporary files, which the caller
    removes. `hidden` are folders of which nothing is shown but the paths named here. `with_credentials`: the
    files with which package managers sign in are readable, and their caches can be written. `keeps_index`:
    the index that the process leaves becomes the workspace's own, because a resolver marks paths in it.
    `lived_in`: its home holds the usual files of one. `beside` are paths inside that show others, read-only.
    """

    workspace: Path
    scratch: Path
    path: str
    writes: bool = True
    readable: Sequence[Path] = ()
    beside: Mapping[Path, Path] = field(default_factory=dict)
    writable: Sequence[Path] = ()
    network: Network = Network.NONE
    gateway: GatewaySocket | None = None
    hidden: Sequence[Path] = ()
    with_credentials: bool = False
    keeps_index: bool = False
    lived_in: bool = False
