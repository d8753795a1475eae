"""finish: committing, bringing the work to the user's branch, and the outcome.

Nothing is `complete` here without a verification result for exactly the tree that was merged.
"""

from orchestrator.run.catch_up import catch_up
from orchestrator.run.record import Run
from orchestrator.run.set_up import set_up
from orchestrator.run.verification import verify
from state.events import DeliveryStarted, RunEnded, TaskCommitted
from state.outcome import Outcome, worst
from state.view import RunView, Stage


async def commit(run: Run, task_id: str) -> None:
    """Commit a task's accepted tree."""
    task = run.task(task_id)
    message = f"{task.task.title}\n\nTask {task_id}, attempt {task.attempt} of run {run.started.run_id}."
    made = await run.workspaces.commit(task, task.accepted_tree, message)
    run.record(TaskCommitted(task_id=task_id, attempt=task.attempt, commit=made, tree=task.accepted_tree))


async def bring_home(run: Run) -> None:
    """Bring the merged work to the user, verified as it is there, or record why it stays where it is."""
    if run.view.head_tree:
        folder = await run.workspaces.show(run.view.head_commit)
        await set_up(run, "", folder, tree=run.view.head_tree)
        await verify(run, task_id="", folder=folder, tree=run.view.head_tree)
        await catch_up(run)
        if run.settings.worktrees and run.settings.merge and (branch := run.started.base_branch):
            run.record(DeliveryStarted(branch=branch, commit=run.view.head_commit))
    run.record(await run.workspaces.bring_home(run.view))


async def end(run: Run) -> None:
    """Record the outcome, and remove the worktrees whose work is merged."""
    outcome, cause = judge(run.view, run.effort.final_review_rounds)
    if run.settings.dry_run and not run.view.limit:
        outcome, cause = Outcome.COMPLETE, "a dry run: this is the plan, nothing was built"
    await run.workspaces.clear(run.view)
    run.record(RunEnded(outcome=outcome, cause=cause, resumable=outcome is Outcome.LIMIT))


def judge(view: RunView, final_rounds: int) -> tuple[Outcome, str]:
    """The outcome that the events prove, and the cause where it is not `complete`."""
    causes: list[tuple[Outcome, str]] = [(Outcome.LIMIT, view.limit)] if view.limit else []
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
            case _ if view.limit:
                pass  # the limit says why
            case _:
                not_built = "was not built again" if task.merged_commit else "was not built"
                waits = f"task {id_} {not_built}: it waits for {', '.join(task.task.dependencies)}"
                causes.append((Outcome.STUCK, waits))
    if not causes:
        causes += _whole(view, final_rounds)
    outcome = worst(found for found, _ in causes)
    return outcome, "; ".join(cause for _, cause in causes)


def _whole(view: RunView, final_rounds: int) -> list[tuple[Outcome, str]]:
    """What keeps a run whose tasks are all merged from being complete."""
    causes = []
    last = view.final_reviews[-1] if view.final_reviews else None
    if last is None or view.merged_since_review:
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
