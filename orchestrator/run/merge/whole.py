"""The finished work as a whole: its size, and the user's own commits merged with it.

The size is stored with each merge, for a time when its commits are gone. The user's commits during the run
are merged in the integration worktree, only if git can and the result passes the verification. The user's
branch can then be fast-forwarded. Otherwise the work stays on sq's branch, and the run says so.
"""

import structlog

from orchestrator.git.changes import sizes
from orchestrator.run.evidence.summary import results
from orchestrator.run.evidence.verdict import CommandVerdict
from orchestrator.run.record import Run
from orchestrator.run.review.ownership import own_paths
from state.errors import GitError
from state.journal.events import WorkCaughtUp, WorkMeasured
from state.journal.events.tasks import ClaimView, TaskView
from state.records.plan import Task

log = structlog.get_logger(__name__)

_FILES_KEPT = 300
_GOOD = frozenset({CommandVerdict.PASSED, CommandVerdict.NO_EVIDENCE})


async def catch_up(run: Run) -> None:
    """Bring the finished work onto the user's newest commit, or leave it unchanged."""
    if not (run.settings.worktrees and run.settings.merge):
        return
    head = run.view.whole.commit
    news = await run.integration.users_news(head)
    if not news:
        return
    whole = TaskView(Task(id="work", title="The finished work", description=""), claim=ClaimView(commit=head))
    state = await run.integration.begin_merge(whole, news)
    if state.is_clean:
        finished = await run.evidence.verify(run, task_id="", folder=state.folder, tree=state.tree)
        if all(one.standing in _GOOD for one in results(run, finished)):
            message = f"Merge: the work of run {run.started.run_id}"
            commit = await run.integration.conclude_merge(whole, news, state.tree, message)
            await run.integration.advance(commit, head)
            run.record(WorkCaughtUp(onto=news, commit=commit, tree=state.tree))
            await run.evidence.take_proofs(run, finished, task_id="", base=run.view.baseline.tree)
            return
    await run.integration.undo_merge(whole, head)


async def measured(
    run: Run, task_id: str, base: str, commit: str, paths: list[str] | None = None
) -> list[WorkMeasured]:
    """Return the size of a change, or nothing if git cannot say it. `paths`: only of these.

    A size is for people only, so work is not held up by it.
    """
    try:
        files = await sizes(run.repository, base, commit)
    except GitError as error:
        log.warning("work.unmeasured", task_id=task_id, error=str(error))
        return []
    own = [one for one in files if paths is None or one.path in paths]
    return [
        WorkMeasured(
            task_id=task_id,
            base=base,
            commit=commit,
            files=tuple(own[:_FILES_KEPT]),
            added=sum(one.added or 0 for one in own),
            removed=sum(one.removed or 0 for one in own),
            left_out=max(0, len(own) - _FILES_KEPT),
        )
    ]


async def measure_whole(run: Run) -> None:
    """Record the size of everything merged, before commits of the user are merged into it."""
    view = run.view
    before = view.whole.measured.get("", [])
    if view.whole.tree != view.whole.merged_tree or (before and before[-1].commit == view.whole.commit):
        return
    base = view.checkout.own_base or run.started.base_commit
    run.record(*await measured(run, "", base, view.whole.commit, await own_paths(run)))
