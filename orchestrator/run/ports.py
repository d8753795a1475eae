"""The things that a run works with and does not make: places, the integration of work, commands."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from orchestrator.checks.bench import Commands as CommandsOfChecks
from state.journal.events.checkout import WorkDelivered, WorkKept, WorkLeft, WorkRescued
from state.journal.events.tasks import Tasks, TaskView, WholeView
from state.records.commands import CommandRun, HostUse
from state.safe_paths import Oddities


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPlace:
    """The place of a task: `branch` is a branch or a ref of sq's, `base_commit` the commit it starts from.

    `rescued` names work that was in the way and is kept elsewhere.
    """

    branch: str
    folder: Path
    base_commit: str
    rescued: WorkRescued | None = None


class Places(Protocol):
    """Places for the tasks of a run, and their content as git trees and commits."""

    async def begin(self, tasks: Tasks, whole: WholeView, task: TaskView) -> TaskPlace:
        """Return a place for a task, on the newest merged work."""
        ...

    async def rebuild(
        self, tasks: Tasks, whole: WholeView, task: TaskView, *, base: str, start: str
    ) -> TaskPlace:
        """Return the task's place on newer merged work, `base`, with the content of commit `start`.

        Uncommitted work in it, and commits that `start` does not contain, are kept under a ref first.
        """
        ...

    async def ensure(self, task: TaskView, commit: str) -> Path:
        """Return the place of a task that began before, made anew from `commit` if it is gone."""
        ...

    async def show_commit(self, task: TaskView) -> Path:
        """Return the place of a task, with exactly its commit, checked by hash.

        Raises:
            GitError: it has other content even after a reset.
        """
        ...

    async def snapshot(self, folder: Path) -> str:
        """Return the tree hash of everything in a place, with new files and without ignored ones."""
        ...

    def take_oddities(self, folder: Path) -> Oddities:
        """Return what snapshots of a place could not take in since this was called last."""
        ...

    async def commit(self, task: TaskView, tree: str, message: str) -> str:
        """Commit exactly this tree, unless that is already done, and return the commit."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeState:
    """The state of a merge in the integration worktree, according to git.

    `under_way`: HEAD is the commit it began on and the merged commit is the one expected (or the merge needs
    no commit of its own). `unmerged` are paths that git holds as unresolved, `marked` files with conflict
    markers that neither side had. `tree` is the content of the worktree, or "" while paths are unmerged.
    """

    folder: Path
    under_way: bool
    unmerged: tuple[str, ...] = ()
    marked: tuple[str, ...] = ()
    tree: str = ""
    united: tuple[str, ...] = ()

    @property
    def is_clean(self) -> bool:
        """Whether git has nothing left to resolve and there are no markers."""
        return self.under_way and not self.unmerged and not self.marked


class Integration(Protocol):
    """Merges the tasks of a run, and brings the merged work to the user."""

    async def prepare(self, whole: WholeView) -> None:
        """Prepare everything that each process of a run needs before it works."""
        ...

    async def show(self, commit: str) -> Path:
        """Return a folder that holds the merged work, for reading."""
        ...

    async def begin_merge(self, task: TaskView, onto: str, *, uniting: bool = True) -> MergeState:
        """Merge a task's commit onto `onto` in the integration worktree, as far as git can, without a commit.

        If the task is based on `onto` already, the worktree just shows the task's commit. `uniting`: if both
        sides only added lines at the same place, both additions stay.
        """
        ...

    async def merge_state(self, task: TaskView, onto: str) -> MergeState:
        """Return the current state of that merge. Files edited since are included."""
        ...

    async def conclude_merge(self, task: TaskView, onto: str, tree: str, message: str) -> str:
        """Return the commit that merges a task onto `onto` with this tree. No branch moves.

        It is the task's own commit if that is based on `onto` and has that tree. A repeated call returns the
        same.
        """
        ...

    async def advance(self, commit: str, onto: str) -> None:
        """Move the merged work from `onto` to `commit`. Nothing happens if that is already done.

        Raises:
            GitError: the merged work is neither.
        """
        ...

    async def undo_merge(self, task: TaskView, onto: str) -> WorkRescued | None:
        """Put the integration worktree back on `onto`. A resolver's work is kept under a ref first."""
        ...

    async def users_news(self, commit: str) -> str:
        """Return the user's newest commit if `commit` shares history with it and lacks it, else ""."""
        ...

    async def bring_home(self, whole: WholeView, *, stays: str = "") -> WorkDelivered | WorkLeft | WorkKept:
        """Bring the merged work to where the user looks for it, or return why it stays where it is.

        `stays`: why no branch of the user's may move, or "" if it may.
        """
        ...

    async def clear(self, tasks: Tasks, whole: WholeView, *, is_home: bool) -> None:
        """Remove everything that is not needed any more, but never work that is nowhere else.

        Kept unfinished work of a task is removed once the task is merged.
        """
        ...


class Person(Protocol):
    """A person on the terminal of a run."""

    async def line(self) -> str:
        """Wait for a line, and return it. Nothing comes any more if it is empty."""
        ...

    def tell(self, text: str) -> None:
        """Say why a line could not be used."""
        ...


class Reach(StrEnum):
    """The network and the credentials of a command in a sandbox. Without one it has those of the user."""

    SEALED = "sealed"
    """No network, unless `sandbox.network` opens it."""
    DOWNLOADS = "downloads"
    """The open hosts by sq's proxy. For tools that download by the manifests of an agent's work."""
    ONLINE = "online"
    """The network, the credentials of package registries, and writable caches. Only for the run's base."""


class Commands(CommandsOfChecks, Protocol):
    """Runs commands of the project. They may read the paths of `beside`, each with its real one."""

    beside: Mapping[str, str]

    @property
    def sandboxed(self) -> bool:
        """Whether commands run in a sandbox."""
        ...

    def hosts_used(self) -> tuple[HostUse, ...]:
        """Return the uses of hosts by all sandboxes of the run since this was called last."""
        ...

    async def read_registry(self, host: str, path: str) -> bytes:
        """Return what a package registry answers to sq itself, nothing if it has nothing or is not open.

        Raises:
            SqError: it may not be asked.
            OSError: it does not answer.
        """
        ...

    def variables_of(self, folder: Path) -> dict[str, str]:
        """Return the variables of `worktree.variables`, with the values of this place."""
        ...

    async def contained(
        self,
        command: str,
        folder: Path,
        environment: Mapping[str, str] | None = None,
        *,
        writable: Sequence[Path] = (),
        reach: Reach = Reach.SEALED,
        brief: bool = False,
    ) -> CommandRun:
        """As `whole`, without the output, and with what a set-up needs more.

        Args:
            command: a line for the shell.
            folder: the folder to run it in.
            environment: variables beside those of sq's own environment.
            writable: further folders that the command writes.
            reach: the network and the credentials that it has in a sandbox.
            brief: it is one of sq's own that is over at once, so it waits for no turn.
        """
        ...
