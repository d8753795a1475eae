"""The tasks of a run as lines of a list."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from rich.cells import cell_len, set_cell_size

from orchestrator.views.models.history import RunFacts
from orchestrator.views.models.spend import money
from orchestrator.views.models.summary import Group, TaskRow, activity
from orchestrator.views.screen import cell
from orchestrator.views.watch.text import ScreenLine, Span, line
from orchestrator.views.words import clock
from state.journal.phase import Phase, phase_of

SIGNS = {
    Group.NEEDS_YOU: ("?", "need"),
    Group.ENDED_BADLY: ("✗", "bad"),
    Group.WORKING: ("●", "work"),
    Group.WAITING: ("○", "wait"),
    Group.MERGED: ("✓", "good"),
}
_WORD = 9  # columns of a task's stage
_NAME, _SHORTEST_NAME = 14, 6


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
        story: the run.
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
        (f"{word_of(row):<{_WORD}} ", style),
        (set_cell_size(cell(row.id), name) + " ", ""),
    ]
    room = width - sum(cell_len(text) for text, _ in left) - len(end) - 1
    now = _tries(row) if row.group is Group.MERGED else row.now
    middle = cell(now)
    if room > 0 and cell_len(middle) > room:
        middle = set_cell_size(middle, room - 1).rstrip() + "…"
    return line(*left, (set_cell_size(middle, max(0, room)), "dim"), (f" {end}", ""), indent=-1)


def word_of(row: TaskRow) -> str:
    """Return the word for a task's state."""
    return "needs you" if row.group is Group.NEEDS_YOU else str(row.stage)


def _tries(row: TaskRow) -> str:
    return f"{row.attempt} tries" if row.attempt > 1 else "1 try"
