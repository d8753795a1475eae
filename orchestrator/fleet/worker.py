"""A worker: claims submissions, works on several at once, looks after its neighbours, and stops in order."""

import os
import signal
import socket
import sys
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import sqlalchemy as sa
import structlog

from agents.process.containment import detect_containment
from orchestrator.fleet.dbos_engine import DbosEngine
from orchestrator.fleet.host import CHECKPOINT_S, OWN_PROGRAM, Host, MovedError, WorkerPolicy
from orchestrator.fleet.ledger import FleetLedger, WorkerRow
from orchestrator.fleet.liveness import FileLocks, Liveness, locks_of
from orchestrator.fleet.records import PROTOCOL, Submission, UnitState
from orchestrator.fleet.transport import UnfitHostError
from orchestrator.fleet.unit import STEPS
from state.errors import UsageError
from state.outcome import Outcome

log = structlog.get_logger(__name__)

Say = Callable[..., None]  # prints each of its texts as a line
Act = Callable[[Host, Submission, dict[str, Any]], dict[str, Any]]
DRAIN_S = 55.0
_FOR_GOOD_S = 3600.0
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
        steps = [(name, self._step(act)) for name, act in STEPS]
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
        try:
            units = self._engine.units()
        except sa.exc.SQLAlchemyError:  # away: it may hold work
            return False
        return not any(one.state in waiting and set(one.submission.labels) <= mine for one in units)

    # --- the steps ------------------------------------------------------------------------------------------

    def _step(self, act: Act) -> Callable[[Submission, dict[str, Any]], dict[str, Any]]:
        """Return a step that stays put if its run goes on elsewhere."""

        def step(submission: Submission, before: dict[str, Any]) -> dict[str, Any]:
            if self._host.draining.is_set():
                self._leave(submission.id)
            self._active.add(submission.id)
            try:
                result = act(self._host, submission, before)
            except UnfitHostError as error:
                self._end_because(f"{submission.id} cannot be worked on here: {error}")
                self._leave(submission.id)
            except MovedError:
                self._leave(submission.id)
            self._active.discard(submission.id)
            self._say(f"{submission.id} {result['outcome']} {result['run']} {result['problem']}".rstrip())
            return result

        return step

    def _end_because(self, problem: str) -> None:
        """Let the worker end: on this host each run would fail, and the next worker's may not."""
        self._say(f"worker {self._host.executor} ends, because {problem}")
        self._problem = problem
        self._stop.set()

    def _leave(self, id_: str) -> NoReturn:
        """Let a workflow stay as it is until the process ends: another worker begins its step anew."""
        self._put_down.add(id_)
        while True:
            time.sleep(_FOR_GOOD_S)

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
        try:
            moved = self._engine.release(self._host.executor)
            self._liveness.stop()
            moved += self._engine.release(self._host.executor)  # claimed in the moment of the first look
            self._liveness.end()
        except sa.exc.SQLAlchemyError:
            self._problem = "the database is away. Another worker takes its runs as soon as it is back"
            self._say(f"worker {self._host.executor} ends, and {self._problem}")
        else:
            self._say(f"worker {self._host.executor} has ended, and given back {len(moved)} runs")

    def _take_over(self, executor: str, why: str, is_dead: bool) -> None:
        ids = self._engine.release(executor)
        if is_dead:
            self._ledger.count_deaths(ids)
        self._say(f"worker {executor} is gone ({why}): {len(ids)} runs go back into their queues")

    def _end_at_once(self) -> NoReturn:
        """End this process, and with it the process trees of all runs, before anything else is written."""
        os._exit(Outcome.FAILED.exit_code)  # the supervisors see that, and end them
