"""Reviews of tasks, of checkpoints and of the whole, and tasks that they send back."""

from collections.abc import Iterable
from dataclasses import replace
from typing import assert_never

from state.journal import events as e
from state.journal.events import Stored
from state.journal.task_view import JudgedView, Stage
from state.journal.view import RunView
from state.records.findings import FindingState, ReviewIssue


def apply(view: RunView, event: e.ReviewEvent, stored: Stored) -> None:
    """Add an event of a review to the view of its run."""
    match event:
        case e.ReviewRecorded() if not event.task_id:
            _whole_reviewed(view, event)
        case e.ReviewRecorded():
            _task_reviewed(view, event)
        case e.CheckpointReviewed():
            task = view.tasks[event.task_id]
            task.open.checkpoints.append(event)
            if event.problem:
                view.context.errors.append(f"checkpoint review of {event.task_id}: {event.problem}")
            else:
                task.review.findings = event.findings
        case e.ReviewUnusable():
            _unusable(view, event)
        case e.TaskReopened():
            _reopened(view, event)
        case e.CriterionJudged():
            view.whole.judged[event.criterion_id] = JudgedView(event, stored.seq)
        case _:
            assert_never(event)


def _whole_reviewed(view: RunView, event: e.ReviewRecorded) -> None:
    view.whole.reviews.append(event)
    view.whole = replace(
        view.whole,
        findings=event.findings,
        merged_since_review=False,
        resolved=[],
        united=[],
        unusable=[],
    )
    if event.passed:
        view.context.review_issues = []


def _task_reviewed(view: RunView, event: e.ReviewRecorded) -> None:
    if event.task_id not in view.tasks:  # a review before the build
        return
    task = view.tasks[event.task_id]
    task.review = replace(
        task.review,
        open=tuple(one for one in event.findings if one.state is FindingState.OPEN),
        findings=event.findings,
        commit=event.commit,
        rulings=event.tests,
        suggestions=tuple(dict.fromkeys([*task.review.suggestions, *event.suggestions])),
        rounds=task.review.rounds + 1,
    )
    if event.passed:
        task.stage = Stage.APPROVED
    _keep_issues(view, event.task_id, event.issues)


def _unusable(view: RunView, event: e.ReviewUnusable) -> None:
    view.context.errors.append(f"review of {event.task_id or 'the whole'}: {event.problem}")
    if not event.task_id:
        view.whole.unusable.append(event)
    elif event.task_id in view.tasks:
        view.tasks[event.task_id].review.unusable += 1
    else:
        view.plan.unusable += 1


def _reopened(view: RunView, event: e.TaskReopened) -> None:
    task = view.tasks[event.task_id]
    task.stage, task.open.is_open = Stage.BUILDING, False
    task.review = replace(
        task.review, open=event.findings, revisions=task.review.revisions + 1, reopened_by=event.by
    )
    issues = f"{len(event.issues)} issue{'' if len(event.issues) == 1 else 's'}"
    task.end.of_attempt = f"sent back by {event.by} with {issues}"
    if event.base:
        task.next.rebuild = (event.base, event.start)
    view.whole.unusable = []
    _keep_issues(view, event.task_id, event.issues)


def _keep_issues(view: RunView, task_id: str, issues: Iterable[ReviewIssue]) -> None:
    others = [issue for issue in view.context.review_issues if issue.task_id != task_id]
    view.context.review_issues = [*others, *issues]
