"""The report as Markdown, as the body of a pull request, as a CI's job summary, and two runs side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from orchestrator.views.html.amounts import money, number
from orchestrator.views.models.criteria import counted
from orchestrator.views.report.contents import ReportContents
from orchestrator.views.report.sections import Section, code, criteria_shown, sections
from orchestrator.views.words import duration
from state.records.reviews import FindingState
from state.words import question_key

NONE = "–"  # noqa: RUF001  there is nothing on this side


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One thing in both runs. `before` and `now` are a dash where a run does not have it."""

    name: str
    before: str
    now: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A run beside an earlier one. `criteria` are known by their words, `commands` by their text."""

    run_id: str
    earlier: str
    figures: tuple[Pair, ...]
    criteria: tuple[Pair, ...]
    commands: tuple[Pair, ...]


def compared(report: ReportContents, earlier: ReportContents) -> Comparison:
    """Return both runs side by side."""
    return Comparison(
        run_id=report.run_id,
        earlier=earlier.run_id,
        figures=tuple(
            Pair(name=name, before=before, now=now)
            for (name, before), (_, now) in zip(_figures(earlier), _figures(report), strict=True)
        ),
        criteria=_pairs(_criteria(earlier), _criteria(report)),
        commands=_pairs(_commands(earlier), _commands(report)),
    )


def _figures(report: ReportContents) -> Iterator[tuple[str, str]]:
    head, merged = report.headline, sum(part.stage == "merged" for part in report.tasks)
    counts = ", ".join(f"{count} {state}" for state, count in counted(report.criteria).items())
    states = [row.finding.state for row in report.findings]
    yield "outcome", head.word + ("" if head.exit_code is None else f" (exit code {head.exit_code})")
    yield "criteria", counts or NONE
    yield "tasks merged", f"{merged} of {len(report.tasks)}"
    yield "things to look at", number(len(report.attention))
    yield "decisions", number(len(report.decisions))
    yield "open findings", number(states.count(FindingState.OPEN))
    yield "cost", money(report.spending.cost_usd) + ("+" if report.spending.at_least else "")
    yield "time", duration(report.times.seconds)
    yield "finished commit", report.commits.commit[:10] or NONE
    yield "spec (sha256)", report.spec.sha256[:12] or NONE


def _criteria(report: ReportContents) -> dict[str, tuple[str, str]]:
    return {question_key(row.text): (row.text, str(row.state)) for row in report.criteria}


def _commands(report: ReportContents) -> dict[str, tuple[str, str]]:
    found = {}
    for one in report.commands:
        tests = "tests unknown" if one.passed_tests is None else f"{number(one.passed_tests)} tests"
        found[one.command] = (one.command, f"{'passed' if one.passed else 'failed'}, {tests}")
    return found


def _pairs(before: dict[str, tuple[str, str]], now: dict[str, tuple[str, str]]) -> tuple[Pair, ...]:
    none = ("", NONE)
    return tuple(
        Pair(
            name=(now.get(key) or before[key])[0], before=before.get(key, none)[1], now=now.get(key, none)[1]
        )
        for key in dict.fromkeys([*now, *before])
    )


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


MOST_CHARACTERS = 60_000  # GitHub takes 65,536
_LAST = 400  # characters kept for the lines at the end
_CUT = "_More does not fit here: `sq report {} --format md` has all._"


def pull_request(
    report: ReportContents, earlier: Sequence[ReportContents] = (), *, closes: bool = False
) -> str:
    """Return the body. Its first line is a mark by which the pull request of this run is found again.

    Args:
        report: of the run, or of the newest round of the review.
        earlier: of the first run and of the rounds before, if there are any.
        closes: merging it closes the issue that the spec came from. Else it is only named.
    """
    draft = "yes" if report.headline.draft else "no"
    body = f"<!-- sq:run={report.spec.follows or report.run_id} -->\n<!-- sq:draft={draft} -->\n"
    if report.spec.issue:
        body += f"\n{'Closes' if closes else 'For'} {report.spec.issue}\n"
    cut = False
    for section in _for_reviewers(report, earlier):
        space = MOST_CHARACTERS - _LAST - len(body)
        shown, left_out = _within(section, space)
        body += shown
        cut = cut or left_out
    end = f"\n{_CUT.format(report.run_id)}\n" if cut else ""
    made = f"Made by sq from the journal of run {report.run_id}. Words that may be an agent's are in `code`."
    return f"{body}{end}\n<sub>{made}</sub>\n"


def _placed(report: ReportContents) -> ReportContents:
    """Return a report whose criteria have no lines of a text that sq made of an issue or a review."""
    if not (report.spec.issue or report.spec.follows):
        return report
    rows = (replace(row, place=row.place.rpartition(":")[0]) for row in report.criteria)
    return replace(report, criteria=tuple(rows))


def _for_reviewers(report: ReportContents, earlier: Sequence[ReportContents]) -> list[Section]:
    """Return the sections for a reader who has neither the machine nor the journal of the run.

    The work of all runs is one, and so are the decisions that were made in them.
    """
    *earlier, report = runs = [_placed(run) for run in (*earlier, report)]
    commits = replace(report.commits, base=runs[0].commits.base, place="the branch of this pull request")
    if earlier:
        commits = replace(commits, files=None)  # the size is that of the round
    fetch = f"git fetch origin sq/{report.spec.follows or report.run_id} && "
    command = report.check.command and fetch + report.check.command
    spending = replace(
        report.spending,
        rows=tuple(row for run in runs for row in run.spending.rows),
        cost_usd=sum(run.spending.cost_usd for run in runs),
        budget_usd=None if earlier else report.spending.budget_usd,
    )
    attention = {point.what: replace(point, seq=0) for run in runs for point in run.attention}
    shown = replace(
        report,
        commits=commits,
        check=replace(report.check, command=command),
        spending=spending,
        times=replace(report.times, seconds=sum(run.times.seconds for run in runs)),
        attention=tuple(attention.values()),
        decisions=tuple(one for run in runs for one in run.decisions),
        findings=tuple(one for run in runs for one in run.findings),
        spec=replace(report.spec, found_before=tuple(one for run in runs for one in run.spec.found_before)),
        tasks=tuple(one for run in runs for one in run.tasks),
        made=tuple(fact for fact in report.made if not fact.is_setting),
    )
    first, *rest = sections(shown)
    asked = [
        replace(one, title=f"What round {len(earlier)} of the review asks") for one in rest[:1] if earlier
    ]
    before = [
        Section(
            title=f"What round {number} of the review asked" if number else "What the spec asks",
            lines=(
                f"As run {run.run_id} ended. The commands ran again on all of the work.",
                "",
                *criteria_shown(run),
            ),
        )
        for number, run in enumerate(earlier)
    ]
    return [first, *before, *asked, *(rest[1:] if earlier else rest)]


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
