"""Events and messages of a run in pages, read from the journal a piece at a time."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import anyio
import anyio.lowlevel
import msgspec

from orchestrator.views.words import short
from state.journal import events as e
from state.journal.events import Stored
from state.journal.store import JournalReader
from state.journal.view import RunView

PAGE = 200
_BATCH = 2000  # events that are looked through at a time
_SHORT = 160
KINDS: dict[str, type] = {one.__name__: one for one in e.Event.__args__}


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRow:
    """An event with all its fields. `short` is their beginning on one line."""

    seq: int
    at: datetime
    name: str
    short: str
    body: str


async def found_events(
    folder: Path, after: int, fits: Callable[[Stored], bool], kinds: tuple[type, ...] = ()
) -> list[Stored]:
    """Return the first events after a place that fit, a page of them and one more if there are more.

    Other requests are answered between two batches.
    """
    found: list[Stored] = []
    with JournalReader(folder) as journal:
        while len(found) <= PAGE:
            batch = journal.read(after, only=kinds, limit=_BATCH)
            found += filter(fits, batch)
            if len(batch) < _BATCH:
                break
            after = batch[-1].seq
            await anyio.lowlevel.checkpoint()
    return found[: PAGE + 1]


def one_event(folder: Path, seq: int) -> Stored | None:
    """Return the event at a place of the journal, or None."""
    with JournalReader(folder) as journal:
        found = journal.read(max(0, seq - 1), limit=1)
    return found[0] if found and found[0].seq == seq else None


def is_about(view: RunView, task_id: str) -> Callable[[Stored], bool]:
    """Return whether an event is about a task. An empty id fits all events."""
    return lambda stored: not task_id or view.task_of(stored.event) == task_id


def event_row(stored: Stored) -> EventRow:
    """Return an event as a row."""
    fields = msgspec.to_builtins(stored.event)
    said = (
        f"{name}={short(str(value), 60)}"
        for name, value in fields.items()
        if value not in ("", None, [], (), {}, 0, False)
    )
    return EventRow(
        seq=stored.seq,
        at=stored.at,
        name=type(stored.event).__name__,
        short=short(" ".join(said), _SHORT),
        body=whole_text(stored),
    )


def whole_text(stored: Stored) -> str:
    """Return an event with all its fields. A text of several lines stays one."""
    fields = msgspec.to_builtins(stored.event)
    return "\n".join(f"{name}: {_plain(value)}" for name, value in fields.items())


def _plain(value: object) -> str:
    if isinstance(value, str):
        return value if "\n" not in value else "\n    " + value.replace("\n", "\n    ")
    return json.dumps(value, indent=2, ensure_ascii=False)
