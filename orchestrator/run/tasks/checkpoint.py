"""Checkpoints: a Reviewer looks at work under way. The findings go into the Worker's next prompt.

A checkpoint is not a revision and ends nothing. The work continues without a usable review.
"""

from functools import partial
from pathlib import Path

import prompts
from agents.roles.reviewer import get_review_prompt, reviewer_session
from orchestrator.git.workspace import diff_text
from orchestrator.run.asking.briefing import conventions, decisions
from orchestrator.run.record import Run
from orchestrator.run.review.findings import as_findings, in_folder, undecided, with_new
from orchestrator.run.review.report import DIFF_LIMIT, read_report
from state.journal.events import CheckpointReviewed
from state.journal.events.tasks import TaskView
from state.roles import Role


async def review_checkpoint(run: Run, task: TaskView) -> None:
    """Have the newest iteration's work reviewed, once, and record the findings or the problem.

    Raises:
        BudgetExhausted: the budget does not allow the call.
        ServiceError: the model cannot be asked at all.
    """
    task_id, tree = task.task.id, task.open.trees[-1]
    subject = f"checkpoint-{task.iteration}"
    spec_for = partial(
        reviewer_session,
        run.platform,
        depth=run.effort.review_depth,
        task_id=task_id,
        attempt=task.attempt,
        workspace=Path(task.place.worktree),
        subject=subject,
    )
    async with run.converse(
        run,
        role=Role.REVIEWER,
        task_id=task_id,
        attempt=task.attempt,
        subject=subject,
        spec_for=spec_for,
    ) as talk:
        call = await talk.exchange(1, partial(_prompt, run, task), iteration=task.iteration)
    report = read_report(call, run.effort.review_depth)
    issues = () if isinstance(report, str) else in_folder(report.issues, task.place.worktree, task_id)
    known, number = task.review.findings, task.review.rounds + 1
    run.record(
        CheckpointReviewed(
            task_id=task_id,
            attempt=task.attempt,
            iteration=task.iteration,
            tree=tree,
            issues=tuple(issues),
            findings=with_new(known, as_findings(*issues), number, advice=True),
            problem=report if isinstance(report, str) else "",
        )
    )


async def _prompt(run: Run, task: TaskView) -> str:
    return prompts.render(
        "review_checkpoint",
        instructions=get_review_prompt(run.effort.review_depth, under_way=True),
        task=task.task,
        spec=run.started.spec_text,
        conventions=conventions(run.view),
        decisions=decisions(run.view),
        findings=undecided(task.review.findings),
        diff=await diff_text(
            Path(task.place.worktree), task.place.base_commit, task.open.trees[-1], limit=DIFF_LIMIT
        ),
    )
