"""Values of the sections that the report and the page of a run share (`sections.html.j2`)."""

from collections.abc import Iterable
from datetime import datetime

from orchestrator.views.models.conclusions import Point, Urgency
from orchestrator.views.models.criteria import CriterionRow
from orchestrator.views.models.decisions import Decision
from orchestrator.views.models.history import RunFacts
from orchestrator.views.models.summary import TaskRow
from orchestrator.views.models.why import why_not
from orchestrator.views.models.work import Attempt, TaskPart, WorkChanges


def decided_for(rows: Iterable[CriterionRow], decisions: Iterable[Decision]) -> dict[str, int]:
    """Return how many decisions were made for the tasks of each criterion, by its id."""
    made = [one.task_id for one in answered(decisions)]
    return {row.id: sum(task_id in row.tasks for task_id in made) for row in rows}


def answered(decisions: Iterable[Decision]) -> list[Decision]:
    """Return the decisions that were made without the user and hold."""
    return [one for one in decisions if one.answer and not (one.parked or one.rejected)]


def grouped(points: Iterable[Point]) -> list[list[Point]]:
    """Return the points to look at, those of one sort together, in the order of the first ones."""
    groups: dict[tuple[Urgency, str], list[Point]] = {}
    for point in points:
        groups.setdefault((point.urgency, point.kind), []).append(point)
    return list(groups.values())


def gaps_in(points: Iterable[Point]) -> list[Point]:
    """Return the points about something that was not checked."""
    return [point for point in points if point.urgency is Urgency.UNPROVEN]


def merged_commits(works: Iterable[WorkChanges]) -> dict[str, str]:
    """Return the merged commit of each task that has one, by its id."""
    return {work.task_id: work.commit for work in works if work.merged}


def task_part(
    story: RunFacts,
    row: TaskRow,
    attempts: Iterable[Attempt],
    works: Iterable[WorkChanges],
    now: datetime,
    *,
    active: bool,
) -> TaskPart:
    """Return all about the task of a row.

    Args:
        story: the run.
        row: the task in a line.
        attempts: those to show.
        works: the changes of the run's merges.
        now: this moment.
        active: whether a process works on the run.
    """
    return TaskPart(
        id=row.id,
        title=row.title,
        description=story.view.tasks[row.id].task.description,
        stage=row.stage,
        now=row.now,
        cost_usd=row.cost_usd,
        seconds=row.seconds,
        seq=row.seq,
        attempts=tuple(attempts),
        work=tuple(work for work in works if work.task_id == row.id),
        why=tuple(why_not(story, row.id, now, active=active)),
    )
