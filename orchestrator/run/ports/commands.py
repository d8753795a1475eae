"""Commands of the project: each is run to its end or its deadline, in a folder that holds a tree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from state.records.commands import CommandRun


class Reach(StrEnum):
    """The network and the credentials of a command in a sandbox. Without one it has those of the user."""

    SEALED = "sealed"
    """No network, unless `sandbox.network` opens it."""
    DOWNLOADS = "downloads"
    """The network, without credentials. For tools that download by the manifests of an agent's work."""
    ONLINE = "online"
    """The network, the credentials of package registries, and writable caches. Only for the run's base."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A command that was run: its stored record, its whole output, and the shell's exit code."""

    run: CommandRun
    output: str
    exit_code: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScratchWorktree:
    """A folder that holds a tree, with the variables that commands in it need."""

    folder: Path
    tree: str
    environment: Mapping[str, str]


class Commands(Protocol):
    """Runs commands of the project."""

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment of sq itself."""
        ...

    @property
    def seconds(self) -> float:
        """The time that all commands took in this process."""
        ...

    @property
    def sandboxed(self) -> bool:
        """Whether commands run in a sandbox."""
        ...

    async def whole(
        self,
        command: str,
        folder: Path,
        *,
        environment: Mapping[str, str] | None = None,
        told_as: str = "",
        writable: Sequence[Path] = (),
        reach: Reach = Reach.SEALED,
    ) -> Ran:
        """Run one command to its end or its deadline, in a sandbox if the run has one.

        Args:
            command: a line for the shell.
            folder: the folder to run it in.
            environment: variables beside those of sq's own environment, of which the secrets are left out.
            told_as: the command that is recorded, if the one that is run has options for reporting added.
            writable: further folders that the command writes.
            reach: the network and the credentials that it has in a sandbox.
        """
        ...

    async def contained(
        self,
        command: str,
        folder: Path,
        environment: Mapping[str, str] | None = None,
        *,
        writable: Sequence[Path] = (),
        reach: Reach = Reach.SEALED,
    ) -> CommandRun:
        """As `whole`, without the output."""
        ...
