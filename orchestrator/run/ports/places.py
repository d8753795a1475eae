"""A place to work in: a worktree outside the checkout, or the checkout itself."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from state.journal.events.checkout import WorkRescued
from state.journal.events.tasks import Tasks, TaskView, WholeView


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

    async def commit(self, task: TaskView, tree: str, message: str) -> str:
        """Commit exactly this tree, unless that is already done, and return the commit."""
        ...
