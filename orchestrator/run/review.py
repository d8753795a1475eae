"""review: a read-only session looks at the commit that was verified; then, once, at the whole.

A reviewer that does not report usably is asked once more in the same session; if it still does not, the
parser's synthetic issue is recorded and nothing passes.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import prompts
from agents.reviewer import get_review_prompt, parse_review_output, reviewer_session, unusable_issue
from orchestrator.git.workspace import diff_text, ensure_worktree, rebase_clean
from orchestrator.run.calls import Conversation, SpecFor, failure_of
from orchestrator.run.record import Run
from orchestrator.run.revise import after_final_review, after_review
from orchestrator.run.verification import summary
from state.events import ReviewUnusable, TaskUnverified
from state.fold import CallView, TaskView
from state.records import ReviewReport, Role

MAX_UNUSABLE = 2  # asked once more, then given up
_DIFF_LIMIT = 60_000  # characters of the diff in the prompt; the reviewer can read the files


@dataclass(frozen=True, slots=True)
class _Subject:
    """What is reviewed; `unusable`: reports on it so far that could not be used."""

    task_id: str
    attempt: int
    commit: str
    unusable: int


async def review_task(run: Run, task_id: str) -> None:
    """Have a task's commit reviewed, and record what follows from the report."""
    task = run.task(task_id)
    if task.unusable_reviews >= MAX_UNUSABLE:
        reason = f"the reviewer did not report usably, {MAX_UNUSABLE} times"
        run.record(TaskUnverified(task_id=task_id, reason=reason))
        return
    folder = Path(task.worktree)
    await ensure_worktree(run.repository, folder, branch=task.branch, commit=task.commit)
    spec_for = partial(
        reviewer_session, run.platform, task_id=task_id, attempt=task.attempt, workspace=folder
    )
    prompt = partial(_task_prompt, run, task)
    subject = _Subject(task_id, task.attempt, task.commit, task.unusable_reviews)
    report = await _report(run, subject, spec_for, prompt)
    if report:
        run.record(*after_review(run, task, report))


async def review_whole(run: Run) -> None:
    """The final review of everything merged; its issues go to the tasks that have to fix them."""
    number = len(run.view.final_reviews) + 1
    commit, folder = run.view.head_commit, run.reading_room
    await ensure_worktree(run.repository, folder, branch=None, commit=commit)
    await rebase_clean(folder, commit)
    spec_for = partial(reviewer_session, run.platform, task_id="", attempt=number, workspace=folder)
    prompt = partial(_final_prompt, run)
    subject = _Subject("", number, commit, len(run.view.final_unusable))
    report = await _report(run, subject, spec_for, prompt)
    if report:
        run.record(*await after_final_review(run, report))


async def _report(
    run: Run, subject: "_Subject", spec_for: SpecFor, prompt: Callable[[], Awaitable[str]]
) -> ReviewReport | None:
    """A usable report; None when it was not, which is then recorded."""
    task_id, attempt, unusable = subject.task_id, subject.attempt, subject.unusable
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


async def _final_prompt(run: Run) -> str:
    return prompts.render(
        "review_final",
        instructions=get_review_prompt(run.effort.review_depth),
        spec=run.started.spec_text,
        tasks=[view.task for view in run.view.tasks.values()],
        verification=summary(run.view.verifications[run.view.head_tree]),
        commit=run.view.head_commit,
        diff=await diff_text(
            run.reading_room, run.started.base_commit, run.view.head_commit, limit=_DIFF_LIMIT
        ),
    )
