"""The text of a report in one of its formats.

The HTML is one file: no script, nothing to load, the same bytes for the same contents.
"""

from enum import StrEnum
from functools import cache
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Protocol

import msgspec

from orchestrator.views.html.environment import environment, style
from orchestrator.views.html.fitting import LIMITS, MOST_BYTES, SMALLER, ReportLimits
from orchestrator.views.html.sections import answered, decided_for, gaps_in, grouped, merged_commits
from orchestrator.views.models.criteria import counted
from orchestrator.views.models.spend import by_role
from orchestrator.views.report.comparing import Comparison, compared
from orchestrator.views.report.contents import ReportContents
from orchestrator.views.report.formats.data import data, in_toto, junit, sarif, summary
from orchestrator.views.report.formats.markdown import job_summary, markdown, pull_request
from orchestrator.views.screen import as_json

if TYPE_CHECKING:
    from jinja2 import Environment


class Format(StrEnum):
    """The formats of a report."""

    HTML = "html"
    MARKDOWN = "md"
    PULL_REQUEST = "pr"
    SUMMARY = "summary"
    JUNIT = "junit"
    SARIF = "sarif"
    IN_TOTO = "intoto"
    JSON = "json"


class Readable(Protocol):
    """A run that was read, from which reports of several sizes are made (`report.reading`)."""

    def report(
        self, version: str, *, limits: ReportLimits = LIMITS, with_paths: bool = False
    ) -> ReportContents:
        """Return the contents of a report of this size."""
        ...


COMPARING = frozenset({Format.HTML, Format.MARKDOWN, Format.JSON})


def rendered(
    run: Readable, format_: Format, *, version: str, with_paths: bool = False, earlier: Readable | None = None
) -> str:
    """Return the text of a report.

    Args:
        run: the run.
        format_: the format.
        version: of the sq that writes it.
        with_paths: leave paths of the machine in the texts.
        earlier: another run, to be shown beside it in the formats of `COMPARING`.

    Raises:
        UsageError: the format needs finished work, and there is none.
    """
    if format_ is Format.HTML:
        return _web(run, version, earlier, with_paths=with_paths)
    report = run.report(version, with_paths=with_paths)
    beside = compared(report, earlier.report(version, with_paths=with_paths)) if earlier else None
    match format_:
        case Format.MARKDOWN:
            return markdown(report, beside)
        case Format.PULL_REQUEST:
            return pull_request(report)
        case Format.SUMMARY:
            return job_summary(report)
        case Format.JUNIT:
            return junit(report)
        case Format.SARIF:
            return _line(sarif(report, version))
        case Format.IN_TOTO:
            return _line(in_toto(report))
        case Format.JSON:
            return _line(_with(data(report, version), beside))


def ending(report: ReportContents, version: str) -> str:
    """Return the text of `summary.json`."""
    return _line(summary(report, version))


def _web(run: Readable, version: str, earlier: Readable | None, *, with_paths: bool) -> str:
    """Return the HTML, with shorter texts, lists and diffs if it would be too large."""
    for limits in (LIMITS, *SMALLER):
        report = run.report(version, limits=limits, with_paths=with_paths)
        beside = None
        if earlier:
            beside = compared(report, earlier.report(version, limits=limits, with_paths=with_paths))
        text = web(report, version=version, beside=beside, smaller=limits is not LIMITS)
        if len(text.encode(errors="replace")) <= MOST_BYTES:
            break
    return text


def _with(found: dict[str, object], beside: Comparison | None) -> dict[str, object]:
    return {**found, "compared": msgspec.to_builtins(beside)} if beside else found


def _line(value: object) -> str:
    return f"{as_json(value)}\n"


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


def load_templates() -> None:
    """Compile the report's templates, which takes longer than to fill them."""
    engine = _engine()
    for name in engine.list_templates(extensions=["j2"]):
        engine.get_template(name)


@cache
def _engine() -> "Environment":
    made = environment(Path(__file__).parent)
    made.filters |= {"shell": quote}
    return made
