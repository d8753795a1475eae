"""Work in the user's checkout itself, one task at a time. Nothing is staged or committed there.

A task's changes are held in commits that no branch shows (`orchestrator.git.users.shadows`).
"""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from orchestrator.git.command import compared, git
from orchestrator.git.own_refs import ref_commit, shadow_ref
from orchestrator.git.repository import named
from orchestrator.git.users.shadows import put_back, shadow_commit, shadow_snapshot
from orchestrator.git.workspace import tree_of
from orchestrator.run.ports import MergeState, TaskPlace
from state.errors import GitError, UsageError
from state.journal.events import RunStarted, WorkKept, WorkLeft, WorkRescued
from state.journal.events.tasks import ENDED_STAGES, Stage, Tasks, TaskView, WholeView
from state.safe_paths import Oddities

_INDEX = "checkout.index"


async def alone_in(root: Path) -> AbstractContextManager[object]:
    """Hold the checkout for one run, until the context is left or the process ends.

    Raises:
        UsageError: another run is working in it.
    """
    path = Path(await git(root, "rev-parse", "--git-path", "sq-checkout.lock"))
    lock = FileLock(path if path.is_absolute() else root / path)
    try:
        return lock.acquire(timeout=0)
    except Timeout:
        raise UsageError(
            f"another run is working in {root} (--no-worktrees): wait for it, or leave --no-worktrees out"
        ) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """As the ports. `run_folder` keeps an index of sq's own."""

    started: RunStarted
    run_folder: Path

    @property
    def _root(self) -> Path:
        return Path(self.started.repository)

    async def prepare(self, whole: WholeView) -> None:
        """The checkout exists already."""
        del whole

    async def show(self, commit: str) -> Path:
        """The checkout holds the merged work."""
        del commit
        return self._root

    async def begin(self, tasks: Tasks, whole: WholeView, task: TaskView) -> TaskPlace:
        """Changes of a task that was given up are kept under a ref and undone first."""
        id_ = task.task.id
        rescued = await self._put_back_what_failed(tasks)
        tree = await self.snapshot(self._root)
        base = await shadow_commit(
            self._root,
            ref=self._ref(f"{id_}-base"),
            parent=whole.commit,
            tree=tree,
            message=f"The checkout before task {id_}",
        )
        return TaskPlace(branch=self._ref(id_), folder=self._root, base_commit=base, rescued=rescued)

    async def ensure(self, task: TaskView, commit: str) -> Path:
        del task, commit
        return self._root

    async def rebuild(
        self, tasks: Tasks, whole: WholeView, task: TaskView, *, base: str, start: str
    ) -> TaskPlace:
        """The checkout holds the newest merged work."""
        del base, start
        return await self.begin(tasks, whole, task)

    async def show_commit(self, task: TaskView) -> Path:
        """Nothing is put back, because the checkout is the user's."""
        now = await self.snapshot(self._root)
        if now != task.claim.committed_tree and (
            changed := await self._changed(task.claim.committed_tree, now)
        ):
            raise GitError(
                f"{self._root} no longer holds the work under review: {named(changed)} changed "
                f"since sq committed task {task.task.id} ({task.claim.commit[:12]}). With --no-worktrees, "
                "leave the checkout alone until the run has ended"
            )
        return self._root

    async def snapshot(self, folder: Path) -> str:
        return await shadow_snapshot(folder, self._index, lenient=True)

    def take_oddities(self, folder: Path) -> Oddities:  # noqa: ARG002  as the ports
        """Nothing of the user's is removed, and what git cannot take in stays out."""
        return Oddities()

    async def commit(self, task: TaskView, tree: str, message: str) -> str:
        revised = bool(task.claim.commit) and task.claim.commit != task.merged_commit
        parent = task.claim.commit if revised else task.place.base_commit
        return await shadow_commit(
            self._root, ref=task.place.branch, parent=parent, tree=tree, message=message
        )

    async def begin_merge(self, task: TaskView, onto: str, *, uniting: bool = True) -> MergeState:
        """The work is in the checkout, and the next task starts from its commit."""
        del uniting
        return await self.merge_state(task, onto)

    async def merge_state(self, task: TaskView, onto: str) -> MergeState:
        del onto
        return MergeState(folder=self._root, under_way=True, tree=task.claim.committed_tree)

    async def conclude_merge(self, task: TaskView, onto: str, tree: str, message: str) -> str:
        del onto, tree, message
        return task.claim.commit

    async def advance(self, commit: str, onto: str) -> None:
        """There is no branch of sq's."""
        del commit, onto

    async def undo_merge(self, task: TaskView, onto: str) -> None:
        """There is nothing to undo."""
        del task, onto

    async def users_news(self, commit: str) -> str:
        """The work is in the checkout, with all changes of the user there."""
        del commit
        return ""

    async def bring_home(self, whole: WholeView, *, stays: str = "") -> WorkLeft | WorkKept:
        """The work is there already, and no branch moves."""
        del stays
        if not whole.tree:
            return WorkKept(branch="", commit=self.started.base_commit, reason="no task was finished")
        ref = self._ref("work")
        await shadow_commit(self._root, ref=ref, parent=whole.commit, tree=whole.tree, message="")
        return WorkLeft(ref=ref, commit=whole.commit)

    async def clear(self, tasks: Tasks, whole: WholeView, *, is_home: bool) -> None:
        del tasks, whole, is_home
        self._index.unlink(missing_ok=True)

    @property
    def _index(self) -> Path:
        return self.run_folder / _INDEX

    def _ref(self, name: str) -> str:
        return shadow_ref(self.started.run_id, name)

    async def _changed(self, committed: str, now: str) -> list[str]:
        """Return the paths that differ between two trees, without files that verification added."""
        form = ("--name-only", "--no-renames", "--diff-filter=a", "-z")
        told = await compared(self._root, "diff", *form, of=(committed, now))
        return [path for path in told.decode(errors="replace").split("\0") if path]

    async def _put_back_what_failed(self, tasks: Tasks) -> WorkRescued | None:
        begun = [task for task in tasks.values() if task.place.begun]
        newest = max(begun, key=lambda task: task.place.begun, default=None)
        if newest is None or newest.stage not in ENDED_STAGES or newest.stage is Stage.MERGED:
            return None
        now = await self.snapshot(self._root)
        left = newest.claim.accepted_tree or (newest.open.trees[-1] if newest.open.trees else now)
        ref = self._ref(f"{newest.task.id}-unfinished")
        message = f"Unfinished: {newest.task.title}\n\n{newest.end.reason}"
        kept = await ref_commit(self._root, ref) or await shadow_commit(
            self._root, ref=ref, parent=newest.place.base_commit, tree=now, message=message
        )
        base = await tree_of(self._root, newest.place.base_commit)
        await put_back(self._root, self._index, changed=left, base=base, now=now)
        return WorkRescued(task_id=newest.task.id, ref=ref, commit=kept)
