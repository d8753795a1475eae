"""The report as sections of Markdown, from which the formats in Markdown are put together.

Words of agents are always in code spans, so that no name, number, address or sign acts.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from orchestrator.views.html.amounts import moment, money, number, signed
from orchestrator.views.models.criteria import CommandFacts, CriterionRow, Point, counted
from orchestrator.views.models.decisions import Decision
from orchestrator.views.models.work import TaskPart, WorkChanges
from orchestrator.views.objections import Urgency
from orchestrator.views.report.contents import DEPENDENCY, ReportContents
from orchestrator.views.screen import BREAK
from orchestrator.views.words import duration, percent
from state.hidden import visible
from state.journal.view import SPEC

MARKS = {
    "examined": "✅",
    "tested": "✅",
    "computed": "✅",
    "claimed": "🟡",
    "not met": "❌",
    "not checked": "❔",
    "under way": "🔵",
    "not begun": "⚪",
}
_HEADS = {"good": "✅", "warn": "⚠️", "bad": "❌", "calm": "🔵"}
_HOLDS = {True: "✓", False: "✗", None: "?"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One section: its lines of Markdown. `folded`: details for which a reader may have no time."""

    title: str
    lines: tuple[str, ...]
    folded: bool = False


def sections(report: ReportContents) -> list[Section]:
    """Return the sections of a report, the most important first. The first has no title."""
    own = tuple(_decisions(one for one in report.decisions if one.is_yours))
    return [
        Section(title="", lines=tuple(_head(report))),
        *(
            [Section(title="sq asks for changes", lines=tuple(_protected(report)))]
            if report.protected
            else []
        ),
        Section(title="What the spec asks", lines=tuple(criteria_shown(report))),
        Section(title=f"Look here yourself ({len(report.attention)})", lines=tuple(_points(report))),
        Section(
            title="Decided without you",
            lines=tuple(_decisions(one for one in report.decisions if not one.is_yours))
            or ("No question was decided without you in this run.",),
        ),
        *([Section(title="Decided by you", lines=own)] if own else []),
        *(
            [Section(title="Questions about the spec", lines=tuple(_questions(report)), folded=True)]
            if report.spec.is_checked
            else []
        ),
        Section(title="What sq ran on the merged work", lines=tuple(_commands(report))),
        *([Section(title="New dependencies", lines=added)] if (added := _dependencies(report)) else []),
        Section(title="Findings of the reviews", lines=tuple(_findings(report)), folded=True),
        Section(title="What was not checked, and why", lines=tuple(_gaps(report)), folded=True),
        Section(title="Tasks", lines=tuple(_tasks(report)), folded=True),
        Section(title="Cost", lines=tuple(_cost(report)), folded=True),
        Section(title="How it was made", lines=tuple(_made(report)), folded=True),
    ]


def _head(report: ReportContents) -> Iterator[str]:
    head = report.headline
    if head.rehearsal:
        yield "> **Rehearsal: a script played the model.** The judgement of agents was not real."
        yield ""
    exit_code = "no exit code yet" if head.exit_code is None else f"exit code {head.exit_code}"
    yield f"{_HEADS[head.tone]} **{head.word}** ({exit_code}): {head.sentence}"
    yield ""
    if head.why:
        yield f"In detail: {code(head.why)}"
        yield ""
    counts = ", ".join(f"{count} {state}" for state, count in counted(report.criteria).items())
    yield f"- **Asked:** {len(report.criteria)} criteria: {counts}" if counts else "- **Asked:** no criteria"
    commits = report.commits
    if commits.commit:
        ends = f"`{commits.base[:10]}` → `{commits.commit[:10]}`"
        yield f"- **Work:** {ends}{_size(report)}. Place: {code(commits.place)}"
    else:
        yield "- **Work:** none is finished"
    yield f"- **Cost:** {_spent(report)}, **time:** {duration(report.times.seconds)}"
    if report.check.command:
        yield f"- **Check it yourself:** {code(report.check.command)}"
    if report.check.note:
        yield f"- {report.check.note}"
    if report.check.named_by_agents:
        yield f"- only an agent named these, read them first: {codes(report.check.named_by_agents)}"


def _size(report: ReportContents) -> str:
    commits = report.commits
    if commits.files is None:
        return ""
    return f", +{number(commits.added)} −{number(commits.removed)} in {commits.files} file(s)"  # noqa: RUF001


def _spent(report: ReportContents) -> str:
    spent = report.spending
    budget = f" of {money(spent.budget_usd)}" if spent.budget_usd else ""
    charged = "" if spent.charged else " at list prices, nothing was charged"
    return f"{money(spent.cost_usd)}{'+' if spent.at_least else ''}{budget}{charged}"


