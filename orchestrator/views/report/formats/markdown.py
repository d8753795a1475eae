"""The report as Markdown, and as a CI's job summary, which has a limit of bytes."""

from collections.abc import Sequence

from orchestrator.views.html.amounts import number
from orchestrator.views.report.comparing import Comparison
from orchestrator.views.report.contents import ReportContents
from orchestrator.views.report.formats.quoting import code
from orchestrator.views.report.formats.sections import Section, sections

_SUMMARY_BYTES = 900_000  # GitHub drops a summary of more than 1 MiB whole


def markdown(report: ReportContents, beside: Comparison | None = None) -> str:
    """Return the whole report as Markdown. `beside`: an earlier run, shown after the first section."""
    return _together(report, [_beside(beside)] if beside else [], most_bytes=None)


def _beside(beside: Comparison) -> Section:
    lines = [f"| | {beside.earlier} | {beside.run_id} |", "|---|---|---|"]
    lines += [f"| {one.name} | {one.before} | {one.now} |" for one in beside.figures]
    for one in (*beside.criteria, *beside.commands):
        lines += ["", f"- {code(one.name)}: {one.before} → {one.now}"]
    return Section(title=f"Beside run {beside.earlier}", lines=tuple(lines))


def job_summary(report: ReportContents) -> str:
    """Return the report for a job's summary. Sections that do not fit are cut, and it says so."""
    return _together(report, (), most_bytes=_SUMMARY_BYTES)


def _together(report: ReportContents, compared: Sequence[Section], most_bytes: int | None) -> str:
    first, *rest = sections(report)
    parts = [f"# sq report: run {report.run_id}\n\n" + "\n".join(first.lines)]
    parts += [f"## {one.title}\n\n" + "\n".join(one.lines) for one in (*compared, *rest)]
    parts += ["\n\n".join(f"_{sentence}._" for sentence in report.index.left_out)] * bool(
        report.index.left_out
    )
    return fitting(parts, most_bytes, report.run_id)


def fitting(parts: Sequence[str], most_bytes: int | None, run_id: str) -> str:
    """Return the parts with empty lines between them, cut at the end of a line where they become too long.

    The parts after a cut are left out, and a last line says how many lines are missing.
    """
    text = "\n\n".join(parts) + "\n"
    if most_bytes is None or len(text.encode()) <= most_bytes:
        return text
    lines = text.split("\n")
    size, kept = 300, 0  # space for the last line
    for line in lines:
        size += len(line.encode()) + 1
        if size > most_bytes:
            break
        kept += 1
    missing = len(lines) - kept
    told = f"_Cut here: {number(missing)} more lines do not fit. `sq report {run_id} --format md` has all._"
    return "\n".join([*lines[:kept], "", told, ""])
