"""Reads events from the table of a journal."""

import gc
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime

from state.errors import JournalError
from state.journal.codec import decode
from state.journal.events import MessageReceived, Stored

ALL = -1  # SQLite's word for no limit
_SELECT = "SELECT seq, at, name, version, body FROM events WHERE seq > ? {} ORDER BY seq {} LIMIT ?"


def read_events(
    db: sqlite3.Connection,
    after: int,
    *,
    without: Collection[type] = (),
    only: Collection[type] = (),
    limit: int = ALL,
) -> list[Stored]:
    """Return the events after `after`. Garbage collection would find nothing here and double the time.

    Raises:
        JournalError: the file is damaged, or holds events of a newer sq.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        return list(_events(db, after, without, only, limit))
    finally:
        if collects:
            gc.enable()


def messages_of(db: sqlite3.Connection, call_id: str, *, after: int, until: int, newest: int) -> list[Stored]:
    """Return the newest messages of one call between two places of the journal, in order.

    Raises:
        JournalError: as `read_events`.
    """
    condition = "AND seq <= ? AND name = ? AND json_extract(body, '$.call_id') = ?"
    values = (after, until, MessageReceived.__name__, call_id, newest)
    return list(_decoded(db, _SELECT.format(condition, "DESC"), values))[::-1]


def _events(
    db: sqlite3.Connection, after: int, without: Collection[type], only: Collection[type], limit: int
) -> Iterator[Stored]:
    left_out, kept = [one.__name__ for one in without], [one.__name__ for one in only]
    condition = f"AND name NOT IN ({_places(left_out)})"
    condition += f" AND name IN ({_places(kept)})" if kept else ""
    select = _SELECT.format(condition, "")  # only places for values are put in
    return _decoded(db, select, (after, *left_out, *kept, limit))


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


def _places(values: Collection[str]) -> str:
    return ", ".join("?" * len(values))
