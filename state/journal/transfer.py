"""The rows of a journal as JSON Lines, to carry a run to another folder or host.

Texts are redacted already.
"""

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from state.errors import JournalError
from state.journal.codec import NO_MESSAGE
from state.journal.store import Journal, journal_file

_COLUMNS = "seq, at, name, version, body"
Row = tuple[int, str, str, int, str]


def rows_after(run_folder: Path, seq: int) -> list[Row]:
    """Return the rows after `seq` of a journal, which another process may be writing.

    A row is `(seq, at, name, version, body)`.

    Raises:
        JournalError: it cannot be read.
    """
    return _asked(run_folder, f"SELECT {_COLUMNS} FROM events WHERE seq > ? ORDER BY seq", seq)  # noqa: S608


def last_decision(run_folder: Path) -> int:
    """Return the place of the newest event that is no message of an agent, or 0, also while it has no table.

    Raises:
        JournalError: the journal cannot be read.
    """
    rows = _asked(run_folder, f"SELECT max(seq) FROM events WHERE seq > ? AND {NO_MESSAGE}", 0)  # noqa: S608
    return int(rows[0][0] or 0) if rows else 0


def as_lines(rows: Iterable[Row]) -> bytes:
    """Return rows as JSON Lines."""
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()


def rows_in(lines: bytes) -> list[Row]:
    """Return the rows of JSON Lines.

    Raises:
        JournalError: they are none.
    """
    try:
        return [
            (int(seq), str(at), str(name), int(version), str(body))
            for seq, at, name, version, body in map(json.loads, lines.splitlines())
        ]
    except (ValueError, TypeError) as error:
        raise JournalError(f"the checkpoint of a journal is damaged: {error}") from error


def add_rows(run_folder: Path, rows: Iterable[Row]) -> None:
    """Write rows of a journal, which is made if it is missing. Known ones stay.

    Raises:
        RunActiveError: another process is writing this run.
    """
    with Journal(run_folder), closing(sqlite3.connect(journal_file(run_folder), isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        db.executemany(f"INSERT OR IGNORE INTO events ({_COLUMNS}) VALUES (?, ?, ?, ?, ?)", rows)  # noqa: S608
        db.execute("COMMIT")


def _asked(run_folder: Path, query: str, seq: int) -> list[Row]:
    try:
        address = f"{journal_file(run_folder).absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True)) as db:
            rows: list[Row] = db.execute(query, (seq,)).fetchall()
            return rows
    except sqlite3.OperationalError as error:
        if "no such table" in str(error):
            return []
        raise JournalError(f"the journal could not be read: {error}") from error
