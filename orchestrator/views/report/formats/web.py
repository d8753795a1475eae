"""The report as one HTML file: no script, nothing to load, the same bytes for the same contents."""

from functools import cache
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from orchestrator.views.html.diffs import diff_lines
from orchestrator.views.html.environment import environment, style
from orchestrator.views.models.conclusions import Point, Urgency
from orchestrator.views.models.criteria import counted
from orchestrator.views.models.spend import by_role
from orchestrator.views.report.comparing import Comparison
from orchestrator.views.report.contents import ReportContents
from orchestrator.views.report.fitting import MOST_BYTES

if TYPE_CHECKING:
    from jinja2 import Environment

_FOLDER = Path(__file__).parents[1]


def web(
    report: ReportContents, *, version: str, beside: Comparison | None = None, smaller: bool = False
) -> str:
    """Return the report as HTML.

    Args:
        report: its contents.
        version: of the sq that writes it.
        beside: an earlier run, to be shown beside it.
        smaller: its contents were cut, because they did not fit.
    """
    answered = [one for one in report.decisions if one.answer and not (one.parked or one.rejected)]
    return (
        _engine()
        .get_template("report.html.j2")
        .render(
            report=report,
            version=version,
            smaller=smaller,
            beside=beside,
            most_bytes=MOST_BYTES,
            base_style=style(),
            own_style=_own_style(),
            counts={str(standing): count for standing, count in counted(report.criteria).items()},
            answered=answered,
            gaps=[point for point in report.attention if point.urgency is Urgency.UNPROVEN],
            groups=_groups(report),
            by_role=by_role(report.spending),
            merged_commits=_merged(report),
            decided=_decided(report),
        )
    )


def _decided(report: ReportContents) -> dict[str, int]:
    """Return how many decisions were made for the tasks of each criterion, by its id."""
    made = [one.task_id for one in report.decisions if one.answer and not (one.parked or one.rejected)]
    return {row.id: sum(task_id in row.tasks for task_id in made) for row in report.criteria}


def _groups(report: ReportContents) -> list[list[Point]]:
    """Return the points to look at, those of one sort together, in the order of the first ones."""
    groups: dict[tuple[Urgency, str], list[Point]] = {}
    for point in report.attention:
        groups.setdefault((point.urgency, point.kind), []).append(point)
    return list(groups.values())


def _merged(report: ReportContents) -> dict[str, str]:
    return {work.task_id: work.commit for part in report.tasks for work in part.work if work.merged}


@cache
def _engine() -> "Environment":
    made = environment(_FOLDER)
    made.filters |= {"diff_lines": diff_lines, "shell": quote}
    return made


@cache
def _own_style() -> str:
    return (_FOLDER / "report.css").read_text("utf-8")
