"""A worktree and a branch for each task, outside the checkout, which only the announced last step changes."""

from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass, field
from pathlib import Path

import anyio
import structlog

from orchestrator.git.command import git
from orchestrator.git.merge import Merge, begun_merge
from orchestrator.git.own_refs import forget_kept, keep, numbered_refs, shadow_ref
from orchestrator.git.repository import deliver, find_repository, named
from orchestrator.git.trees import changed_paths, pieced_together
from orchestrator.git.users.shadows import lost_work
from orchestrator.git.workspace import (
    commit_tree,
    ensure_branch,
    ensure_worktree,
    head_of,
    move_forward,
    put_on,
    remove_branch,
    remove_worktree,
    run_branch,
    snapshot,
    snapshot_aside,
    task_branch,
    tree_of,
)
from orchestrator.run.ports import MergeState, TaskPlace
from state.errors import GitError
from state.journal.events import RunStarted, WorkDelivered, WorkKept, WorkRescued
from state.journal.events.tasks import Stage, Tasks, TaskView, WholeView
from state.safe_paths import Oddities

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Worktrees:
    """As the ports. `merge_home`: whether the user's branch is moved to the finished work at the end.

    `no_work` gives the files whose changes are no work: each tree has them as the base.
    """

    started: RunStarted
    merge_home: bool = True
    no_work: Callable[[], Collection[str]] = tuple
    not_dirt: list[Path] = field(default_factory=list)
    _odd: dict[Path, Oddities] = field(default_factory=dict)
    _making: anyio.Lock = field(default_factory=anyio.Lock)  # git makes one worktree after the other

    @property
    def _repository(self) -> Path:
        return Path(self.started.repository)

    @property
    def _branch(self) -> str:
        return run_branch(self.started.run_id)

    @property
    def _integration(self) -> Path:
        """The worktree in which work is merged, and in which planners and the final review read.

        No branch is checked out there.
        """
        return Path(self.started.worktrees) / "run"

    async def prepare(self, whole: WholeView) -> None:
        """The run's branch and its integration worktree."""
        await ensure_branch(self._repository, self._branch, whole.commit)
        await self._make(self._integration, branch=None, commit=whole.commit)

    async def show(self, commit: str) -> Path:
        """A merge under way there is undone first."""
        await self._free(commit)
        await put_on(self._integration, commit, branch=None, with_repositories=True)
        return self._integration

    # --- tasks ----------------------------------------------------------------------------------------------

    async def begin(self, tasks: Tasks, whole: WholeView, task: TaskView) -> TaskPlace:
        """Work from an earlier beginning there is kept under a ref first."""
        base = whole.commit
        return await self.rebuild(tasks, whole, task, base=base, start=base)

    async def rebuild(
        self, tasks: Tasks, whole: WholeView, task: TaskView, *, base: str, start: str
    ) -> TaskPlace:
        del tasks, whole
        id_ = task.task.id
        branch, folder = task_branch(self.started.run_id, id_), Path(self.started.worktrees) / id_
        made = await self._make(folder, branch=branch, commit=start)
        kept = None
        if not (made and await head_of(folder) == start):
            kept = await self._keep_what_is_lost(task, folder, branch, start)
            await put_on(folder, start, branch=branch)
        kept = kept or await self._kept_before(task)
        return TaskPlace(branch=branch, folder=folder, base_commit=base, rescued=kept)

    async def ensure(self, task: TaskView, commit: str) -> Path:
        """The branch holds the committed work."""
        folder = Path(task.place.worktree)
        await self._make(folder, branch=task.place.branch, commit=commit)
        return folder

    async def show_commit(self, task: TaskView) -> Path:
        """Other content there is kept under a ref."""
        folder = Path(task.place.worktree)
        if await head_of(folder) == task.claim.commit and await snapshot(folder) == task.claim.committed_tree:
            return folder
        await self.ensure(task, task.claim.commit)
        if kept := await self._keep_what_is_lost(task, folder, task.place.branch, task.claim.commit):
            log.warning("work.kept", task_id=task.task.id, ref=kept.ref)
        await put_on(folder, task.claim.commit, branch=task.place.branch)
        if (tree := await snapshot(folder)) != task.claim.committed_tree:
            differing = await changed_paths(folder, task.claim.committed_tree, tree)
            raise GitError(
                f"{folder} should show commit {task.claim.commit[:12]} "
                f"(tree {task.claim.committed_tree[:12]}), but after a reset and a clean it holds tree "
                f"{tree[:12]}, which differs in {named(differing)}: "
                "look into it"
            )
        return folder

    async def snapshot(self, folder: Path) -> str:
        if folder == self._integration:
            return await snapshot_aside(folder)
        odd = self._odd.setdefault(folder, Oddities())
        odd.left_out.clear()
        tree, paths = await snapshot(folder, odd), self.no_work()
        if not paths:
            return tree
        return await pieced_together(self._repository, tree, of=self.started.base_commit, paths=paths)

    def take_oddities(self, folder: Path) -> Oddities:
        return self._odd.pop(folder, Oddities())

    async def commit(self, task: TaskView, tree: str, message: str) -> str:
        return await commit_tree(
            Path(task.place.worktree), branch=task.place.branch, tree=tree, message=message
        )

    async def _make(self, folder: Path, *, branch: str | None, commit: str) -> bool:
        async with self._making:
            if folder.is_symlink():  # to a folder beside the checkout, of the same name
                folder.unlink()
            return await ensure_worktree(self._repository, folder, branch=branch, commit=commit)

    async def _keep_what_is_lost(
        self, task: TaskView, folder: Path, branch: str, start: str
    ) -> WorkRescued | None:
        """Keep under a ref the work in a task's worktree and branch that `start` does not contain."""
        ref = self._ref_of(task)
        kept = (await numbered_refs(self._repository, ref)).values()
        message = f"Unfinished: {task.task.title}"
        commit = await lost_work(folder, branch=branch, start=start, kept=kept, message=message)
        if not commit:
            return None
        return WorkRescued(task_id=task.task.id, ref=await keep(self._repository, ref, commit), commit=commit)

    async def _kept_before(self, task: TaskView) -> WorkRescued | None:
        """Return the kept work of the newest attempt, perhaps from a process killed before it recorded it."""
        kept = await numbered_refs(self._repository, self._ref_of(task))
        if not kept:
            return None
        ref, commit = list(kept.items())[-1]
        return WorkRescued(task_id=task.task.id, ref=ref, commit=commit)

    def _ref_of(self, task: TaskView) -> str:
        return shadow_ref(self.started.run_id, f"{task.task.id}-attempt{task.attempt}")

    # --- merging --------------------------------------------------------------------------------------------

    async def begin_merge(self, task: TaskView, onto: str, *, uniting: bool = True) -> MergeState:
        """Work on an earlier merge there is kept under a ref first."""
        await self._free(onto)
        merge = self._merge_of(task, onto)
        await merge.begin(uniting=uniting)
        return await self._state_of(merge)

    async def merge_state(self, task: TaskView, onto: str) -> MergeState:
        return await self._state_of(self._merge_of(task, onto))

    async def conclude_merge(self, task: TaskView, onto: str, tree: str, message: str) -> str:
        await self._make(self._integration, branch=None, commit=onto)
        return await self._merge_of(task, onto).conclude(tree, message)

    async def advance(self, commit: str, onto: str) -> None:
        await move_forward(self._repository, branch=self._branch, commit=commit, onto=onto)

    async def undo_merge(self, task: TaskView, onto: str) -> WorkRescued | None:
        kept = await self._free(onto)
        await put_on(self._integration, onto, branch=None, with_repositories=True)
        if kept and kept.task_id == task.task.id:
            return kept
        before = await self._merge_of(task, onto).kept_before(self._conflict_ref(task.task.id))
        return WorkRescued(task_id=task.task.id, ref=before[0], commit=before[1]) if before else None

    async def _free(self, commit: str) -> WorkRescued | None:
        """Make sure that the integration worktree exists and holds no work that is nowhere else."""
        await self._make(self._integration, branch=None, commit=commit)
        if not (merge := begun_merge(self._integration)):
            return None
        kept = await merge.keep_leftovers(self._conflict_ref(merge.task_id))
        merge.forget()
        if not kept:
            return None
        log.warning("work.kept", task_id=merge.task_id, ref=kept[0])
        return WorkRescued(task_id=merge.task_id, ref=kept[0], commit=kept[1])

    def _merge_of(self, task: TaskView, onto: str) -> Merge:
        return Merge(folder=self._integration, task_id=task.task.id, commit=task.claim.commit, onto=onto)

    async def _state_of(self, merge: Merge) -> MergeState:
        return MergeState(folder=merge.folder, **asdict(await merge.look()))

    def _conflict_ref(self, task_id: str) -> str:
        return shadow_ref(self.started.run_id, f"{task_id}-conflict")

    # --- the end --------------------------------------------------------------------------------------------

    async def users_news(self, commit: str) -> str:
        """Returns "" if the checkout has left the branch where the run began."""
        now = await find_repository(self._repository)
        if now.head is None or now.branch is None or now.branch != self.started.base_branch:
            return ""
        try:
            common = await git(self._repository, "merge-base", now.head, commit)
        except GitError:
            return ""
        return "" if common == now.head else now.head

    async def bring_home(self, whole: WholeView, *, stays: str = "") -> WorkDelivered | WorkKept:
        commit = whole.commit
        kept = "it was asked for with --no-merge"
        if not whole.tree:
            kept = "no task was merged"
        elif self.merge_home and stays:
            kept = stays
        elif self.merge_home:
            kept = await deliver(
                await find_repository(self._repository),
                commit=commit,
                base_branch=self.started.base_branch,
                not_dirt=self.not_dirt,
            )
        if kept:
            return WorkKept(branch=self._branch, commit=commit, reason=kept)
        return WorkDelivered(branch=self.started.base_branch or "", commit=commit)

    async def clear(self, tasks: Tasks, whole: WholeView, *, is_home: bool) -> None:
        """The places of merged tasks, and the run's branch if the work is home."""
        try:
            for task in tasks.values():
                if task.stage is Stage.MERGED:
                    folder = Path(task.place.worktree)
                    if await remove_worktree(self._repository, folder, holds=task.claim.committed_tree):
                        await remove_branch(self._repository, task.place.branch, merged_into=whole.commit)
            merged = {id_ for id_, task in tasks.items() if task.stage is Stage.MERGED}
            await forget_kept(self._repository, shadow_ref(self.started.run_id, ""), merged)
            holds = await tree_of(self._repository, whole.commit)
            await remove_worktree(self._repository, self._integration, holds=holds)
            if is_home or not whole.tree:
                await remove_branch(self._repository, self._branch, merged_into=whole.commit)
            worktrees = Path(self.started.worktrees)
            for folder in (worktrees, worktrees.parent):  # the run's, and that of all runs of the repository
                if folder.is_dir() and not any(folder.iterdir()):
                    folder.rmdir()
        except (GitError, OSError) as error:  # a failed removal leaves folders or refs, and never loses work
            log.warning("worktree.remove.failed", error=str(error))
