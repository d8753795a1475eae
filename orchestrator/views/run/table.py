"""The tasks of a run as a table for a terminal of any size: where each is, its action now, cost and time."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from orchestrator.views.models.history import RunFacts
from orchestrator.views.models.spend import money, spending
from orchestrator.views.models.summary import Group, TaskRow, held_up
from orchestrator.views.models.tasks import parked_questions, task_rows
from orchestrator.views.screen import cell
from orchestrator.views.words import clock
from state.journal.view import RunView

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

_WORTH_TELLING = timedelta(seconds=5)  # shorter silence is not shown
_STYLES = {
    Group.NEEDS_YOU: "bold magenta",
    Group.ENDED_BADLY: "red",
    Group.WORKING: "cyan",
    Group.WAITING: "dim",
    Group.MERGED: "green",
}
_KEPT_FIRST = (Group.NEEDS_YOU, Group.WORKING, Group.ENDED_BADLY, Group.WAITING)
_LONGEST_NAME, _SHORTEST_NAME = 24, 8  # of a task, in columns of the terminal
_WHERE = 9
_NARROW, _MIDDLE = 56, 72  # below these widths, columns are left out
_BELOW = 3  # lines: two of text, and one that counts the tasks left out
_BESIDE = 2  # lines: the header, and the cursor's


def task_table(
    story: RunFacts, now: datetime, *, width: int = 80, height: int = 24, follow: Sequence[str] = ()
) -> "RenderableType":
    """Return the tasks of a run with at most two lines below them, for a terminal of this size.

    Args:
        story: the run.
        now: this moment.
        width: of the terminal, in columns.
        height: of the terminal, in lines. Tasks for which there is no line are counted in one.
        follow: commands that show more of the run.
    """
    from rich.console import Group as Together
    from rich.text import Text

    rows = task_rows(story, now)
    shown, left_out = _fitting(rows, height - _BELOW - _BESIDE)
    lines = [*([left_out] if left_out else []), *_below(story, now, width, follow)]
    below = [Text(cell(line), no_wrap=True, overflow="ellipsis") for line in lines]
    return Together(_table(shown, width), *below)


def times(view: RunView, now: datetime) -> str:
    """How long the run has taken, and, while it goes on, how long ago its last event was."""
    if view.clock.started_at is None or view.clock.last_at is None:
        return ""
    until = view.clock.last_at if view.ended else now
    took = f"{clock((until - view.clock.started_at).total_seconds())} since the start"
    quiet = now - view.clock.last_at
    if view.ended or quiet < _WORTH_TELLING:
        return took
    return f"{took}, last sign {clock(quiet.total_seconds())} ago"


def _fitting(rows: Sequence[TaskRow], lines: int) -> tuple[list[TaskRow], str]:
    """Return the rows for which there are lines, and a line that counts the others."""
    if len(rows) <= lines + 1:
        return list(rows), ""
    by_importance = sorted(
        (row for row in rows if row.group in _KEPT_FIRST), key=lambda row: _KEPT_FIRST.index(row.group)
    )
    kept = {row.id for row in by_importance[: max(1, lines)]}
    left_out = Counter(row.group for row in rows if row.id not in kept)
    counted = ", ".join(f"{left_out[group]} {group}" for group in Group if left_out[group])
    return [row for row in rows if row.id in kept], f"not shown: {counted}"


def _table(rows: Sequence[TaskRow], width: int) -> "Table":
    from rich.table import Table
    from rich.text import Text

    longest = max((_columns_of(row.id) for row in rows), default=_SHORTEST_NAME)
    name = max(_SHORTEST_NAME, min(longest, _LONGEST_NAME, width // 4))
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, expand=True, width=width)
    table.add_column("task", width=name, no_wrap=True)
    table.add_column("where", width=_WHERE, no_wrap=True)
    table.add_column("now", ratio=1, no_wrap=True)
    numbers = _numbers(width)
    for title in numbers:
        table.add_column(title, justify="right", no_wrap=True)
    for row in rows:
        where = "needs you" if row.group is Group.NEEDS_YOU else str(row.stage)
        table.add_row(
            Text(cell(row.id), overflow="ellipsis"),
            Text(where, style=_STYLES[row.group]),
            Text(cell(row.now), overflow="ellipsis"),
            *(_number(title, row) for title in numbers),
        )
    return table


def _columns_of(text: str) -> int:
    from rich.cells import cell_len

    return cell_len(cell(text))


def _numbers(width: int) -> tuple[str, ...]:
    if width < _NARROW:
        return ("for",)
    return ("cost", "for") if width < _MIDDLE else ("try", "it", "cost", "for")


def _number(title: str, row: TaskRow) -> str:
    """Return a number of a task. A dash stands for a task that has not begun."""
    if row.seconds is None:
        return "—"
    match title:
        case "try":
            return str(row.attempt)
        case "it":
            return str(row.iteration)
        case "cost":
            return money(row.cost_usd)
        case _:
            return clock(row.seconds)


def _below(story: RunFacts, now: datetime, width: int, follow: Sequence[str]) -> list[str]:
    """Return the time, the cost, the questions and the commands, as far as two lines hold them."""
    lines = [""]
    time = times(story.view, now)
    if width < _NARROW:
        time = time.partition(",")[0]
    parts = (held_up(story.view, now), time, spending(story.view).in_words, _questions(story.view), *follow)
    for part in filter(None, parts):
        longer = f"{lines[-1]} · {part}" if lines[-1] else part
        if _columns_of(longer) <= width:
            lines[-1] = longer
        elif len(lines) == 1:
            lines.append(part)
    return lines


def _questions(view: RunView) -> str:
    answered = sum(len(ask.answered.answers) for ask in view.asks.values() if ask.answered)
    parked = sum(1 for _ in parked_questions(view))
    counted = [f"{answered} answered"] if answered else []
    return ", ".join([*counted, f"{parked} parked"] if parked else counted)