def _protected(report: ReportContents) -> Iterator[str]:
    yield "The work changes files that act later or instruct agents. A person has to look at them first."
    yield ""
    yield from (f"- {code(what)}" for what in report.protected)


def _dependencies(report: ReportContents) -> tuple[str, ...]:
    return tuple(f"- {code(fact.value)}" for fact in report.made if fact.name == DEPENDENCY)


def criteria_shown(report: ReportContents) -> Iterator[str]:
    """Yield each criterion with its commits and its evidence."""
    if not report.criteria:
        yield "The plan names no criteria."
    commits = {part.id: [one.commit for one in part.work if one.merged] for part in report.tasks}
    for row in report.criteria:
        yield from _criterion(row, commits)


def _criterion(row: CriterionRow, commits: Mapping[str, Sequence[str]]) -> Iterator[str]:
    place = f" ({code(row.place)})" if row.place else " (not found in the spec)"
    yield f"- {MARKS[row.state]} **{row.state}** {row.id} {code(row.text)}{place}"
    if row.tasks:
        made = [f"`{commit[:10]}`" for id_ in row.tasks for commit in commits.get(id_, ())]
        yield f"  - task: {codes(row.tasks)}" + (f", commit: {', '.join(made)}" if made else "")
    for one in row.evidence:
        why = f": {code(one.why)}" if one.why else ""
        proof = " **(this shows it)**" if one == row.proof else ""
        yield f"  - {_HOLDS[one.holds]} {one.kind} {code(one.ref)}{proof}{why}"
    if row.note:
        yield f"  - {code(row.note)}"
    if row.words:
        yield from said("the Reviewer", row.words, "  ")


def _points(report: ReportContents) -> Iterator[str]:
    if not report.attention:
        yield "sq knows of nothing."
    yield from map(_point, report.attention)


def _point(point: Point) -> str:
    sign = {Urgency.DECIDE: "❗", Urgency.UNPROVEN: "❔", Urgency.KNOW: "▫️"}[point.urgency]
    words = f": {code(point.words)}" if point.words else ""
    source = f" (event {point.seq})" if point.seq else ""
    return f"- {sign} {code(point.what)}{words}{source}"


def _decisions(decisions: Iterable[Decision]) -> Iterator[str]:
    for one in decisions:
        options = (
            f" (options: {codes(option.label for option in one.question.options)})"
            if one.question.options
            else ""
        )
        who = "before the work, about the spec:" if one.task_id == SPEC else f"{code(one.task_id)} asked"
        yield f"- {who} {code(one.question.text)}{options}"
        if one.answer is None:
            yield f"  - not answered: {code(one.problem)}"
            continue
        verb = "**parked for you**, the Developer would have said" if one.parked else "answer"
        undo = "easy to undo" if one.answer.reversible else "**not easy to undo**"
        yield f"  - {verb}: {code(one.answer.marked)}"
        if not one.is_yours:
            yield f"  - basis: {one.answer.basis}, confidence {one.answer.confidence}, {undo}"
        if one.answer.reason:
            yield f"  - why: {code(one.answer.reason)}"
        if one.answer.evidence:
            yield f"  - it quotes {code(one.answer.evidence)}"
        if one.rejected:
            yield "  - the Worker did not accept this answer"


def _questions(report: ReportContents) -> Iterator[str]:
    if not report.spec.questions:
        yield "The spec was read for faults before it was planned, and none was found."
    for one in report.spec.questions:
        found = one.finding
        yield f"- {found.kind}, {found.place}: {code(found.question)}"
        yield f"  - why: {code(found.why)}"
        yield f"  - options: {codes(found.options)}"
        yield f"  - {code(one.answer)}, decided by {one.by}" if one.by else "  - open"


def _commands(report: ReportContents) -> Iterator[str]:
    if not report.commands:
        yield "Nothing was run on merged work."
    yield from map(_command, report.commands)


def _command(one: CommandFacts) -> str:
    mark = "✅ passed" if one.passed else "❌ failed"
    if one.passed_tests is None and one.failed is None:
        return f"- {mark} {code(one.command)}: number of tests unknown"
    tests = f"{number(one.passed_tests)} passed, {number(one.failed)} failed, {number(one.skipped)} skipped"
    change = f"tests {signed(one.more_tests)}, skipped {signed(one.more_skipped)} since the base"
    return f"- {mark} {code(one.command)}: {tests}, {change}"


