"""Shows a run while it goes on: as JSON Lines, as plain lines, or with a live table below the lines.

After a time without events a line names the calls and commands that the run waits for.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol, Self

import anyio
import msgspec

from agents.concurrency import task_group
from orchestrator.views.models.summary import activity, waits_for_person
from orchestrator.views.run.look import Detail, Look, LookMode
from orchestrator.views.run.spending import spending_of
from orchestrator.views.run.story import RunStory, lines_of, log_lines
from orchestrator.views.run.table import task_table
from orchestrator.views.screen import say, say_all, say_json, shown
from orchestrator.views.words import duration, retry_cause, subject_of, time_of_day, tool_call
from state.journal.events import RunEnded, RunInterrupted, Stored
from state.journal.events.calls import CallView
from state.journal.fold.fold import apply
from state.journal.view import RunView
from state.records.calls import MessageKind
from state.roles import Role

if TYPE_CHECKING:
    from rich.console import RenderableType


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


def _waits(view: RunView, now: datetime) -> Iterator[str]:
    for call in view.calls.values():
        if call.end is None and call.since:
            yield _call(view, call, now)
    for one in view.evidence.commands.values():
        commands = ", ".join(f"`{command}`" for command in one.commands)
        about = f" for {one.task_id}" if one.task_id else ""
        yield f"{one.purpose}{about}: {commands}, since {time_of_day(one.at)}"


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
