"""A worktree and a branch for each task, outside the checkout, which only the announced last step touches."""

from dataclasses import dataclass, field
from pathlib import Path

import structlog

from orchestrator.git.delivery import deliver
from orchestrator.git.repository import find_repository
from orchestrator.git.workspace import (
    commit_tree,
    ensure_branch,
    ensure_worktree,
    merge_forward,
    rebase_clean,
    remove_branch,
    remove_worktree,
    run_branch,
    snapshot,
    task_branch,
    tree_of,
)
from orchestrator.run.workspaces import Place
from state.errors import GitError
from state.events import Event, RunStarted, WorkDelivered, WorkKept
from state.view import RunView, Stage, TaskView

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Worktrees:
    """As `Workspaces`. `merge_home`: whether the user's branch is moved to the finished work at the end."""

    started: RunStarted
    merge_home: bool = True
    not_dirt: list[Path] = field(default_factory=list)

    @property
    def _repository(self) -> Path:
        return Path(self.started.repository)

    @property
    def _branch(self) -> str:
        return run_branch(self.started.run_id)

    @property
    def _reading_room(self) -> Path:
        """The worktree in which planners and the final review read; no branch is checked out there."""
        return Path(self.started.worktrees) / "run"

    async def prepare(self, view: RunView) -> None:
        """As `Workspaces`: the run's branch and its reading room."""
        await ensure_branch(self._repository, self._branch, view.head_commit)
        await ensure_worktree(self._repository, self._reading_room, branch=None, commit=view.head_commit)

    async def show(self, commit: str) -> Path:
        """As `Workspaces`."""
        await ensure_worktree(self._repository, self._reading_room, branch=None, commit=commit)
        await rebase_clean(self._reading_room, commit)
        return self._reading_room

    async def begin(self, view: RunView, task: TaskView) -> Place:
        """As `Workspaces`."""
        id_, base = task.task.id, view.head_commit
        branch = task_branch(self.started.run_id, id_)
        folder = Path(self.started.worktrees) / id_
        await ensure_worktree(self._repository, folder, branch=branch, commit=base)
        if task.merged_commit:
            await rebase_clean(folder, base)
        return Place(branch=branch, folder=folder, base_commit=base)

    async def ensure(self, task: TaskView, commit: str) -> Path:
        """As `Workspaces`; the branch holds what was committed."""
        folder = Path(task.worktree)
        await ensure_worktree(self._repository, folder, branch=task.branch, commit=commit)
        return folder

    async def snapshot(self, folder: Path) -> str:
        """As `Workspaces`."""
        return await snapshot(folder)

    async def commit(self, task: TaskView, tree: str, message: str) -> str:
        """As `Workspaces`."""
        return await commit_tree(Path(task.worktree), branch=task.branch, tree=tree, message=message)

    async def merge(self, task: TaskView) -> None:
        """As `Workspaces`."""
        await merge_forward(self._repository, branch=self._branch, commit=task.commit)

    async def bring_home(self, view: RunView) -> Event:
        """As `Workspaces`."""
        commit = view.head_commit
        kept = "it was asked for with --no-merge"
        if not view.head_tree:
            kept = "no task was merged"
        elif self.merge_home:
            kept = await deliver(
                await find_repository(self._repository),
                branch=self._branch,
                commit=commit,
                base_branch=self.started.base_branch,
                not_dirt=self.not_dirt,
            )
        if kept:
            return WorkKept(branch=self._branch, commit=commit, reason=kept)
        return WorkDelivered(branch=self.started.base_branch or "", commit=commit)

    async def clear(self, view: RunView) -> None:
        """As `Workspaces`: merged worktrees and task branches, the run's branch where the work is home."""
        try:
            for task in view.tasks.values():
                if task.stage is Stage.MERGED:
                    folder = Path(task.worktree)
                    if await remove_worktree(self._repository, folder, holds=task.committed_tree):
                        await remove_branch(self._repository, task.branch, merged_into=view.head_commit)
            holds = await tree_of(self._repository, view.head_commit)
            await remove_worktree(self._repository, self._reading_room, holds=holds)
            if view.delivered or not view.head_tree:
                await remove_branch(self._repository, self._branch, merged_into=view.head_commit)
            worktrees = Path(self.started.worktrees)
            for folder in (worktrees, worktrees.parent):  # the run's, and that of all runs of the repository
                if folder.is_dir() and not any(folder.iterdir()):
                    folder.rmdir()
        except (GitError, OSError) as error:  # what could not be removed is left, never the work
            log.warning("worktree.remove.failed", error=str(error))