def _findings(report: ReportContents) -> Iterator[str]:
    if not (report.findings or report.spec.found_before):
        yield "No review found anything."
    for one in report.spec.found_before:
        yield f"- **before the work** {code(one)}"
    for row in report.findings:
        issue = row.finding.issue
        yield f"- **{row.finding.state}** {code(issue.location)} ({issue.type}): {code(issue.description)}"
        if row.finding.note:
            yield f"  - note: {code(row.finding.note)}"


def _gaps(report: ReportContents) -> Iterator[str]:
    gaps = [point for point in report.attention if point.urgency is Urgency.UNPROVEN]
    if not gaps:
        yield "No check of sq was left without an answer."
    yield from map(_point, gaps)


def _tasks(report: ReportContents) -> Iterator[str]:
    if not report.tasks:
        yield "There is no accepted plan."
    for part in report.tasks:
        yield from _task(part)


def _task(part: TaskPart) -> Iterator[str]:
    cost = f"{len(part.attempts)} attempt(s), {money(part.cost_usd)}"
    yield f"- **{part.stage}** {code(part.id)} {code(part.title)}: {cost}"
    for reason in part.why:
        yield f"  - {code(reason.text)}"
    for attempt in part.attempts:
        if attempt.ended:
            yield f"  - attempt {attempt.number} ended: {code(attempt.ended)}"
    yield from (line for work in part.work for line in _work(work))


def _work(work: WorkChanges) -> Iterator[str]:
    kind = "merged" if work.merged else "not merged"
    problem = f" ({code(work.problem)})" if work.problem else ""
    yield f"  - {kind}: `git diff {work.base[:12]} {work.commit[:12]}`{problem}"
    for file in work.files:
        change = file.change
        size = "binary" if change.added is None else f"+{change.added} −{change.removed}"  # noqa: RUF001
        yield f"    - {code(change.path)} {change.kind}, {size}"


def _cost(report: ReportContents) -> Iterator[str]:
    yield "| task | role | model | calls | input | from cache | output | cost |"
    yield "|---|---|---|--:|--:|--:|--:|--:|"
    for row in report.spending.rows:
        usage = row.usage
        cells = (
            code(row.task_id) if row.task_id else "the whole",
            row.role,
            code(row.model.replace("|", "/")),
            number(row.calls),
            number(usage.prompt_tokens),
            percent(usage.cache_read_share),
            number(usage.output_tokens),
            money(row.cost_usd) + ("+" if row.at_least else ""),
        )
        yield f"| {' | '.join(cells)} |"
    yield ""
    yield f"Together {_spent(report)}."
    yield from (f"\n{line[0].upper()}{line[1:]}." for line in report.spending.outlook)
    if report.timeline.parts:
        yield ""
        yield "| time | of the run's | side by side added up |"
        yield "|---|--:|--:|"
    for part in report.timeline.parts:
        yield f"| {part.use} | {duration(part.seconds)} | {duration(part.added_up_s)} |"


def _made(report: ReportContents) -> Iterator[str]:
    if report.times.began_at:
        yield f"- began {moment(report.times.began_at)}, {report.times.processes} process(es)"
    yield f"- spec {code(report.spec.name)}, sha256 `{report.spec.sha256}`"
    for fact in report.made:
        yield f"- {fact.name}: {code(fact.value)}"


_TICKS = re.compile(r"`+")
_MARK = "sq:run="  # by which the pull request of a run is found
_NOTHING = "(nothing)"


def code(text: str) -> str:
    """Return a text as one code span. Its fence is longer than any run of backticks in it."""
    shown = visible(text).replace(_MARK, f"{_MARK[:-1]} =")
    if not shown.strip():
        return _NOTHING if not shown else f"`{shown.replace(' ', chr(0xB7))}`"
    fence = "`" * (1 + max((len(run) for run in _TICKS.findall(shown)), default=0))
    edge = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{edge}{shown}{edge}{fence}"


def said(who: str, text: str, indent: str = "") -> list[str]:
    """Return words of an agent as a quote, each of its lines a code span."""
    parts = [line for line in BREAK.split(text) if line.strip()]
    lines = [f"{who} says:", *(code(line) for line in parts)]
    return [f"{indent}> {line}{_end(number, lines)}" for number, line in enumerate(lines)]


def _end(number: int, lines: list[str]) -> str:
    return "" if number == len(lines) - 1 else "<br>"


def codes(texts: Iterable[str]) -> str:
    """Return texts as code spans with commas between them."""
    return ", ".join(code(text) for text in texts)
