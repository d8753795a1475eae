"""Checkpoints: when they are due; the Developer looks at the progress and may guide, once (seed 004, US-002).

It never judges completion. Guidance that does not come holds nobody up.
"""

from pathlib import Path

from agents.roles.developer import guidance_ask, read_guidance
from orchestrator.git.workspace import diff_text
from orchestrator.run.asking.answer import ask_model
from orchestrator.run.asking.briefing import without_place
from orchestrator.run.evidence.shown import commands_on, seen_of
from orchestrator.run.record import Run
from state.journal.events import GuidanceGiven
from state.journal.view import TaskView
from state.settings.records import Effort

_DIFF_LIMIT = 30_000  # characters of the work so far that the Developer sees


def is_checkpoint(effort: Effort, task: TaskView) -> bool:
    """Whether the Developer looks after the iteration that has just ended, and has not yet."""
    looked = any(one.iteration == task.iteration for one in task.open.guidance)
    return _is_time(effort, task) and not looked


def is_review_due(effort: Effort, task: TaskView) -> bool:
    """Whether a Reviewer looks after the iteration that has just ended, and has not yet.

    Only at something new: since the last look, or the beginning of the attempt.
    """
    seen = task.open.checkpoints[-1].tree if task.open.checkpoints else task.open.trees[0]
    looked = any(one.iteration == task.iteration for one in task.open.checkpoints)
    return _is_time(effort, task) and not looked and task.open.trees[-1] != seen


def _is_time(effort: Effort, task: TaskView) -> bool:
    every = effort.checkpoint_every
    return bool(every) and task.iteration % every == 0


async def guide(run: Run, task: TaskView) -> None:
    """Ask for guidance and record what came: a piece of it, nothing, or why there is none.

    Raises:
        BudgetExhausted: it may not be paid for.
        ServiceError: the model cannot be asked at all.
    """
    window = run.settings.context_window
    ask = guidance_ask(
        run.platform,
        spec=run.started.spec_text,
        task=task.task,
        attempt=task.attempt,
        changes=await diff_text(
            Path(task.place.worktree), task.place.base_commit, task.open.trees[-1], limit=_DIFF_LIMIT
        ),
        history=without_place(list(task.history)[-window:] if window else [], task),
        verification=commands_on(run, task),
        seen=seen_of(run, task),
        deadline_s=run.limits.question_s,
    )
    ended, guidance = await ask_model(run, ask, read_guidance, iteration=task.iteration)
    given = GuidanceGiven(
        task_id=task.task.id,
        attempt=task.attempt,
        iteration=task.iteration,
        guidance="" if isinstance(guidance, str) else guidance[0],
        problem=guidance if isinstance(guidance, str) else "",
    )
    run.record(ended, given)
