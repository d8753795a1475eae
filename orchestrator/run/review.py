"""review: a read-only session looks at the commit that was verified; then, once, at the whole.

Before the build it looks at what the planner proposes, where the effort asks for that.

A reviewer that does not report usably is asked once more in the same session; if it still does not, the
parser's synthetic issue is recorded and nothing passes.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import prompts
from agents.reviewer import get_review_prompt, parse_review_output, reviewer_session, unusable_issue
from orchestrator.git.workspace import diff_text
from orchestrator.run.calls import Conversation, failure_of
from orchestrator.run.record import Run
from orchestrator.run.revise import after_final_review, after_review
from orchestrator.run.verification import summary
from state.errors import SqError
from state.events import ReviewUnusable, TaskUnverified
from state.phase import MAX_UNUSABLE
from state.records import ReviewReport, Role
from state.view import CallView, TaskView

_DIFF_LIMIT = 60_000  # characters of the diff in the prompt; the reviewer can read the files


@dataclass(frozen=True, slots=True)
class _Subject:
    """What is reviewed where; `unusable`: reports on it so far that could not be used."""

    task_id: str
    attempt: int
    commit: str
    folder: Path
    unusable: int


async def review_task(run: Run, task_id: str) -> None:
    """Have a task's commit reviewed, and record what follows from the report."""
    task = run.task(task_id)
    if task.unusable_reviews >= MAX_UNUSABLE:
        reason = f"the reviewer did not report usably, {MAX_UNUSABLE} times"
        run.record(TaskUnverified(task_id=task_id, reason=reason))
        return
    folder = await run.workspaces.ensure(task, task.commit)
    subject = _Subject(task_id, task.attempt, task.commit, folder, task.unusable_reviews)
    report = await _report(run, subject, partial(_task_prompt, run, task))
    if report:
        run.record(*after_review(run, task, report))


async def review_whole(run: Run) -> None:
    """The final review of everything merged; its issues go to the tasks that have to fix them."""
    number = len(run.view.final_reviews) + 1
    commit = run.view.head_commit
    folder = await run.workspaces.show(commit)
    subject = _Subject("", number, commit, folder, len(run.view.final_unusable))
    report = await _report(run, subject, partial(_final_prompt, run, folder))
    if report:
        run.record(*await after_final_review(run, report))


async def review_proposal(
    run: Run, subject_name: str, attempt: int, template: str, **values: object
) -> ReviewReport | None:
    """The review of an analysis or a plan, recorded; None while there is no usable one.

    Args:
        run: the run.
        subject_name: `analysis` or `plan`: the name of its lane.
        attempt: which proposal, from 1.
        template: the prompt's name.
        values: what the prompt needs.

    Raises:
        ReviewSilenceError: the reviewer did not report usably, twice.
    """
    if run.view.proposal_unusable >= MAX_UNUSABLE:
        raise ReviewSilenceError(
            f"the {subject_name} could not be reviewed: the reviewer did not report usably, "
            f"{MAX_UNUSABLE} times"
        )
    folder = await run.workspaces.show(run.view.head_commit)
    subject = _Subject(subject_name, attempt, "", folder, run.view.proposal_unusable)

    async def prompt() -> str:
        return prompts.render(template, depth=run.effort.review_depth.value, **values)

    return await _report(run, subject, prompt)


class ReviewSilenceError(SqError):
    """A review that has to come before anything else does not come."""


async def _report(run: Run, subject: "_Subject", prompt: Callable[[], Awaitable[str]]) -> ReviewReport | None:
    """A usable report; None when it was not, which is then recorded."""
    task_id, attempt, unusable = subject.task_id, subject.attempt, subject.unusable
    spec_for = partial(
        reviewer_session, run.platform, task_id=task_id, attempt=attempt, workspace=subject.folder
    )
    async with Conversation(
        run, role=Role.REVIEWER, task_id=task_id, attempt=attempt, spec_for=spec_for
    ) as talk:
        ended = [call for call in talk.calls if call.end]
        if len(ended) > unusable:
            call = ended[unusable]
        else:
            again = run.view.context.errors[-1] if unusable else ""
            words = prompts.render("review_again", problem=again) if unusable else await prompt()
            if unusable and not any(failure_of(one) == "" for one in ended):
                words = await prompt()  # no process has seen the first prompt
            call = await talk.ask(words, iteration=unusable + 1)
    report = _read(call)
    if isinstance(report, ReviewReport):
        return report
    issue = unusable_issue(report)
    run.record(
        ReviewUnusable(task_id=task_id, attempt=attempt, commit=subject.commit, problem=report, issue=issue)
    )
    return None


def _read(call: CallView) -> ReviewReport | str:
    if call.payload is not None:
        return parse_review_output(call.payload)
    if failure := failure_of(call):
        return f"the reviewer did not report: {failure}"
    if "{" not in call.last_text:
        return "the reviewer ended its turn without a report"
    return parse_review_output(call.last_text)


async def _task_prompt(run: Run, task: TaskView) -> str:
    return prompts.render(
        "review_task",
        instructions=get_review_prompt(run.effort.review_depth),
        task=task.task,
        spec=run.started.spec_text,
        verification=summary(run.view.verifications[task.committed_tree]),
        commit=task.commit,
        diff=await diff_text(Path(task.worktree), task.base_commit, task.commit, limit=_DIFF_LIMIT),
    )


async def _final_prompt(run: Run, folder: Path) -> str:
    return prompts.render(
        "review_final",
        instructions=get_review_prompt(run.effort.review_depth),
        spec=run.started.spec_text,
        tasks=[view.task for view in run.view.tasks.values()],
        verification=summary(run.view.verifications[run.view.head_tree]),
        commit=run.view.head_commit,
        diff=await diff_text(folder, run.started.base_commit, run.view.head_commit, limit=_DIFF_LIMIT),
    )
