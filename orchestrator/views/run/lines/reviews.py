"""Lines of reviews and their findings."""

from typing import assert_never

from orchestrator.views.words import evidence_line, issue_lines, short, suggested
from state.journal import events as e
from state.journal.view import RunView
from state.records.criteria import CriterionVerdict, JudgedBy
from state.records.findings import Finding, FindingState


def lines(view: RunView, event: e.ReviewEvent) -> list[str]:
    """The lines that an event of a review adds to the story."""
    match event:
        case e.ReviewRecorded():
            return _reviewed(event)
        case e.ReviewUnusable():
            return _review_unusable(event)
        case e.CheckpointReviewed():
            return _checkpoint_reviewed(event)
        case e.TaskReopened():
            return _reopened(event)
        case e.CriterionJudged():
            return _judged(view, event)
        case _:
            assert_never(event)


def _reviewed(event: e.ReviewRecorded) -> list[str]:
    subject = event.task_id or "the whole"
    verdict = "passes" if event.passed else f"fails with {len(event.issues)} issue(s)"
    return [
        f"{subject}: the review {verdict}",
        *(line for issue in event.issues for line in issue_lines(issue)),
        *(f"    disputed: {_disputed(one)}" for one in event.findings if one.state is FindingState.DISPUTED),
        *suggested(event.suggestions),
    ]


def _disputed(finding: Finding) -> str:
    return f"{finding.issue.location}: {finding.issue.description} (the worker: {short(finding.note)})"


def _review_unusable(event: e.ReviewUnusable) -> list[str]:
    return [f"{event.task_id or 'the whole'}: no usable review: {short(event.problem, 300)}"]


def _checkpoint_reviewed(event: e.CheckpointReviewed) -> list[str]:
    if event.problem:
        return [f"{event.task_id}: no usable review at this checkpoint: {short(event.problem)}"]
    return [
        f"{event.task_id}: reviewed at a checkpoint, {len(event.issues)} issue(s)",
        *(line for issue in event.issues for line in issue_lines(issue)),
    ]


def _reopened(event: e.TaskReopened) -> list[str]:
    return [f"{event.task_id}: reopened by {event.by}"]


def _judged(view: RunView, event: e.CriterionJudged) -> list[str]:
    text = next((one.text for one in view.plan.criteria if one.id == event.criterion_id), "")
    reason = f": {short(event.claim, 200)}" if event.claim else ""
    if event.proof:
        reason = f" by the {event.proof.kind} {short(event.proof.ref, 200)}"
    elif event.verdict is CriterionVerdict.NOT_CHECKED and not event.claim:
        reason = ": the review gave no verdict on it"
    again = " on the work with your commits" if event.by is JudgedBy.RULE else ""
    shown = [] if event.proof else event.evidence
    return [
        f"{event.criterion_id} {event.standing}{again}{reason} ({short(text)})",
        *(f"    {evidence_line(one)}" for one in shown),
    ]
