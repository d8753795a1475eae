"""merge: a reviewed task becomes part of the merged work, one at a time, in the integration worktree.

The run's branch moves only to a commit whose tree sq has verified. After a kill at any step, the run finishes
the merge or begins it anew.
"""

import structlog

from agents.concurrency import aside_or
from orchestrator.checks.results.verdict import has_failed
from orchestrator.git.messages import commit_message, merge_title
from orchestrator.git.trees import contents_at
from orchestrator.project.functions.functions import has_errors
from orchestrator.run.evidence.summary import feedback, results, unanswered
from orchestrator.run.evidence.verification import verify
from orchestrator.run.merge.conflict import ResolvedConflict, Unresolved, resolve
from orchestrator.run.merge.whole import measured
from orchestrator.run.ports import MergeState
from orchestrator.run.record import Run
from orchestrator.run.review.findings import MERGING, as_findings
from orchestrator.run.review.revise import send_back
from state.journal.events import (
    Event,
    MergeBuilt,
    MergeConflicted,
    MergeFailed,
    MergeStarted,
    TaskMerged,
    TaskUnverified,
)
from state.journal.events.merges import MergeView
from state.journal.events.tasks import TaskView
from state.records.reviews import IssueType, ReviewIssue


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
    if state.united and await _is_broken(run, merging, state):
        await _as_a_conflict(run, task, merging)
        return
    finished = await verify(run, task_id=task.task.id, folder=state.folder, tree=state.tree)
    judged = results(run, finished)
    if reason := unanswered(judged):
        await _give_up(run, task, merging, reason, [])
    elif not has_failed(judged):
        await _conclude(run, task, merging, state.tree, state.united)
    elif state.united:  # both additions together fail, so it is a conflict after all
        await _as_a_conflict(run, task, merging)
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


async def _is_broken(run: Run, merging: MergeView, state: MergeState) -> bool:
    """Whether two additions together cannot be parsed, in a file that both sides can be parsed in."""
    united = await contents_at(run.repository, state.tree, state.united)
    broken: list[str] = await aside_or(
        [],  # the verification comes next
        lambda: [path for path, content in united.items() if has_errors(path, content)],
        "the united files",
    )
    sides = [await contents_at(run.repository, side, broken) for side in (merging.onto, merging.commit)]
    return any(not any(has_errors(path, side[path]) for side in sides if path in side) for path in broken)


async def _as_a_conflict(run: Run, task: TaskView, merging: MergeView) -> None:
    """Leave two additions at one place to a Resolver after all."""
    state = await run.integration.begin_merge(task, merging.onto, uniting=False)
    conflicted = MergeConflicted(
        task_id=task.task.id, commit=merging.commit, onto=merging.onto, paths=state.unmerged
    )
    run.record(conflicted)
    await _build(run, task, merging)


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
    analysis = run.view.plan.analysis
    title = merge_title(task.task.title, analysis.patterns if analysis else ())
    about = f"Task {task.task.id} of run {run.started.run_id}."
    criteria = run.view.criteria_of(task.task.id)
    return commit_message(title, about, run_id=run.started.run_id, criteria=criteria)


log = structlog.get_logger(__name__)

_FILES_KEPT = 300
