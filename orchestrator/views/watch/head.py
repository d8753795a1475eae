"""The top of the screen, the band of things that need a person, the tasks as a list, the chosen one."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import PurePath

from rich.cells import cell_len, set_cell_size

from orchestrator.views.models.history import RunFacts
from orchestrator.views.models.spend import money
from orchestrator.views.models.summary import Group, Overview, RunState, RunSummary, TaskRow, activity
from orchestrator.views.screen import cell
from orchestrator.views.watch.text import ScreenLine, Span, line
from orchestrator.views.words import clock, short
from state.journal.phase import Phase, phase_of

_BAR = 8
_NEEDS_SHOWN = 2
_PHASES = {
    Phase.BASELINE: "baseline",
    Phase.ANALYZE: "analyzing",
    Phase.QUESTIONS: "waiting for answers",
    Phase.APPROVAL: "waiting for approval",
    Phase.PLAN: "planning",
    Phase.TASKS: "building",
    Phase.FINAL_REVIEW: "final review",
    Phase.BRING_HOME: "finishing",
    Phase.END: "finishing",
}

SIGNS = {
    Group.NEEDS_YOU: ("?", "need"),
    Group.ENDED_BADLY: ("✗", "bad"),
    Group.WORKING: ("●", "work"),
    Group.WAITING: ("○", "wait"),
    Group.MERGED: ("✓", "good"),
}
_WORD = 9  # columns of a task's stage
_NAME, _SHORTEST_NAME = 14, 6


def state_of(row: TaskRow | None, shown: Overview) -> ScreenLine:
    """Return the state of the chosen task in a line, or that of the run as a whole."""
    if row is None:
        yours = f"{shown.yours} by you, " if shown.yours else ""
        answered = f"{shown.answered} answered, {yours}{shown.parked} parked"
        return line(
            (f" {shown.summary.doing or shown.summary.state} · questions: {answered}", "dim"), indent=-1
        )
    sign, style = SIGNS[row.group]
    tried = f" · try {row.attempt}, iteration {row.iteration}" if row.attempt else ""
    time = "" if row.seconds is None else f" · {clock(row.seconds)}"
    return line((f" {sign} {row.word}", style), (f"{tried}{time} · {row.now}", "dim"), indent=-1)


def headline(story: RunFacts, shown: Overview, width: int, *, replayed: str = "") -> ScreenLine:
    """Return the line at the top: spec, run, phase, time, cost and tasks. If it is too long, in short.

    `replayed`: the place in the journal, if an earlier moment is shown.
    """
    whole = _headline(story, shown, replayed, narrow=False)
    fits = cell_len(cell(whole.plain)) <= width
    return whole if fits else _headline(story, shown, replayed, narrow=True)


def _headline(story: RunFacts, shown: Overview, replayed: str, *, narrow: bool) -> ScreenLine:
    summary = shown.summary
    run_id = summary.run_id.rpartition("-")[2] if narrow else summary.run_id
    state, style = state_word(story, summary)
    merged = f"{summary.tasks_merged}/{summary.tasks_total} merged" if summary.tasks_total else ""
    cost = shown.spending.in_words.partition(", rehearsed")[0]
    cost = cost.partition(" (")[0] if narrow else cost
    parts: list[Span] = [
        (short(PurePath(summary.spec_name).name, 24), "title"),
        (run_id, ""),
        *([(replayed, "warn")] if replayed else []),
        (state, style),
        (clock(summary.seconds), ""),
        (f"{_bar(shown)} {cost}", ""),
        ("" if shown.spending.charged else "rehearsed", "warn"),
        (merged, ""),
        (f"#{summary.pull_request.rpartition('/')[2]}" if summary.pull_request else "", ""),
    ]
    spans: list[Span] = [("sq", "title")]
    for text, of in parts:
        if text:
            spans += [(" · ", "dim"), (text, of)]
    return ScreenLine(tuple(spans), indent=-1)


def state_word(story: RunFacts, summary: RunSummary) -> tuple[str, str]:
    """Return the state of a run in a word or two, and the style for it."""
    match summary.state:
        case RunState.ENDED:
            good = bool(summary.outcome and summary.outcome.exit_code == 0)
            return f"{'✓' if good else '✗'} {summary.outcome}", "good" if good else "bad"
        case RunState.ACTIVE:
            return f"● {_PHASES[phase_of(story.view)]}", "work"
        case _:
            return f"✗ {summary.state}", "bad"


def _bar(shown: Overview) -> str:
    """Return the spent part of the budget as a bar, or nothing without a budget."""
    budget = shown.spending.budget_usd
    if not budget:
        return ""
    full = min(_BAR, round(_BAR * shown.spending.cost_usd / budget))
    return "▇" * full + "▁" * (_BAR - full)


def band(shown: Overview, problems: Sequence[str]) -> list[ScreenLine]:
    """Return the lines that need a person: problems of the display, then of the run."""
    lines = [line(("✗ ", "bad"), (one, "bad"), indent=2) for one in problems]
    needs = shown.needs
    for need in needs[:_NEEDS_SHOWN]:
        task = f"{need.task_id}: " if need.task_id else ""
        lines.append(
            line(("NEEDS YOU ", "need"), (f"{task}{need.what}: ", ""), (need.text, "agent"), indent=-1)
        )
    if len(needs) > _NEEDS_SHOWN:
        lines.append(line((f"… and {len(needs) - _NEEDS_SHOWN} more", "need"), ("  d decisions", "dim")))
    return lines


def ends_with(summary: RunSummary) -> str:
    """Return why no process works on a run that has not ended, with the command that goes on, or ""."""
    if summary.state not in {RunState.KILLED, RunState.INTERRUPTED}:
        return ""
    how = (
        "was stopped"
        if summary.state is RunState.INTERRUPTED
        else "has not ended, and no process works on it"
    )
    return f"the run {how}: {summary.next_command}"


@dataclass(frozen=True, slots=True)
class TaskLine:
    """A line of the list of tasks. `task_id` is None for a heading, and "" for the run as a whole."""

    task_id: str | None
    line: ScreenLine


def task_list(
    story: RunFacts, rows: Sequence[TaskRow], *, width: int, height: int, active: bool
) -> list[TaskLine]:
    """Return the list of tasks: the run as a whole, then its tasks in groups. Headings only if they fit.

    Args:
        rows: its tasks, in the order of their groups.
        width: of the list, in columns.
        height: of the list, in rows.
        active: whether a process works on the run.
    """
    groups = [(group, list(each)) for group, each in groupby(rows, key=lambda row: row.group)]
    headed = len(rows) + len(groups) + 1 <= height
    doing = activity(story.view) if active and phase_of(story.view) is not Phase.TASKS else ""
    whole = line(("· ", "dim"), ("the run", ""), (f"  {doing}", "dim"), indent=-1)
    lines = [TaskLine("", whole)]
    name = max([_SHORTEST_NAME, *(min(_NAME, cell_len(cell(row.id))) for row in rows)])
    for group, each in groups:
        if headed:
            lines.append(TaskLine(None, line((f"{group} {len(each)}", "dim"), indent=-1)))
        lines += [TaskLine(row.id, _task(row, width, name)) for row in each]
    return lines


def _task(row: TaskRow, width: int, name: int) -> ScreenLine:
    sign, style = SIGNS[row.group]
    end = (
        money(row.cost_usd)
        if row.group is Group.MERGED
        else ""
        if row.seconds is None
        else clock(row.seconds)
    )
    left: list[Span] = [
        (f"{sign} ", style),
        (f"{row.word:<{_WORD}} ", style),
        (set_cell_size(cell(row.id), name) + " ", ""),
    ]
    room = width - sum(cell_len(text) for text, _ in left) - len(end) - 1
    now = (f"{row.attempt} tries" if row.attempt > 1 else "1 try") if row.group is Group.MERGED else row.now
    middle = cell(now)
    if room > 0 and cell_len(middle) > room:
        middle = set_cell_size(middle, room - 1).rstrip() + "…"
    return line(*left, (set_cell_size(middle, max(0, room)), "dim"), (f" {end}", ""), indent=-1)
