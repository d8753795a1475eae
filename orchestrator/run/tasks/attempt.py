"""build: one attempt at a task in one Worker session, iteration by iteration, until its claim stands.

The next step follows from the view alone (`orchestrator.run.tasks.steps`). This module does it.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from agents.roles.worker import worker_session
from orchestrator.run.asking.questions import QuestionBus
from orchestrator.run.evidence.selected_commands import results
from orchestrator.run.evidence.summary import summary
from orchestrator.run.log_context import log_attempt
from orchestrator.run.places.protection import put_users_work_back
from orchestrator.run.places.set_up import set_up
from orchestrator.run.places.steps import ready_environment
from orchestrator.run.ports.asking import Talk
from orchestrator.run.ports.places import TaskPlace
from orchestrator.run.record import Run
from orchestrator.run.tasks.checkpoint import review_checkpoint
from orchestrator.run.tasks.guidance import guide
from orchestrator.run.tasks.hand_over import hand_over_of
from orchestrator.run.tasks.progress import last_error
from orchestrator.run.tasks.steps import (
    AnswerPlain,
    CheckClaim,
    EndStuck,
    GiveUp,
    Guide,
    Measure,
    ReviewCheckpoint,
    Say,
    next_step,
)
from orchestrator.run.tasks.stuck import end_stuck
from state.ids import new_session_id
from state.journal.events import AttemptStarted, HandedOver, IterationMeasured, TaskStarted
from state.journal.events.tasks import Stage, TaskView
from state.roles import Role
from state.settings.records import Workflow

CheckCompletion = Callable[[Run, TaskView], Awaitable[None]]


async def build(run: Run, task_id: str, check_completion: CheckCompletion) -> None:
    """Bring a task from its current stage to an accepted claim, or to the event that says why not.

    `check_completion` records whether the claim of a task stands.
    """
    task = run.task(task_id)
    await _prepare(run, task)
    log_attempt(task.attempt)
    variables = await ready_environment(run, Path(task.place.worktree)) if run.settings.worktrees else {}
    with TemporaryDirectory(prefix="sq-", ignore_cleanup_errors=True) as temporary:
        spec_for = partial(
            worker_session,
            run.platform,
            task_id=task_id,
            attempt=task.attempt,
            workspace=Path(task.place.worktree),
            temporary=Path(temporary),
            variables=variables,
            plans=run.settings.workflow is Workflow.PLAN_THEN_IMPLEMENT,
        )
        async with run.converse(
            run,
            role=Role.WORKER,
            task_id=task_id,
            attempt=task.attempt,
            spec_for=spec_for,
            session_id=task.open.session_id,
            questions=QuestionBus(run, task_id).callback,
        ) as talk:
            await _attempt(run, task, talk, check_completion)


async def _attempt(run: Run, task: TaskView, talk: Talk, check_completion: CheckCompletion) -> None:
    task_id = task.task.id
    while task.stage is Stage.BUILDING:
        match next_step(run.view, task, run):
            case Say(prompt, planning):
                await talk.exchange(talk.ended + 1, prompt, planning=planning)
            case AnswerPlain(question):
                await QuestionBus(run, task_id).answer_plain(task.open.calls[-1], question)
            case ReviewCheckpoint():
                await review_checkpoint(run, task)
            case Guide():
                await guide(run, task)
            case Measure():
                measured = IterationMeasured(
                    task_id=task_id,
                    attempt=task.attempt,
                    iteration=task.iteration,
                    tree=await run.places.snapshot(Path(task.place.worktree)),
                    error=last_error(task.history),
                )
                run.record(measured)
            case CheckClaim():
                await check_completion(run, task)
            case EndStuck(reason):
                await end_stuck(run, task, reason)
            case GiveUp(event):
                run.record(event)


async def _new_place(run: Run, task: TaskView) -> TaskPlace | None:
    """Return a place for a task that has none or moves to newer work, or None if it has its place."""
    if task.stage is Stage.WAITING:
        return await run.places.begin(run.view.tasks, run.view.whole, task)
    if task.next.rebuild:
        base, start = task.next.rebuild
        return await run.places.rebuild(run.view.tasks, run.view.whole, task, base=base, start=start)
    return None


async def _prepare(run: Run, task: TaskView) -> None:
    """Make sure of a place on the merged work that the task is built on, and of an open attempt."""
    task_id = task.task.id
    if not task.open.is_open:
        await put_users_work_back(run)
    place = await _new_place(run, task)
    if place:
        started = TaskStarted(
            task_id=task_id,
            branch=place.branch,
            worktree=str(place.folder),
            base_commit=place.base_commit,
        )
        run.record(*([place.rescued] if place.rescued else []), started)
    else:  # after a crash the folder may have been removed
        await run.places.ensure(task, task.place.base_commit)
    await set_up(run, task_id, Path(task.place.worktree))
    if not task.open.is_open:
        tree = await run.places.snapshot(Path(task.place.worktree))
        started_anew = AttemptStarted(
            task_id=task_id, attempt=task.attempt + 1, session_id=new_session_id(), tree=tree
        )
        run.record(*_handed_over(run, task), started_anew)


def _handed_over(run: Run, task: TaskView) -> list[HandedOver]:
    """Return the hand-over of the previous attempt, if there was one."""
    verified = run.view.evidence.verifications.get(task.open.trees[-1]) if task.open.trees else None
    notes = hand_over_of(run.view, task, summary(results(run, verified)) if verified else "")
    return [HandedOver(task_id=task.task.id, attempt=task.attempt, notes=notes)] if notes else []
