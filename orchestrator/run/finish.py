"""finish: committing, merging, bringing the work to the user's branch, and the outcome.

Nothing is `complete` here without a verification result for exactly the tree that was merged.
"""

from pathlib import Path

import structlog

from orchestrator.git.delivery import deliver
from orchestrator.git.repository import find_repository
from orchestrator.git.workspace import (
    commit_tree,
    ensure_worktree,
    merge_forward,
    rebase_clean,
    remove_branch,
    remove_worktree,
    run_branch,
    tree_of,
)
from orchestrator.run.record import Run
from orchestrator.run.verification import verify
from state.errors import GitError
from state.events import RunEnded, TaskCommitted, TaskMerged, WorkDelivered, WorkKept
from state.fold import RunView, Stage
from state.outcome import Outcome, worst

log = structlog.get_logger(__name__)


async def commit(run: Run, task_id: str) -> None:
    """Commit a task's accepted tree on its branch."""
    task = run.task(task_id)
    message = f"{task.task.title}\n\nTask {task_id}, attempt {task.attempt} of run {run.started.run_id}."
    folder = Path(task.worktree)
    made = await commit_tree(folder, branch=task.branch, tree=task.accepted_tree, message=message)
    run.record(TaskCommitted(task_id=task_id, attempt=task.attempt, commit=made, tree=task.accepted_tree))


async def merge(run: Run, task_id: str) -> None:
    """Make a reviewed task's commit part of the run's branch."""
    task = run.task(task_id)
    branch = run_branch(run.started.run_id)
    await merge_forward(run.repository, branch=branch, commit=task.commit)
    run.record(TaskMerged(task_id=task_id, commit=task.commit, tree=task.committed_tree))


async def bring_home(run: Run) -> None:
    """Move the user's branch to the merged work, or record why it stays where it is."""
    branch, commit_ = run_branch(run.started.run_id), run.view.head_commit
    if not run.view.head_tree:
        run.record(WorkKept(branch=branch, commit=commit_, reason="no task was merged"))
        return
    await ensure_worktree(run.repository, run.reading_room, branch=None, commit=commit_)
    await rebase_clean(run.reading_room, commit_)
    await verify(run, task_id="", folder=run.reading_room, tree=run.view.head_tree)
    reason = await deliver(
        await find_repository(run.repository),
        branch=branch,
        commit=commit_,
        base_branch=run.started.base_branch,
        not_dirt=run.not_dirt,
    )
    if reason:
        run.record(WorkKept(branch=branch, commit=commit_, reason=reason))
    else:
        run.record(WorkDelivered(branch=run.started.base_branch or "", commit=commit_))


async def end(run: Run) -> None:
    """Record the outcome, and remove the worktrees whose work is merged."""
    outcome, cause = judge(run.view, run.effort.final_review_rounds)
    await _clear(run)
    run.record(RunEnded(outcome=outcome, cause=cause))


def judge(view: RunView, final_rounds: int) -> tuple[Outcome, str]:
    """The outcome that the events prove, and the cause where it is not `complete`."""
    causes: list[tuple[Outcome, str]] = []
    for id_, task in view.tasks.items():
        match task.stage:
            case Stage.MERGED:
                pass
            case Stage.FAILED:
                causes.append((Outcome.FAILED, f"task {id_} failed: {task.reason}"))
            case Stage.STUCK:
                outcome = Outcome.LIMIT if task.limit else Outcome.STUCK
                causes.append((outcome, f"task {id_} is stuck: {task.reason}"))
            case Stage.UNVERIFIED:
                causes.append((Outcome.UNVERIFIED, f"task {id_} could not be verified: {task.reason}"))
            case _:
                waits = f"task {id_} was not built: it waits for {', '.join(task.task.dependencies)}"
                causes.append((Outcome.STUCK, waits))
    if not causes:
        causes += _whole(view, final_rounds)
    outcome = worst(found for found, _ in causes)
    return outcome, "; ".join(cause for _, cause in causes)


def _whole(view: RunView, final_rounds: int) -> list[tuple[Outcome, str]]:
    """What keeps a run whose tasks are all merged from being complete."""
    causes = []
    last = view.final_reviews[-1] if view.final_reviews else None
    if last is None or last.commit != view.head_commit:
        causes.append((Outcome.UNVERIFIED, "the final review did not report usably"))
    elif not last.passed:
        found = "; ".join(f"{issue.location}: {issue.description}" for issue in last.issues)
        causes.append((Outcome.STUCK, f"after {final_rounds} round(s) the final review still finds: {found}"))
    verified = view.verifications.get(view.head_tree)
    if verified is None or not verified.runs:
        causes.append((Outcome.UNVERIFIED, "there was nothing to verify with: give commands with --verify"))
    elif not all(done.passed for done in verified.runs):
        failed = ", ".join(f"`{done.command}`" for done in verified.runs if not done.passed)
        causes.append((Outcome.UNVERIFIED, f"the merged work does not pass {failed}"))
    return causes


async def _clear(run: Run) -> None:
    """Remove what is merged: worktrees and task branches, and the run's branch where the work came home."""
    try:
        for task in run.view.tasks.values():
            if task.stage is Stage.MERGED:
                folder = Path(task.worktree)
                if await remove_worktree(run.repository, folder, holds=task.committed_tree):
                    await remove_branch(run.repository, task.branch, merged_into=run.view.head_commit)
        commit_ = run.view.head_commit
        holds = await tree_of(run.repository, commit_)
        await remove_worktree(run.repository, run.reading_room, holds=holds)
        if run.view.delivered:
            await remove_branch(run.repository, run_branch(run.started.run_id), merged_into=commit_)
        worktrees = Path(run.started.worktrees)
        if worktrees.is_dir() and not any(worktrees.iterdir()):
            worktrees.rmdir()
    except (GitError, OSError) as error:  # what could not be removed is left, never the work
        log.warning("worktree.remove.failed", error=str(error))
