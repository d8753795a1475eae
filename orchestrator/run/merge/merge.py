"""merge: a reviewed task becomes part of the merged work, one at a time, in the integration worktree.

The run's branch moves only to a commit whose tree sq has verified. After a kill at any step, the run finishes
the merge or begins it anew. The size of the work is stored with the merge, for a time when its commits are
gone. At the end the user's own commits on their branch are merged too, if git can and the result passes, so
that the branch can be fast-forwarded. Otherwise the work stays on sq's branch, and the run says so.
"""

import structlog

from orchestrator.git.merging.sizes import sizes
from orchestrator.run.evidence.selected_commands import results
from orchestrator.run.evidence.summary import feedback, has_failed, unanswered
from orchestrator.run.evidence.verdict import CommandVerdict
from orchestrator.run.merge.conflict import ResolvedConflict, Unresolved, resolve
from orchestrator.run.ports.places import MergeState
from orchestrator.run.record import Run
from orchestrator.run.review.findings import MERGING, as_findings
from orchestrator.run.review.ownership import own_paths
from orchestrator.run.review.revise import send_back
from state.errors import GitError
from state.journal.events import (
    Event,
    MergeBuilt,
    MergeConflicted,
    MergeFailed,
    MergeStarted,
    TaskMerged,
    TaskUnverified,
    WorkCaughtUp,
    WorkMeasured,
)
from state.journal.task_view import ClaimView, MergeView, TaskView
from state.records.findings import IssueType, ReviewIssue
from state.records.plan import Task


async def merge(run: Run, task_id: str) -> None:
    """Merge a reviewed task, or record why it goes back and its next base.

    Raises:
        BudgetExhausted: the budget does not allow a resolver.
        ServiceError: the model cannot be asked at all.
    """
    task = run.task(task_id)
    if task.merge is None or task.merge.onto != run.view.whole.commit:
        run.record(MergeStarted(task_id=task_id, commit=task.claim.commit, onto=run.view.whole.commit))
    merging = task.merge
    assert merging is not None  # noqa: S101  it has just been recorded
    if merging.built is None:
        await _build(run, task, merging)
    if merging.built:
        built = merging.built
        size = await measured(run, task_id, merging.onto, built.commit)
        await run.integration.advance(built.commit, merging.onto)
        merged = TaskMerged(task_id=task_id, commit=built.commit, tree=built.tree, onto=merging.onto)
        run.record(merged, *size)


async def _build(run: Run, task: TaskView, merging: MergeView) -> None:
    """Record the verified commit that the branch can move to, or that there is none."""
    state = await _state(run, task, merging)
    if merging.paths or not state.is_clean:
        resolved = await resolve(run, task, merging, state)
        match resolved:
            case ResolvedConflict():
                await _conclude(run, task, merging, resolved.tree, state.united, resolved)
            case Unresolved(reason, unchecked):
                again = [] if unchecked else _rebuild(run, task, merging, reason)
                await _give_up(run, task, merging, reason, again)
        return
    finished = await run.verify(task_id=task.task.id, folder=state.folder, tree=state.tree)
    judged = results(run, finished)
    if reason := unanswered(judged):
        await _give_up(run, task, merging, reason, [])
    elif not has_failed(judged):
        await _conclude(run, task, merging, state.tree, state.united)
    elif state.united:  # both additions together fail, so it is a conflict after all
        state = await run.integration.begin_merge(task, merging.onto, uniting=False)
        conflicted = MergeConflicted(
            task_id=task.task.id, commit=merging.commit, onto=merging.onto, paths=state.unmerged
        )
        run.record(conflicted)
        await _build(run, task, merging)
    else:
        reason = f"merged with the newest work it does not pass the verification.\n\n{feedback(judged)}"
        start = await run.integration.conclude_merge(task, merging.onto, state.tree, _message(run, task))
        again = [
            send_back(
                run,
                task,
                as_findings(_not_passing(task, reason)),
                by=MERGING,
                base=merging.onto,
                start=start,
            )
        ]
        await _give_up(run, task, merging, reason, again)


async def _state(run: Run, task: TaskView, merging: MergeView) -> MergeState:
    """Return the current state of the merge, begun anew unless a resolver worked on it."""
    if merging.paths:
        state = await run.integration.merge_state(task, merging.onto)
        if state.under_way:
            return state
    return await run.integration.begin_merge(task, merging.onto, uniting=not merging.paths)


async def _conclude(
    run: Run,
    task: TaskView,
    merging: MergeView,
    tree: str,
    united: tuple[str, ...] = (),
    resolved: ResolvedConflict | None = None,
) -> None:
    commit = await run.integration.conclude_merge(task, merging.onto, tree, _message(run, task))
    built = MergeBuilt(
        task_id=task.task.id,
        commit=commit,
        tree=tree,
        onto=merging.onto,
        united=united,
        summary=resolved.summary if resolved else "",
        noticed=resolved.noticed if resolved else "",
    )
    run.record(built)


async def _give_up(run: Run, task: TaskView, merging: MergeView, reason: str, again: list[Event]) -> None:
    """Undo a merge and record why. `again` sends the task back, and without it the task is unverified."""
    rescued = await run.integration.undo_merge(task, merging.onto)
    id_ = task.task.id
    failed = MergeFailed(task_id=id_, commit=merging.commit, onto=merging.onto, reason=reason)
    unverified = TaskUnverified(task_id=id_, reason=f"it could not be merged: {reason}")
    run.record(*([rescued] if rescued else []), failed, *(again or [unverified]))


def _rebuild(run: Run, task: TaskView, merging: MergeView, reason: str) -> list[Event]:
    """Build the task anew on the newest work, because its former work cannot be merged with it."""
    issue = ReviewIssue(
        task_id=task.task.id,
        file=merging.paths[0] if merging.paths else "the merge",
        type=IssueType.INCORRECT_BEHAVIOR,
        description=(
            f"the work of the last attempt conflicts with the work merged meanwhile, in "
            f"{', '.join(merging.paths)}, and the conflict was not resolved: {reason}"
        ),
        suggestion="Build the task on the work that is merged now, and keep its behavior",
    )
    return [send_back(run, task, as_findings(issue), by=MERGING, base=merging.onto, start=merging.onto)]


def _not_passing(task: TaskView, reason: str) -> ReviewIssue:
    return ReviewIssue(
        task_id=task.task.id,
        file="the merge",
        type=IssueType.INCORRECT_BEHAVIOR,
        description=reason,
        suggestion="Make it work together with the work merged meanwhile. The workspace holds both",
    )


def _message(run: Run, task: TaskView) -> str:
    return f"Merge: {task.task.title}\n\nTask {task.task.id} of run {run.started.run_id}."


log = structlog.get_logger(__name__)

_FILES_KEPT = 300


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
