"""The line at the top of the screen, the band of things that need a person, the state of the chosen task."""

from collections.abc import Sequence
from pathlib import PurePath

from rich.cells import cell_len

from orchestrator.views.models.history import RunFacts
from orchestrator.views.models.summary import Overview, RunState, RunSummary, TaskRow
from orchestrator.views.screen import cell
from orchestrator.views.watch.rows import SIGNS, word_of
from orchestrator.views.watch.text import ScreenLine, Span, line
from orchestrator.views.words import clock, short
from state.journal.phase import Phase, phase_of

_BAR = 8
_NEEDS_SHOWN = 2
_PHASES = {
    Phase.BASELINE: "baseline",
    Phase.ANALYZE: "analyzing",
    Phase.PLAN: "planning",
    Phase.TASKS: "building",
    Phase.FINAL_REVIEW: "final review",
    Phase.BRING_HOME: "finishing",
    Phase.END: "finishing",
}


def state_of(row: TaskRow | None, shown: Overview) -> ScreenLine:
    """Return the state of the chosen task in a line, or that of the run as a whole."""
    if row is None:
        answered = f"{shown.answered} answered, {shown.parked} parked"
        return line(
            (f" {shown.summary.doing or shown.summary.standing} · questions: {answered}", "dim"), indent=-1
        )
    sign, style = SIGNS[row.group]
    tried = f" · try {row.attempt}, iteration {row.iteration}" if row.attempt else ""
    time = "" if row.seconds is None else f" · {clock(row.seconds)}"
    return line((f" {sign} {word_of(row)}", style), (f"{tried}{time} · {row.now}", "dim"), indent=-1)


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
    ]
    spans: list[Span] = [("sq", "title")]
    for text, of in parts:
        if text:
            spans += [(" · ", "dim"), (text, of)]
    return ScreenLine(tuple(spans), indent=-1)


def state_word(story: RunFacts, summary: RunSummary) -> tuple[str, str]:
    """Return the state of a run in a word or two, and the style for it."""
    match summary.standing:
        case RunState.ENDED:
            good = bool(summary.outcome and summary.outcome.exit_code == 0)
            return f"{'✓' if good else '✗'} {summary.outcome}", "good" if good else "bad"
        case RunState.ACTIVE:
            return f"● {_PHASES[phase_of(story.view)]}", "work"
        case _:
            return f"✗ {summary.standing}", "bad"


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
    if summary.standing not in {RunState.KILLED, RunState.INTERRUPTED}:
        return ""
    how = (
        "was stopped"
        if summary.standing is RunState.INTERRUPTED
        else "has not ended, and no process works on it"
    )
    return f"the run {how}: {summary.next_command}"
