"""A task: its place, its attempts, its claims, its end, and its reopening."""

from dataclasses import replace
from typing import assert_never

from state.journal import events as e
from state.journal.events import Stored
from state.journal.task_view import (
    ENDED_STAGES,
    AttemptView,
    ClaimView,
    PlaceView,
    Stage,
    TaskEndView,
    TaskView,
)
from state.journal.view import RunView
from state.verdicts import Verdict


def apply(view: RunView, event: e.TaskEvent, stored: Stored) -> None:  # noqa: C901, PLR0912  one case an event
    """Add an event of a task to the view of its run."""
    task = view.tasks[event.task_id]
    match event:
        case e.TaskStarted():
            task.stage = Stage.BUILDING
            task.place = PlaceView(event.branch, event.worktree, event.base_commit, stored.seq)
            task.next.rebuilt, task.next.rebuild, task.open.is_open = task.next.rebuild, None, False
        case e.HandedOver():
            task.next.hand_over = event.notes
        case e.AttemptStarted():
            _attempt_started(task, event)
        case e.IterationMeasured():
            task.open.trees.append(event.tree)
            task.open.errors.append(event.error)
        case e.GateDecided():
            task.open.gates.append(event)
            if event.verdict is not Verdict.ALLOW:
                view.context.errors.append(f"{event.task_id}: {event.gate}: {event.reason}")
        case e.ChecksDecided():
            task.open.checks.append(event)
        case e.GuidanceGiven():
            task.open.guidance.append(event)
        case e.CompletionAccepted():
            task.stage, task.claim.accepted_tree, task.open.refusals = Stage.ACCEPTED, event.tree, []
        case e.CompletionRefused():
            task.open.refusals.append(event)
        case e.TaskCommitted():
            task.stage, task.open.is_open = Stage.COMMITTED, False
            task.claim = ClaimView(task.claim.accepted_tree, event.commit, event.tree)
            task.review = replace(task.review, unusable=0, unusable_forgiven=0)
        case e.TaskStuck() | e.TaskFailed() | e.TaskUnverified():
            _ended(view, task, event)
        case _:
            assert_never(event)


def reopen_at_limit(view: RunView) -> None:
    """Reopen the tasks that a limit had ended, each in its stage before that."""
    for task in view.tasks.values():
        if task.stage is Stage.STUCK and task.end.at_limit:
            _back(task)


def retry(task: TaskView) -> None:
    """Reopen a task that had ended, in its stage before that. Accepted work is not built again."""
    ended, at_limit = task.stage, task.end.at_limit
    _back(task)
    task.review = replace(task.review, revisions=0, unusable_forgiven=task.review.unusable)
    task.next.retried = True
    if ended is Stage.STUCK and not at_limit and task.stage is Stage.COMMITTED:  # its review had sent it back
        task.stage = Stage.BUILDING
    elif ended is not Stage.UNVERIFIED and task.stage is Stage.BUILDING:
        task.open.is_open = False  # none of its open calls can go on


def _back(task: TaskView) -> None:
    task.stage = task.end.stage_before
    task.end = replace(task.end, reason="", at_limit=False)


def _attempt_started(task: TaskView, event: e.AttemptStarted) -> None:
    task.stage, task.attempt = Stage.BUILDING, event.attempt
    task.open = AttemptView(session_id=event.session_id, is_open=True, trees=[event.tree])
    task.end.of_attempt, task.next.retried = "", False


def _ended(view: RunView, task: TaskView, event: e.TaskStuck | e.TaskFailed | e.TaskUnverified) -> None:
    match event:
        case e.TaskStuck():
            stage, reason, at_limit = Stage.STUCK, event.reason, event.limit
        case e.TaskFailed():
            stage, reason, at_limit = Stage.FAILED, event.cause, task.end.at_limit
        case e.TaskUnverified():
            stage, reason, at_limit = Stage.UNVERIFIED, event.reason, task.end.at_limit
        case _:
            assert_never(event)
    under_way = view.evidence.commands
    view.evidence.commands = {key: one for key, one in under_way.items() if one.task_id != event.task_id}
    before = task.end.stage_before if task.stage in ENDED_STAGES else task.stage
    task.stage = stage
    task.end = TaskEndView(reason, at_limit, before, of_attempt=f"{stage}: {reason}")
