"""The report as one HTML file: no script, nothing to load, the same bytes for the same contents."""

from functools import cache
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from orchestrator.views.html.environment import environment, style
from orchestrator.views.html.fitting import MOST_BYTES
from orchestrator.views.html.sections import answered, decided_for, gaps_in, grouped, merged_commits
from orchestrator.views.models.criteria import counted
from orchestrator.views.models.spend import by_role
from orchestrator.views.report.comparing import Comparison
from orchestrator.views.report.contents import ReportContents

if TYPE_CHECKING:
    from jinja2 import Environment


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
    return (
        _engine()
        .get_template("report.html.j2")
        .render(
            report=report,
            version=version,
            smaller=smaller,
            beside=beside,
            most_bytes=MOST_BYTES,
            base_style=style("base.css"),
            own_style=style("sections.css"),
            counts=counted(report.criteria),
            answered=answered(report.decisions),
            gaps=gaps_in(report.attention),
            groups=grouped(report.attention),
            by_role=by_role(report.spending),
            merged_commits=merged_commits(work for part in report.tasks for work in part.work),
            decided=decided_for(report.criteria, report.decisions),
        )
    )


@cache
def _engine() -> "Environment":
    made = environment(Path(__file__).parents[1])
    made.filters |= {"shell": quote}
    return made
