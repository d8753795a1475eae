"""The event store of one run: append, read, follow.

SQLite in WAL mode: an appended event survives `kill -9`, and a power cut too (`benchmarks.run_overhead`
measures the cost). Nothing follows from an agent's messages, of which there are many: they are synced to the
disk with the next other event, so that a power cut may take the newest. A lock that the kernel frees when its
process dies allows one writing process. Any number of processes may follow.
"""

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import anyio
from filelock import FileLock, Timeout

from state.errors import JournalError, RunActiveError, UsageError
from state.journal.codec import ALL, NO_MESSAGE, encode, events_for_views, messages_of, read_events
from state.journal.events import Event, MessageReceived, Stored
from state.redaction.redactor import Redact, Redactor

# Views use the index to pass over the messages of agents. Storing a message does not touch it.
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS events (
    seq     INTEGER PRIMARY KEY AUTOINCREMENT,
    at      TEXT NOT NULL,
    name    TEXT NOT NULL,
    version INTEGER NOT NULL,
    body    TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS other_than_messages ON events (seq) WHERE {NO_MESSAGE}
"""
# Texts that hold files and diffs of the work. Of these only known secrets are taken out.
_WITH_WORK = frozenset({"prompt", "spec_text"})
_GLANCE_S = 0.3  # `is_active` in another process holds the lock only for a moment
_POLL_S = 0.025  # until a follower in another process sees a new event. One look costs about 12 µs


def journal_file(run_folder: Path) -> Path:
    """Return the path of a run's journal."""
    return run_folder / "journal.db"


def _lock_of(run_folder: Path) -> FileLock:
    return FileLock(run_folder / "lock")


def is_active(run_folder: Path) -> bool:
    """Whether a process is writing this run now."""
    lock = _lock_of(run_folder)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    lock.release()
    return False


def has_begun(run_folder: Path) -> bool:
    """Whether a run has its first event."""
    try:
        with JournalReader(run_folder) as journal:
            return bool(journal.read(limit=1))
    except (JournalError, UsageError):
        return False


class Journal:
    """Writes and reads one run's events. Use `JournalReader` to read without writing."""

    def __init__(self, run_folder: Path, *, redact: Redact = str) -> None:
        """Open the journal of a run for writing, making it if it is not there.

        Args:
            run_folder: the run's folder, which must exist.
            redact: applied to each text of an event before it is stored. In prompts, which hold
                files of the work, a `Redactor` leaves tokens that sq does not know.

        Raises:
            RunActiveError: another process is writing this run.
            JournalError: the file is damaged.
        """
        self._lock = _lock_of(run_folder)
        try:
            self._lock.acquire(timeout=_GLANCE_S, poll_interval=0.01)
        except Timeout:
            raise RunActiveError(
                f"run {run_folder.name} is being worked on by another sq process, so "
                f"watch it with `sq status {run_folder.name}`, or stop that process first"
            ) from None
        self._redact = redact
        self._redact_work = redact.known if isinstance(redact, Redactor) else redact
        self._grown = anyio.Event()
        self._synced = True
        try:
            self._db = _opened(journal_file(run_folder))
        except sqlite3.DatabaseError as error:
            self._lock.release()
            raise JournalError(f"{journal_file(run_folder)} cannot be opened: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Journal of {Path(self._lock.lock_file).parent.name}>"

    def append(self, *events: Event) -> list[Stored]:
        """Store events durably, all or none, and wake the followers in this process.

        Returns the stored events. Their texts are redacted, as every later reader sees them.

        Raises:
            JournalError: the disk is full or the file damaged. Nothing was stored.
        """
        at = datetime.now(UTC)
        redacted = [_redacted(event, self._redact, self._redact_work) for event in events]
        rows = [(at.isoformat(), *encode(event)) for event in redacted]
        stored = []
        synced = not all(isinstance(event, MessageReceived) for event in events)
        try:
            if synced is not self._synced:
                self._db.execute(f"PRAGMA synchronous = {'FULL' if synced else 'NORMAL'}")
                self._synced = synced
            self._db.execute("BEGIN IMMEDIATE")
            for event, row in zip(redacted, rows, strict=True):
                cursor = self._db.execute(
                    "INSERT INTO events (at, name, version, body) VALUES (?, ?, ?, ?)", row
                )
                stored.append(Stored(cursor.lastrowid or 0, at, event))
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise JournalError(f"the journal could not be written: {error} (is the disk full?)") from error
        grown, self._grown = self._grown, anyio.Event()
        grown.set()
        return stored

    def read(self, after: int = 0) -> list[Stored]:
        """Return the events after `after`, in order."""
        return read_events(self._db, after)

    def follow(self, after: int = 0) -> AsyncIterator[Stored]:
        """Yield the events after `after` and then each new one as it is stored. Ends only by cancellation."""
        return _follow(self.read, after, lambda: self._grown.wait)

    def for_model(self, text: str) -> str:
        """Return a text as a model may read it: without known secrets."""
        return self._redact_work(text)

    def close(self) -> None:
        """Close the file and free the run."""
        self._db.close()
        self._lock.release()


class JournalReader:
    """Reads a run's events, also while another process writes them."""

    def __init__(self, run_folder: Path) -> None:
        """Open for reading.

        Raises:
            UsageError: there is no journal in this folder.
        """
        file = journal_file(run_folder)
        if not file.is_file():
            raise UsageError(f"{run_folder} holds no run: {file.name} is missing")
        self._db = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.close()

    def read(
        self,
        after: int = 0,
        *,
        messages: bool = True,
        only: Collection[type] = (),
        limit: int = ALL,
    ) -> list[Stored]:
        """Return the events after `after`, in order.

        Without `messages` those of agents are left out and not read. `only` leaves out all other kinds.
        `limit` is the most that are returned, and below zero there is none.
        """
        return read_events(self._db, after, messages=messages, only=only, limit=limit)

    def read_for_views(self, after: int = 0) -> list[Stored]:
        """Return the events after `after` that a view of the run follows from, in order.

        Of the messages of agents, which are most of a journal, these are the ones that its clock needs: the
        last before each resumption, and the newest event. Without the others a view lacks only the words of
        agents (`CallView.last_text`, `TaskView.history`).
        """
        return events_for_views(self._db, after)

    def messages(self, call_id: str, *, after: int, until: int, newest: int) -> list[Stored]:
        """Return the newest messages of one call, in order.

        Args:
            after: the place of an event before the first message, such as the call's start.
            until: the last place to look at.
            newest: the most that are returned.
        """
        return messages_of(self._db, call_id, after=after, until=until, newest=newest)

    def follow(self, after: int = 0) -> AsyncIterator[Stored]:
        """As `Journal.follow`, but another process's events arrive within 0.025 s."""
        return _follow(self.read, after, lambda: partial(self.changed_since, self.change_count()))

    def change_count(self) -> int:
        """Return a number that differs once another process has written to the journal."""
        try:
            (count,) = self._db.execute("PRAGMA data_version").fetchone()
        except sqlite3.Error as error:
            raise JournalError(f"the journal could not be read: {error}") from error
        return int(count)

    async def changed_since(self, count: int) -> None:
        """Wait until `change_count()` is no longer `count`. It reads no events."""
        while self.change_count() == count:  # noqa: ASYNC110  another process writes, which is no event here
            await anyio.sleep(_POLL_S)


def _opened(file: Path) -> sqlite3.Connection:
    """Return a connection that writes durably. It is closed again if the file cannot be used."""
    with ExitStack() as unless_ready:
        db = sqlite3.connect(file, isolation_level=None)
        unless_ready.callback(db.close)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.executescript(_SCHEMA)
        unless_ready.pop_all()
    return db


def _redacted(value: Any, redact: Redact, of_work: Redact) -> Any:  # noqa: ANN401  a record, or a field's value
    """Redact each text of a record, not its JSON: a secret may resemble names or values of enums there."""
    if isinstance(value, str):
        return value if isinstance(value, StrEnum) else redact(value)
    if isinstance(value, tuple):
        return tuple(_redacted(part, redact, of_work) for part in value)
    if isinstance(value, dict):
        return {
            _redacted(key, redact, of_work): _redacted(part, redact, of_work) for key, part in value.items()
        }
    if is_dataclass(value) and not isinstance(value, type):
        texts = {
            one.name: _redacted(
                getattr(value, one.name), of_work if one.name in _WITH_WORK else redact, of_work
            )
            for one in fields(value)
        }
        return replace(value, **texts)
    return value


async def _follow(
    read: Callable[[int], Sequence[Stored]],
    after: int,
    next_change: Callable[[], Callable[[], Awaitable[object]]],
) -> AsyncIterator[Stored]:
    while True:
        changed = next_change()  # taken before reading, so that an event stored in between is not missed
        for stored in read(after):
            after = stored.seq
            yield stored
        await changed()
