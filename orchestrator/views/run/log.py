"""All events with their times: the story's lines, and one for each event that the story leaves out."""

from collections.abc import Iterator

import msgspec

from orchestrator.views.run.lines.story import lines_of
from orchestrator.views.run.overview import clock
from orchestrator.views.screen import shown
from orchestrator.views.words import short
from state.journal.events import MessageReceived, Stored
from state.journal.view import RunView
from state.records.calls import MessageKind

_FIELD_SHOWN = 48  # characters of a field of an event that the story leaves out


def log_lines(view: RunView, stored: Stored) -> list[str]:
    """The lines of one event, at least one, each with its time. `view` already includes the event."""
    told = lines_of(view, stored) or [_in_short(view, stored)]
    at = clock(stored.at)
    return [f"{at}  {line}" for text in told for line in shown(text)]


def _in_short(view: RunView, stored: Stored) -> str:
    event = stored.event
    if isinstance(event, MessageReceived):
        role = view.calls[event.call_id].started.role
        verb = "says" if event.message.kind is MessageKind.TEXT else event.message.kind
        return f"    {role} {verb}: {short(event.message.text)}"
    return f"  · {type(event).__name__} {' '.join(_fields(event))}"


def _fields(event: object) -> Iterator[str]:
    for name, value in msgspec.to_builtins(event).items():
        if value not in ("", None, [], ()):
            text = f"{value:.4g}" if isinstance(value, float) else str(value)
            yield f"{name}={short(text, _FIELD_SHOWN)}"
