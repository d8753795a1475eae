"""When checkpoints are due (seed 004, US-002)."""

from state.journal.events.tasks import TaskView
from state.settings.records import Effort


def is_checkpoint(effort: Effort, task: TaskView) -> bool:
    """Whether the Developer's look at the progress is due after the iteration that has just ended."""
    looked = any(one.iteration == task.iteration for one in task.open.guidance)
    return _is_time(effort, task) and not looked


def is_review_due(effort: Effort, task: TaskView) -> bool:
    """Whether a Reviewer's look is due after the iteration that has just ended.

    It is due only if the tree has changed since the last look, or since the beginning of the attempt.
    """
    seen = task.open.checkpoints[-1].tree if task.open.checkpoints else task.open.trees[0]
    looked = any(one.iteration == task.iteration for one in task.open.checkpoints)
    return _is_time(effort, task) and not looked and task.open.trees[-1] != seen


def _is_time(effort: Effort, task: TaskView) -> bool:
    every = effort.checkpoint_every
    return bool(every) and task.iteration % every == 0
