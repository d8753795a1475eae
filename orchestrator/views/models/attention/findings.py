"""Findings that were let go, and suggestions of reviews."""

from collections.abc import Iterator

from orchestrator.views.models.conclusions import FindingRow, Point, Urgency, point
from orchestrator.views.models.history import RunFacts
from state.journal import events as e
from state.records.reviews import FindingState

_LET_GO = {
    FindingState.OPEN: (Urgency.DECIDE, "a finding is open"),
    FindingState.DISPUTED: (Urgency.DECIDE, "a finding was disputed by the Worker and let go"),
    FindingState.WONT_FIX: (Urgency.KNOW, "a finding is not going to be fixed"),
}


def findings(story: RunFacts) -> Iterator[Point]:
    """Yield the findings that are open or were let go."""
    for row in findings_of(story):
        finding = row.finding
        if finding.state in _LET_GO:
            urgency, what = _LET_GO[finding.state]
            yield point(
                urgency,
                f"finding {finding.state}",
                f"{what}: {finding.issue.type}",
                words=f"{finding.issue.location}: {finding.issue.description}",
                task_id=row.task_id,
                seq=row.seq,
            )


def suggestions(story: RunFacts) -> Iterator[Point]:
    """Yield the suggestions of the newest passing review of each task and of the whole."""
    newest = {
        stored.event.task_id: stored
        for stored in story.history.notable
        if isinstance(stored.event, e.ReviewRecorded)
        and stored.event.passed
        and (not stored.event.task_id or stored.event.task_id in story.view.tasks)
    }
    for task_id, stored in newest.items():
        if isinstance(stored.event, e.ReviewRecorded):
            for suggestion in stored.event.suggestions:
                yield point(
                    Urgency.KNOW,
                    "suggestion of a review",
                    "a review that passed suggests",
                    words=suggestion,
                    task_id=task_id,
                    seq=stored.seq,
                )


def findings_of(story: RunFacts) -> Iterator[FindingRow]:
    """Yield each finding in its newest state.

    A finding of the final review that became one of a task is yielded with its task alone.
    """
    seqs = {
        stored.event.task_id: stored.seq
        for stored in story.history.notable
        if isinstance(stored.event, e.ReviewRecorded | e.CheckpointReviewed)
    }
    of_tasks = set()
    for id_, task in story.view.tasks.items():
        for finding in task.review.findings:
            of_tasks.add(finding.id)
            yield FindingRow(task_id=id_, finding=finding, seq=seqs.get(id_, 0))
    for finding in story.view.whole.findings:
        if finding.id not in of_tasks:
            yield FindingRow(task_id="", finding=finding, seq=seqs.get("", 0))


def findings_by_state(story: RunFacts) -> list[FindingRow]:
    """Return all findings, those of one state together."""
    return sorted(findings_of(story), key=lambda row: row.finding.state)
