"""A worker: claims submissions, works on several at once, looks after its neighbours, and stops in order."""

import os
import signal
import socket
import sys
import threading
import time
import traceback
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import sqlalchemy as sa
import structlog

from agents.process.containment import detect_containment
from orchestrator.fleet.dbos_engine import DbosEngine
from orchestrator.fleet.ledger import FleetLedger, WorkerRow
from orchestrator.fleet.liveness import FileLocks, Liveness, SessionLocks
from orchestrator.fleet.policy import WorkerPolicy
from orchestrator.fleet.records import PROTOCOL, Report, Submission, UnitState
from orchestrator.fleet.transport import ClaimLostError, DiskFullError
from orchestrator.fleet.unit import CHECKPOINT_S, OWN_PROGRAM, STEPS, Act, Host, MovedError
from state.errors import UsageError
from state.outcome import Outcome

log = structlog.get_logger(__name__)

Say = Callable[..., None]  # prints each of its texts as a line
DRAIN_S = 55.0
_AGAIN_S = 2.0  # between tries while the database is away
_LOST_S = 45.0  # within which a worker that was taken over knows it
_ALONE = "the-worker"
_TICK_S, _EMPTY_S = 0.2, 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerWish:
    """How a worker is to be.

    `until_empty`: it ends when nothing is left to do. Its name need not be unique.
    """

    policy: WorkerPolicy
    places: int = 1
    labels: tuple[str, ...] = ()
    name: str = ""
    until_empty: bool = False
    checkpoint_s: float = CHECKPOINT_S
    protocol: str = PROTOCOL
    sq: tuple[str, ...] = ()
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))


