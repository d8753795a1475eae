"""The report as the body of a pull request. Nothing in it notifies or links."""

from orchestrator.views.report.contents import ReportContents
from orchestrator.views.report.formats.sections import Section, sections

MOST_CHARACTERS = 60_000  # GitHub takes 65,536
_LAST = 400  # characters kept for the lines at the end
_CUT = "_More does not fit here: `sq report {} --format md` has all._"


def pull_request(report: ReportContents) -> str:
    """Return the body. Its first line is a mark by which the pull request of this run is found again."""
    draft = "yes" if report.headline.draft else "no"
    body = f"<!-- sq:run={report.run_id} -->\n<!-- sq:draft={draft} -->\n"
    first, *rest = sections(report)
    cut = False
    for section in (first, *rest):
        space = MOST_CHARACTERS - _LAST - len(body)
        shown, left_out = _within(section, space)
        body += shown
        cut = cut or left_out
    end = f"\n{_CUT.format(report.run_id)}\n" if cut else ""
    made = f"Made by sq from the journal of run {report.run_id}. Words that may be an agent's are in `code`."
    return f"{body}{end}\n<sub>{made}</sub>\n"


def _within(section: Section, space: int) -> tuple[str, bool]:
    """Return as much of a section as fits, and whether lines are left out."""
    open_, close = "\n", "\n"
    if section.folded:
        open_, close = f"\n<details><summary>{section.title}</summary>\n\n", "\n\n</details>\n"
    elif section.title:
        open_ = f"\n### {section.title}\n\n"
    space -= len(open_) + len(close)
    kept: list[str] = []
    for line in section.lines:
        space -= len(line) + 1
        if space < 0:
            break
        kept.append(line)
    cut = len(kept) < len(section.lines)
    return (open_ + "\n".join(kept) + close if kept else ""), cut
