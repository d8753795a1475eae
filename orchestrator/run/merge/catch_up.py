"""catch-up: the user's commits on their branch during the run are merged with the finished work.

This happens in the integration worktree, only if git can merge and the result passes the verification. The
user's branch can then be fast-forwarded. Otherwise the work stays on sq's branch, and the run says so.
"""

from orchestrator.run.evidence.selected_commands import results
from orchestrator.run.evidence.verdict import CommandVerdict
from orchestrator.run.record import Run
from state.journal.events import WorkCaughtUp
from state.journal.events.tasks import ClaimView, TaskView
from state.records.plan import Task

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
        finished = await run.verify(task_id="", folder=state.folder, tree=state.tree)
        if all(one.standing in _GOOD for one in results(run, finished)):
            message = f"Merge: the work of run {run.started.run_id}"
            commit = await run.integration.conclude_merge(whole, news, state.tree, message)
            await run.integration.advance(commit, head)
            run.record(WorkCaughtUp(onto=news, commit=commit, tree=state.tree))
            await run.take_proofs(finished, task_id="", base=run.view.baseline.tree)
            return
    await run.integration.undo_merge(whole, head)
