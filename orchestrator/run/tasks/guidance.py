"""Checkpoints: the Developer may guide the work, once (seed 004, US-002).

Guidance never judges completion. The work continues without it if none comes.
"""

from pathlib import Path

from agents.roles.developer import guidance_ask, read_guidance
from orchestrator.git.workspace import diff_text
from orchestrator.run.asking.answer import ask_model
from orchestrator.run.asking.briefing import without_place
from orchestrator.run.evidence.latest_results import commands_on, seen_of
from orchestrator.run.record import Run
from state.journal.events import GuidanceGiven
from state.journal.events.tasks import TaskView

_DIFF_LIMIT = 30_000  # characters of the work so far that the Developer sees


async def guide(run: Run, task: TaskView) -> None:
    """Ask for guidance, and record the guidance, or that there is none and why.

    Raises:
        BudgetExhausted: the budget does not allow the call.
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
