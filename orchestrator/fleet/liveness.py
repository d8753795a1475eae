"""Which workers are gone: each has a lock, which its death frees, and a heart, which stops if its host hangs.

Each worker looks after its neighbours in the order of their ids, so that the load does not grow with the
square of the fleet. Nobody's clock is compared with another's: a heart stands still if the watcher saw no
beat for `STALE_S` of its own time.
"""

import hashlib
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import sqlalchemy as sa
import structlog
from filelock import FileLock, Timeout

from orchestrator.fleet.ledger import EVICTED, FleetLedger, WorkerRow

log = structlog.get_logger(__name__)

BEAT_S = 10.0
STALE_S = 3 * BEAT_S
LOOK_S = 0.5
NEIGHBOURS = 3
_FREE_S = 0.9
_QUIET_S = 15.0  # after the database was away: the others come back meanwhile
_SLEPT_S = 20.0  # between two looks: this host was stopped


class FileLocks:
    """Locks on one host, for SQLite: the kernel frees them when their process dies."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder = folder
        self._held: dict[str, FileLock] = {}

    def take(self, name: str) -> bool:
        """Take a lock. False: another process holds it."""
        if name not in self._held:
            lock = FileLock(self._folder / name, blocking=False, thread_local=False, mode=0o600)
            with suppress(Timeout):
                lock.acquire()
                self._held[name] = lock
        return name in self._held

    def give(self, name: str) -> None:
        """Free a lock for good."""
        if lock := self._held.pop(name, None):
            (self._folder / name).unlink(missing_ok=True)
            lock.release()


class SessionLocks:
    """Locks in PostgreSQL, on a connection of their own: the server frees them when it ends."""

    def __init__(self, database: sa.Engine) -> None:
        self._database = database
        self._connection: sa.Connection | None = None
        self._held: set[str] = set()

    def take(self, name: str) -> bool:
        """Take a lock. False: another process holds it.

        Raises:
            sqlalchemy.exc.SQLAlchemyError: the connection is lost, and with it all locks.
        """
        if name not in self._held and self._call("pg_try_advisory_lock", name):
            self._held.add(name)
        return name in self._held

    def give(self, name: str) -> None:
        """Free a lock."""
        if name in self._held:
            self._held.remove(name)
            with suppress(sa.exc.SQLAlchemyError):  # with the connection all locks are free
                self._call("pg_advisory_unlock", name)

    def _call(self, function: str, name: str) -> object:
        number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big", signed=True)
        try:
            if self._connection is None:
                self._connection = self._database.connect().execution_options(isolation_level="AUTOCOMMIT")
            return self._connection.execute(sa.text(f"SELECT {function}(:n)"), {"n": number}).scalar()
        except sa.exc.SQLAlchemyError:
            self._held.clear()
            if self._connection is not None:
                self._connection.invalidate()
                self._connection.close()
                self._connection = None
            raise


def locks_of(url: str, database: sa.Engine) -> FileLocks | SessionLocks:
    """Return the locks of a database's workers."""
    parsed = sa.make_url(url)
    if parsed.get_backend_name() == "sqlite":
        return FileLocks(Path(f"{parsed.database}.workers"))
    return SessionLocks(database)


class Liveness:
    """Shows that this worker lives, and takes over from those that do not."""

    def __init__(
        self,
        worker: WorkerRow,
        ledger: FleetLedger,
        locks: FileLocks | SessionLocks,
        *,
        take_over: Callable[[str, str, bool], None],
        lost: Callable[[], None],
    ) -> None:
        """Prepare to watch.

        Args:
            ledger: where hearts beat.
            locks: of this database.
            take_over: puts the work of a worker back into its queue. Gets its id, why, and if it is dead.
            lost: called as soon as another worker has taken over from this one.
        """
        self._me, self._ledger, self._locks = worker, ledger, locks
        self._take_over, self._lost = take_over, lost
        self._seen: dict[str, tuple[int, float]] = {}  # by worker: its beats, and since when
        self._free: dict[str, float] = {}  # by worker: since when its lock is free
        self._stop = threading.Event()
        self._beaten_at = self._quiet_until = float("-inf")
        self._thread = threading.Thread(target=self._watch, name="liveness", daemon=True)

    def begin(self) -> None:
        """Take this worker's lock, write it down, and watch from now on."""
        self._locks.take(self._me.executor)
        self._ledger.enter(self._me)
        self._thread.start()

    def stop(self) -> None:
        """Watch no more."""
        self._stop.set()
        self._thread.join()

    def end(self) -> None:
        """Watch no more, and forget this worker, which has given back its work."""
        self.stop()
        self._ledger.leave(self._me.executor)
        self._locks.give(self._me.executor)

    def _watch(self) -> None:
        before = time.monotonic()
        while not self._stop.wait(LOOK_S):
            now = time.monotonic()
            try:
                self._look(now, slept=now - before > _SLEPT_S)
            except Exception as error:  # noqa: BLE001  this thread ends with the worker alone
                log.warning("fleet.database.away", error=type(error).__name__)
                self._quiet_until = time.monotonic() + _QUIET_S
                with suppress(sa.exc.SQLAlchemyError):
                    self._locks.take(self._me.executor)  # at once, if its connection alone was cut
            before = now

    def _look(self, now: float, *, slept: bool) -> None:
        """Beat if it is time, first of all after a stop, and look after the others."""
        if slept or now - self._beaten_at >= BEAT_S:
            if not self._ledger.beat(self._me.executor):
                self._stop.set()
                self._lost()
                return
            self._beaten_at = now
        if slept:
            self._seen.clear()
        self._locks.take(self._me.executor)  # again, if the connection was lost
        if now < self._quiet_until:
            self._seen.clear()
            return
        for other in self._ledger.neighbours(self._me.executor, NEIGHBOURS):
            self._look_after(other, now)

    def _look_after(self, other: WorkerRow, now: float) -> None:
        beats, since = self._seen.get(other.executor, (-1, now))
        if beats != other.beats:
            since = now
        self._seen[other.executor] = (other.beats, since)
        if not self._locks.take(other.executor):
            self._free.pop(other.executor, None)
            if now - since >= STALE_S:
                self._take_from_hung(other, now)
            return
        try:
            # A worker whose connection was cut takes its lock again before it has been free for so long.
            if now - self._free.setdefault(other.executor, now) >= _FREE_S:
                self._take_over(other.executor, "its process is gone", True)
                self._ledger.leave(other.executor)
                del self._free[other.executor]
        finally:
            self._locks.give(other.executor)

    def _take_from_hung(self, other: WorkerRow, now: float) -> None:
        if other.state == EVICTED or self._ledger.evict(other.executor, other.beats):
            self._take_over(other.executor, f"its heart stood still for {STALE_S:.0f} s", False)
        self._seen[other.executor] = (other.beats, now)