class Worker:
    """A worker in this process. There can be one."""

    def __init__(self, url: str, root: Path, wish: WorkerWish, version: str, say: Say) -> None:
        """Connect.

        Raises:
            UsageError: the database is one of SQLite, and another worker has it.
        """
        name = wish.name or socket.gethostname()
        executor = f"{name}-{uuid.uuid4().hex[:12]}"  # no other process ever has it
        self._wish, self._say = wish, say
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._engine = DbosEngine(url, executor=executor, protocol=wish.protocol)
        self._ledger = FleetLedger(self._engine.database)
        self._locks = locks_of(url, self._engine.database)
        if isinstance(self._locks, FileLocks) and not self._locks.take(_ALONE):
            others = ", ".join(f"process {one.pid} on {one.host}" for one in self._ledger.workers())
            raise UsageError(
                f"{url} has a worker already ({others or 'it is starting'}). SQLite is for one worker: give "
                "it more --places, or use PostgreSQL (SQ_FLEET_DATABASE=postgresql://…)"
            )
        self._host = Host(
            executor=executor,
            name=name,
            root=root,
            policy=wish.policy,
            engine=self._engine,
            ledger=self._ledger,
            containment=detect_containment(wish.environ),
            environ=wish.environ,
            checkpoint_s=wish.checkpoint_s,
            sq=wish.sq or OWN_PROGRAM,
        )
        row = WorkerRow(
            executor=executor,
            host=socket.gethostname(),
            pid=os.getpid(),
            places=wish.places,
            labels=",".join(wish.labels),
            version=f"{version} (protocol {wish.protocol})",
        )
        self._liveness = Liveness(
            row, self._ledger, self._locks, take_over=self._take_over, lost=self._end_at_once
        )
        self._active: set[str] = set()
        self._put_down: set[str] = set()
        self._stop = threading.Event()
        self._problem = ""

    def run(self) -> NoReturn:
        """Work until a signal, or until nothing is left, and end the process.

        Steps that are put down are threads which never end, so that nothing of Python is waited for.
        """
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._heed)
        self._liveness.begin()
        steps = [(name, self._patiently(name, act)) for name, act in STEPS]
        self._engine.serve(steps, places=self._wish.places, labels=self._wish.labels)
        self._say(
            f"worker {self._host.executor}: {self._wish.places} places, labels {self._wish.labels or 'none'}"
        )
        empty_since = float("inf")
        while not self._stop.wait(_TICK_S):
            if self._wish.until_empty:
                now = time.monotonic()
                empty_since = min(empty_since, now) if self._is_empty() else float("inf")
                if now - empty_since > _EMPTY_S:
                    break
        self._drain()
        sys.stdout.flush()
        os._exit(Outcome.FAILED.exit_code if self._problem else 0)

    def _is_empty(self) -> bool:
        if self._active:
            return False
        waiting = {UnitState.QUEUED, UnitState.WORKING}
        mine = set(self._wish.labels)
        return not any(
            one.state in waiting and set(one.submission.labels) <= mine for one in self._engine.units()
        )

    # --- the steps ------------------------------------------------------------------------------------------

    def _patiently(self, name: str, act: Act) -> Callable[[Submission, dict[str, Any]], dict[str, Any]]:
        """Return a step that waits for a database that is away, and stays put if the run goes elsewhere."""

        def step(submission: Submission, before: dict[str, Any]) -> dict[str, Any]:
            if self._host.draining.is_set() and name != "finish":
                self._leave(submission.id)
            self._active.add(submission.id)
            while True:
                try:
                    result = act(self._host, submission, before)
                except sa.exc.SQLAlchemyError as error:
                    log.warning("fleet.database.away", error=type(error).__name__, step=name)
                    time.sleep(_AGAIN_S)
                    continue
                except DiskFullError as error:
                    self._end_because(str(error))
                    self._leave(submission.id)
                except MovedError:
                    self._leave(submission.id)
                except ClaimLostError as error:
                    result = self._without_claim(submission, error)
                except Exception:  # noqa: BLE001  a defect of sq's must not lose a submission
                    lines = traceback.format_exc(limit=-3).strip().splitlines()
                    self._say(f"{submission.id}: step {name} failed", *lines)
                    failed = self._failed(f"unexpected: {lines[-1]}, in {lines[-3].strip()}")
                    result = failed["report"] if name == "finish" else failed
                self._active.discard(submission.id)
                self._told(name, submission, result)
                return result

        return step

    def _told(self, name: str, submission: Submission, result: dict[str, Any]) -> None:
        if name == "finish":
            self._say(f"{submission.id} {result['outcome']} {result['run']} {result['problem']}".rstrip())

    def _end_because(self, problem: str) -> None:
        """Let the worker end: on this host each run would fail, and the next worker's may not."""
        self._say(f"worker {self._host.executor} ends, because {problem}")
        self._problem = problem
        self._stop.set()

    def _leave(self, id_: str) -> NoReturn:
        """Let a workflow stay as it is until the process ends: another worker begins its step anew."""
        self._put_down.add(id_)
        while True:
            time.sleep(_LOST_S)

    def _without_claim(self, submission: Submission, error: ClaimLostError) -> dict[str, Any]:
        if self._host.lost.wait(_LOST_S) or self._host.draining.is_set():
            self._leave(submission.id)
        return self._failed(
            f"{error}, and no worker of this fleet has. Somebody else writes to refs/sq-fleet"
        )

    def _failed(self, problem: str) -> dict[str, Any]:
        report = Report(outcome=Outcome.FAILED, problem=problem, host=self._host.name)
        return {"report": report.as_data()}

    # --- the end --------------------------------------------------------------------------------------------

    def _heed(self, number: int, _frame: object) -> None:
        if self._stop.is_set():
            os._exit(128 + number)  # the supervisors of all runs end them
        self._stop.set()

    def _drain(self) -> None:
        """Put all runs down, push them, and give them back."""
        self._engine.drain()
        self._host.draining.set()
        until = time.monotonic() + DRAIN_S
        while self._active - self._put_down and time.monotonic() < until:
            time.sleep(_TICK_S)
        self._liveness.stop()
        moved = self._engine.release(self._host.executor)
        self._liveness.end()
        self._say(f"worker {self._host.executor} has ended, and given back {len(moved)} runs")

    def _take_over(self, executor: str, why: str) -> None:
        ids = self._engine.release(executor)
        self._ledger.count_deaths(ids)
        self._say(f"worker {executor} is gone ({why}): {len(ids)} runs go back into their queues")

    def _end_at_once(self) -> NoReturn:
        """End this process, and with it the process trees of all runs, before anything else is written."""
        os._exit(Outcome.FAILED.exit_code)  # the supervisors see that, and end them


def locks_of(url: str, database: sa.Engine) -> FileLocks | SessionLocks:
    """Return the locks of a database's workers."""
    parsed = sa.make_url(url)
    if parsed.get_backend_name() == "sqlite":
        return FileLocks(Path(f"{parsed.database}.workers"))
    return SessionLocks(database)
