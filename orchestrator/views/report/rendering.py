"""The text of a report in one of its formats."""

from enum import StrEnum
from typing import Protocol

import msgspec

from orchestrator.views.html.fitting import LIMITS, MOST_BYTES, SMALLER, ReportLimits
from orchestrator.views.report.comparing import Comparison, compared
from orchestrator.views.report.contents import ReportContents
from orchestrator.views.report.formats.data import data, in_toto, junit, sarif, summary
from orchestrator.views.report.formats.markdown import job_summary, markdown, pull_request
from orchestrator.views.report.formats.web import web
from orchestrator.views.screen import as_json


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
