"""Events as the table of a journal stores them: a name, a version, and the JSON of the dataclass.

A field may be added to an event if it has a default. Any other change raises its entry in `VERSIONS`.
"""

import gc
import json
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from functools import cache
from typing import Any

import msgspec

from state.errors import JournalError
from state.journal.events import EVENTS, Event, MessageReceived, RunResumed, Stored

type_by_name: dict[str, type] = {event.__name__: event for event in EVENTS}


# Of the form of an event; 1 if it is not listed. Others are not read.
VERSIONS = {"RunStarted": 3, "RunResumed": 2, "PlanProposed": 2, "PlanAccepted": 2}
ALL = -1  # SQLite's word for no limit
NO_MESSAGE = f"name <> '{MessageReceived.__name__}'"  # an index has this very condition
_NEWEST = 2**63 - 1  # beyond every place
_SELECT = "SELECT seq, at, name, version, body FROM events WHERE seq > ? {} ORDER BY seq {} LIMIT ?"


@cache
def _decoder(name: str) -> msgspec.json.Decoder[Any] | None:
    event = type_by_name.get(name)
    return msgspec.json.Decoder(event) if event else None


def encode(event: Event) -> tuple[str, int, str]:
    """Return an event as `(name, version, JSON body)`."""
    name = type(event).__name__
    try:
        body = msgspec.json.encode(event)
    except UnicodeEncodeError:  # half a surrogate pair: some program cut its output inside a character
        body = json.dumps(_mended(msgspec.to_builtins(event)), ensure_ascii=False).encode()
    return name, VERSIONS.get(name, 1), body.decode()


def decode(name: str, version: int, body: str | bytes) -> Event:
    """Return the event that was stored.

    Raises:
        JournalError: the name or version is unknown (another sq wrote it), or the body is damaged.
    """
    decoder = _decoder(name)
    if decoder is None or version != VERSIONS.get(name, 1):
        raise JournalError(
            f"the journal holds {name} version {version}, which this sq does not know: "
            "it was written by another sq, so use that one"
        )
    try:
        return decoder.decode(body)  # type: ignore[no-any-return]
    except (msgspec.MsgspecError, UnicodeDecodeError, TypeError) as error:
        raise JournalError(f"a stored {name} cannot be read: {error}") from error


def _mended(value: Any) -> Any:  # noqa: ANN401  JSON
    """Return the same JSON with every half surrogate pair replaced by Unicode's replacement character."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_mended(key): _mended(part) for key, part in value.items()}
    return [_mended(part) for part in value] if isinstance(value, list | tuple) else value


def read_events(
    db: sqlite3.Connection,
    after: int,
    *,
    messages: bool = True,
    only: Collection[type] = (),
    limit: int = ALL,
) -> list[Stored]:
    """Return the events after `after`. Garbage collection would find nothing here and double the time.

    Raises:
        JournalError: the file is damaged, or holds events of another sq.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        return list(_events(db, after, messages, only, limit))
    finally:
        if collects:
            gc.enable()


def events_for_views(db: sqlite3.Connection, after: int) -> list[Stored]:
    found = list[Stored]()
    db.execute("BEGIN")  # all is read from one state of the journal
    try:
        for stored in read_events(db, after, messages=False):
            if isinstance(stored.event, RunResumed):
                found += _newest(db, found[-1].seq if found else after, stored.seq)
            found.append(stored)
        return found + _newest(db, found[-1].seq if found else after, _NEWEST)
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def _newest(db: sqlite3.Connection, after: int, before: int) -> list[Stored]:
    """Return the newest event between two places, if there is one."""
    return list(_decoded(db, _SELECT.format("AND seq < ?", "DESC"), (after, before, 1)))


def messages_of(db: sqlite3.Connection, call_id: str, *, after: int, until: int, newest: int) -> list[Stored]:
    """Return the newest messages of one call between two places of the journal, in order.

    Raises:
        JournalError: as `read_events`.
    """
    condition = "AND seq <= ? AND name = ? AND json_extract(body, '$.call_id') = ?"
    values = (after, until, MessageReceived.__name__, call_id, newest)
    return list(_decoded(db, _SELECT.format(condition, "DESC"), values))[::-1]


def _events(
    db: sqlite3.Connection, after: int, messages: bool, only: Collection[type], limit: int
) -> Iterator[Stored]:
    kept = [one.__name__ for one in only]
    condition = "" if messages else f"AND {NO_MESSAGE}"
    condition += f" AND name IN ({', '.join('?' * len(kept))})" if kept else ""
    return _decoded(db, _SELECT.format(condition, ""), (after, *kept, limit))


def _decoded(db: sqlite3.Connection, select: str, values: Sequence[str | int]) -> Iterator[Stored]:
    try:
        for seq, at, name, version, body in db.execute(select, values):
            yield Stored(seq, datetime.fromisoformat(at), decode(name, version, body))
    except sqlite3.OperationalError as error:
        if "no such table" in str(error):  # its writer has made the file but not yet the table
            return
        raise JournalError(f"the journal could not be read: {error}") from error
    except (sqlite3.DatabaseError, ValueError) as error:
        raise JournalError(f"the journal is damaged: {error}") from error
