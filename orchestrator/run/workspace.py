"""Where a run's work happens: the port; behind it worktrees outside the checkout, or the checkout itself."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from state.journal.events import Event, WorkRescued
from state.journal.view import RunView, TaskView


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a task is built: `branch` is a branch or a ref of sq's, `base_commit` what it starts from.

    `rescued` tells of work that was in the way and is kept elsewhere.
    """

    branch: str
    folder: Path
    base_commit: str
    rescued: WorkRescued | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeState:
    """What git says of a merge in the integration worktree.

    `under_way`: HEAD is the commit it began on and the merged commit is the one expected (or the merge needs
    no commit of its own). `unmerged` are paths that git holds as unresolved, `marked` files in which conflict
    markers stand that neither side had. `tree` is what the worktree holds, empty while paths are unmerged.
    """

    folder: Path
    under_way: bool
    unmerged: tuple[str, ...] = ()
    marked: tuple[str, ...] = ()
    tree: str = ""
    united: tuple[str, ...] = ()

    @property
    def is_clean(self) -> bool:
        """Whether git has nothing left to resolve and no marker stands."""
        return self.under_way and not self.unmerged and not self.marked


class Workspaces(Protocol):
    """Places for the tasks of a run, what they hold as git trees and commits, and the way home."""

    async def prepare(self, view: RunView) -> None:
        """What every process of a run needs before it works."""
        ...

    async def show(self, commit: str) -> Path:
        """A folder that shows the merged work, to read in."""
        ...

    async def begin(self, view: RunView, task: TaskView) -> Place:
        """A place for a task, on the newest merged work."""
        ...

    async def rebuild(self, view: RunView, task: TaskView, *, base: str, start: str) -> Place:
        """The task's place on newer merged work, `base`, holding what commit `start` holds.

        Work in it that no commit has, and commits that `start` does not contain, are kept under a ref first.
        """
        ...

    async def ensure(self, task: TaskView, commit: str) -> Path:
        """The place of a task that began before, made anew from `commit` if it is gone."""
        ...

    async def show_commit(self, task: TaskView) -> Path:
        """The place of a task, showing exactly its commit, checked by hash.

        Raises:
            GitError: it does not show it, whatever is tried.
        """
        ...

    async def snapshot(self, folder: Path) -> str:
        """The tree hash of everything in a place, new files included, ignored ones not."""
        ...

    async def commit(self, task: TaskView, tree: str, message: str) -> str:
        """A commit of exactly this tree; done already, it is not done again."""
        ...

    async def begin_merge(self, task: TaskView, onto: str, *, uniting: bool = True) -> MergeState:
        """Merge a task's commit onto `onto` in the integration worktree, as far as git can; commit nothing.

        Where the task stands on `onto` already, the worktree just shows the task's commit. `uniting`: if both
        sides only added lines at the same place, both additions stay.
        """
        ...

    async def merge_state(self, task: TaskView, onto: str) -> MergeState:
        """What git says of that merge now; files that somebody edited since are taken in."""
        ...

    async def conclude_merge(self, task: TaskView, onto: str, tree: str, message: str) -> str:
        """The commit that merges a task onto `onto` with this tree; no branch moves.

        The task's own commit where it stands on `onto` and has that tree. Done again, it is the same commit.
        """
        ...

    async def advance(self, commit: str, onto: str) -> None:
        """Move the merged work on from `onto` to `commit`; done already, nothing happens.

        Raises:
            GitError: the merged work is neither.
        """
        ...

    async def undo_merge(self, task: TaskView, onto: str) -> WorkRescued | None:
        """Put the integration worktree back on `onto`; what a resolver left is kept under a ref first."""
        ...

    async def users_news(self, commit: str) -> str:
        """The user's newest commit, where `commit` shares history with it and lacks it; else empty."""
        ...

    async def bring_home(self, view: RunView, *, stays: str = "") -> Event:
        """Bring the merged work to where the user looks for it, or say why it stays where it is.

        `stays`: why no branch of the user's is to move; empty: it may.
        """
        ...

    async def clear(self, view: RunView) -> None:
        """Remove what is not needed any more; never work that is nowhere else.

        What was kept of a task's unfinished work goes once the task is merged.
        """
        ...
