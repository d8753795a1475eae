"""What happens in a task now, as lines: the messages of its agents and the run's own words, in order."""

from collections.abc import Iterable

from orchestrator.views.watch.panel import MOST_LINES
from orchestrator.views.watch.snapshot import EventLines, Snapshot, WatchedRun
from orchestrator.views.watch.text import ScreenLine, line, text_of
from orchestrator.views.words import time_of_day, tool_call
from state.journal.events import MessageReceived, Stored
from state.journal.view import RunView
from state.records.calls import MessageKind

_TEXT_SHOWN, _RESULT_SHOWN = 20, 6  # lines of a message
_BEFORE = " " * 4  # of further lines


def stream(following: WatchedRun, moment: Snapshot, task_id: str, most: int = MOST_LINES) -> list[ScreenLine]:
    """Return the newest lines of a task, oldest first, of at most so many messages. "" is the whole run."""
    messages = following.messages(moment, task_id, most)
    told = [one for one in moment.told if one.task_id == task_id]
    first = messages[0].seq if len(messages) == most else 0
    pieces = [(one.seq, message_of(moment.story.view, one)) for one in messages]
    pieces += [(one.seq, story_of(one)) for one in told if one.seq >= first]
    lines = [each for _, piece in sorted(pieces, key=lambda pair: pair[0]) for each in piece]
    return lines[-MOST_LINES:]


def stream_of(
    moment: Snapshot, new: Iterable[Stored], told: Iterable[EventLines], task_id: str
) -> list[ScreenLine]:
    """Return the lines that new events add to a task's stream."""
    view = moment.story.view
    pieces = [
        (one.seq, message_of(view, one))
        for one in new
        if isinstance(one.event, MessageReceived) and _task_of(view, one.event) == task_id
    ]
    pieces += [(one.seq, story_of(one)) for one in told if one.task_id == task_id]
    return [each for _, piece in sorted(pieces, key=lambda pair: pair[0]) for each in piece]


def feed(told: Iterable[EventLines]) -> list[ScreenLine]:
    """Return the story of the run: a line for each of its first lines, with its time."""
    return [
        line((f"{time_of_day(one.at)} ", "dim"), (one.lines[0].strip(), ""), indent=len(_BEFORE))
        for one in told
    ]


def story_of(one: EventLines) -> list[ScreenLine]:
    """Return the lines of one event in the story of its task."""
    first, *further = (part for text in one.lines for part in text.split("\n"))
    return [
        line(
            (f"{time_of_day(one.at)} ", "dim"), ("· ", "work"), (first.strip(), "strong"), indent=len(_BEFORE)
        ),
        *(line((f"{_BEFORE}{part}", ""), indent=len(_BEFORE)) for part in further),
    ]


def message_of(view: RunView, stored: Stored) -> list[ScreenLine]:
    """Return the lines of one message. Long ones are cut."""
    event = stored.event
    if not isinstance(event, MessageReceived):
        return []
    message, at = event.message, (f"{time_of_day(stored.at)} ", "dim")
    role = view.calls[event.call_id].started.role if event.call_id in view.calls else "agent"
    match message.kind:
        case MessageKind.TOOL_CALL:
            tool, _, rest = tool_call(view.root, message).partition(" ")
            return [line(at, (tool, "work"), (f"  {rest}", ""), indent=len(_BEFORE))]
        case MessageKind.TOOL_RESULT:
            style = "bad" if message.is_error else "dim"
            sign = f"{_BEFORE}✗ " if message.is_error else f"{_BEFORE}  "
            return text_of(message.text.strip("\n"), style, before=sign, most=_RESULT_SHOWN)
        case _:
            verb = "is asked" if message.kind is MessageKind.PROMPT else "says"
            first, *further = text_of(message.text.strip(), "agent", before=_BEFORE, most=_TEXT_SHOWN)
            said = (first.plain.removeprefix(_BEFORE), "agent")
            return [line(at, (f"{role} {verb}: ", "work"), said, indent=len(_BEFORE)), *further]


def _task_of(view: RunView, event: MessageReceived) -> str:
    started = view.calls[event.call_id].started if event.call_id in view.calls else None
    return started.task_id if started and started.task_id in view.tasks else ""
