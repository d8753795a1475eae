"""Shows a run while it goes on: as JSON Lines, as plain lines, or with a live table of its tasks below them.

After a time without events a line names the calls and commands that the run waits for.
"""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Protocol, Self

import anyio
import msgspec

from agents.concurrency import task_group
from orchestrator.views.models.history import RunFacts
from orchestrator.views.models.running import waited_for
from orchestrator.views.models.spend import money, spending, spending_of
from orchestrator.views.models.summary import Group, TaskRow, activity, held_up, waits_for_person
from orchestrator.views.models.tasks import parked_questions, task_rows
from orchestrator.views.run.look import Detail, Look, LookMode
from orchestrator.views.run.story import RunStory, lines_of, log_lines
from orchestrator.views.screen import cell, say, say_all, say_json, shown
from orchestrator.views.words import clock, duration, retry_cause, subject_of, time_of_day, tool_call
from state.journal.events import RunEnded, RunInterrupted, Stored
from state.journal.events.calls import CallView
from state.journal.fold.fold import apply
from state.journal.view import RunView
from state.records.calls import MessageKind
from state.roles import Role

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
        now: this moment.
        width: of the terminal, in columns.
        height: of the terminal, in lines. Tasks for which there is no line are counted in one.
        follow: commands that show more of the run.
    """
    from rich.console import Group as Together
    from rich.text import Text

    over = story.view.ended is not None or bool(story.view.process.interrupted_by)
    rows = task_rows(story, now, active=not over)
    shown, left_out = _fitting(rows, height - _BELOW - _BESIDE)
    lines = [*([left_out] if left_out else []), *_below_table(story, now, width, follow)]
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
        table.add_row(
            Text(cell(row.id), overflow="ellipsis"),
            Text(row.word, style=_STYLES[row.group]),
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


def _below_table(story: RunFacts, now: datetime, width: int, follow: Sequence[str]) -> list[str]:
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


class _Events(Protocol):
    def follow(self, after: int = 0) -> AsyncIterator[Stored]: ...


class Clock:
    """The clock of this machine. Tests have their own."""

    def now(self) -> datetime:
        """Return this moment, in UTC."""
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        """Wait this long."""
        await anyio.sleep(seconds)


async def present(
    journal: _Events,
    look: Look,
    *,
    after: int = 0,
    story: RunStory | None = None,
    clock: Clock | None = None,
) -> None:
    """Show each event after number `after` as it is stored, until the run has ended or was interrupted.

    If no event comes for 30 s, a line names the calls and commands that are under way. `story` is the
    run up to `after`.
    """
    story, clock = story or RunStory(), clock or Clock()
    match look.mode:
        case LookMode.JSON:
            await _present(journal, story, after, _Json(), clock)
        case LookMode.PLAIN:
            await _present(journal, story, after, _Plain(look.detail), clock)
        case LookMode.LIVE:
            with _Live(look, story) as display:
                await _present(journal, story, after, display, clock)


def _lines(view: RunView, stored: Stored, detail: Detail) -> list[str]:
    match detail:
        case Detail.NONE:
            return []
        case Detail.END:
            return lines_of(view, stored) if isinstance(stored.event, RunEnded | RunInterrupted) else []
        case Detail.STORY:
            return lines_of(view, stored)
        case Detail.ALL:
            return log_lines(view, stored)


def event_printer(*, as_json: bool) -> Callable[[Stored], None]:
    """Return a function that prints the events of a run as they are given to it, in order."""
    view = RunView()

    def show(stored: Stored) -> None:
        apply(view, stored)
        if as_json:
            say_json(event_object(view, stored))
        else:
            say(*log_lines(view, stored))

    return show


def event_object(view: RunView, stored: Stored) -> dict[str, object]:
    """One event for JSON: seq, at, event, and the event's own fields.

    The end of a run, or of its process, has the cost in all and by role. `view` already includes the event.
    """
    body = msgspec.to_builtins(stored.event)
    if isinstance(stored.event, RunEnded | RunInterrupted):
        body |= {"cost_usd": view.cost_usd, "roles": spending_of(view)}
    head = {"seq": stored.seq, "at": stored.at.isoformat(), "event": type(stored.event).__name__}
    return {**head, **body}


def show_further(view: RunView, look: Look, stored: Iterable[Stored]) -> None:
    """Show events that came after the end of a run, when nothing is redrawn any more. `view` has them all."""
    detail = Detail.STORY if look.detail is Detail.END else look.detail
    display: _Display = _Json() if look.mode is LookMode.JSON else _Plain(detail)
    for one in stored:
        display.show(view, one)


class _Display(Protocol):
    def show(self, view: RunView, stored: Stored) -> None: ...

    def tell(self, line: str) -> None:
        """Show a line that does not belong to an event."""
        ...


async def _present(journal: _Events, story: RunStory, after: int, display: _Display, clock: Clock) -> None:
    async with task_group() as tasks:
        tasks.start_soon(_tell_of_silence, story.view, display, clock)
        async for stored in journal.follow(after):
            story.add(stored)
            display.show(story.view, stored)
            if isinstance(stored.event, RunEnded | RunInterrupted):
                break
        tasks.cancel_scope.cancel()


async def _tell_of_silence(view: RunView, display: _Display, clock: Clock) -> None:
    """Show a line when no event has come for long, but none before the first event."""
    begun = clock.now()
    while True:
        heard = max(begun, view.clock.last_at or begun)
        quiet_s = (clock.now() - heard).total_seconds()
        due_s = next_notice(quiet_s)
        await clock.sleep(due_s - quiet_s)
        if view.clock.last_at and max(begun, view.clock.last_at) == heard:
            display.tell(silence_line(view, clock.now(), due_s))


class _Json:
    def show(self, view: RunView, stored: Stored) -> None:
        say_json(event_object(view, stored))

    def tell(self, line: str) -> None:
        """Show nothing, since JSON has only events."""


class _Plain:
    def __init__(self, detail: Detail) -> None:
        self._detail = detail

    def show(self, view: RunView, stored: Stored) -> None:
        say_all(_lines(view, stored, self._detail))

    def tell(self, line: str) -> None:
        if self._detail not in {Detail.NONE, Detail.END}:
            say(line)


class _Live:
    """Lines that scroll, and below them a table of the tasks, which is redrawn regularly."""

    def __init__(self, look: Look, story: RunStory) -> None:
        from rich.console import Console
        from rich.live import Live

        self._look, self._story = look, story
        self._console = Console(highlight=False)
        self._live = Live(console=self._console, get_renderable=self._picture, refresh_per_second=4)

    def __enter__(self) -> Self:
        self._live.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.__exit__(None, None, None)

    def show(self, view: RunView, stored: Stored) -> None:
        for text in _lines(view, stored, self._look.detail):
            self._print(text)

    def tell(self, line: str) -> None:
        self._print(line)

    def _print(self, text: str) -> None:
        from rich.text import Text

        for line in shown(text):
            self._console.print(Text(line), soft_wrap=True)

    def _picture(self) -> "RenderableType":
        if not self._story.view.tasks:
            return ""
        width, height = self._console.size
        follow = self._look.follow
        return task_table(self._story, datetime.now(UTC), width=width, height=height, follow=follow)


FIRST_S = 30.0  # of silence before the first line
_LONGEST_S = 600.0  # between two lines. Below it, a line comes each time the silence has doubled


def next_notice(quiet_s: float) -> float:
    """The length of a silence at which the next line is due: 30 s, 60 s, 120 s, and so on."""
    due = FIRST_S
    while due <= quiet_s:
        due += min(due, _LONGEST_S)
    return due


def silence_line(view: RunView, now: datetime, quiet_s: float) -> str:
    """The calls and commands that have not ended, with their times, else sq's own activity."""
    quiet = f"no sign for {duration(quiet_s)}"
    waits = "; ".join(_waits(view, now))
    if not waits and (person := waits_for_person(view)):
        return f"{quiet}: {person}"
    own = f"sq's own work ({activity(view, now)})"
    return f"{quiet}, waiting for {waits or own}"


