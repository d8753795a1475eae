"""What one process needs of its sandbox: folders, the network, the way to the model."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class Network(StrEnum):
    """The network of a sandbox."""

    NONE = "none"
    """A loopback of its own, and nothing else."""
    GATEWAY = "gateway"
    """As `NONE`, and one port on it that leads to the model."""
    FULL = "full"
    """The network of the machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewaySocket:
    """The socket outside that leads to the model, and the port on the inner loopback that stands for it."""

    path: Path
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What one process needs beside the system, its toolchains and the caches.

    `path` is its PATH. `scratch` is a folder of its own for its home and temporary files, which the caller
    removes. `hidden` are folders of which nothing is shown but the paths named here. `with_credentials`: the
    files with which package managers sign in are readable, and their caches can be written. `keeps_index`:
    the index that the process leaves becomes the workspace's own, because a resolver marks paths in it.
    `lived_in`: its home holds the usual files of one.
    """

    workspace: Path
    scratch: Path
    path: str
    writes: bool = True
    readable: Sequence[Path] = ()
    writable: Sequence[Path] = ()
    network: Network = Network.NONE
    gateway: GatewaySocket | None = None
    hidden: Sequence[Path] = ()
    with_credentials: bool = False
    keeps_index: bool = False
    lived_in: bool = False
