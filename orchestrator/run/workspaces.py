"""Where a run's work happens: the port; behind it worktrees outside the checkout, or the checkout itself."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from state.events import Event, WorkRescued
from state.view import RunView, TaskView


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a task is built: `branch` is a branch or a ref of sq's, `base_commit` what it starts from.

    `rescued` tells of work that was in the way and is kept elsewhere.
    """

    branch: str
    folder: Path
    base_commit: str
    rescued: WorkRescued | None = None


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

    async def ensure(self, task: TaskView, commit: str) -> Path:
        """The place of a task that began before, made anew from `commit` if it is gone."""
        ...

    async def snapshot(self, folder: Path) -> str:
        """The tree hash of everything in a place, new files included, ignored ones not."""
        ...

    async def commit(self, task: TaskView, tree: str, message: str) -> str:
        """A commit of exactly this tree; done already, it is not done again."""
        ...

    async def merge(self, task: TaskView) -> None:
        """Make a reviewed task's commit the newest merged work."""
        ...

    async def bring_home(self, view: RunView) -> Event:
        """Bring the merged work to where the user looks for it, or say why it stays where it is."""
        ...

    async def clear(self, view: RunView) -> None:
        """Remove what is not needed any more; never work that is nowhere else."""
        ...