def stopping_line(view: RunView, reason: str) -> str:
    """Return the answer to a signal: what the run ends, and how it is ended at once."""
    waits = "; ".join(_waits(view, datetime.now(UTC))) or f"sq's own work ({activity(view)})"
    return f"sq: {reason}: saves its state and ends {waits}. The same once more ends it at once"


def _waits(view: RunView, now: datetime) -> Iterator[str]:
    for call in view.calls.values():
        if call.end is None and call.since:
            yield _call(view, call, now)
    yield from waited_for(view)


def _call(view: RunView, call: CallView, now: datetime) -> str:
    who = f"the {call.started.role} on {subject_of(call.started.task_id)} ({call.started.model})"
    if call.since and call.since > now:
        last = call.retries[-1]
        cause = retry_cause(last.end, last.resets_at)
        return f"{who}, which is asked again at {time_of_day(call.since)} after: {cause}"
    return f"{who}, since {time_of_day(call.since or call.at)}{_in_a_tool(view, call)}"


def _in_a_tool(view: RunView, call: CallView) -> str:
    """The tool call of a Worker that has no result yet."""
    task = view.tasks.get(call.started.task_id)
    newest = task.history[-1] if task and task.history and call.started.role is Role.WORKER else None
    if newest is None or newest.kind is not MessageKind.TOOL_CALL:
        return ""
    return f", in {tool_call(view.root, newest)}"
