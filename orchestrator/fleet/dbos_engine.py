"""The port on DBOS: the only module that imports it.

One workflow a submission, whose id is the submission's. A queue for each set of labels, a partition for each
repository. The application version is the protocol, so that an update of sq strands no submission.
"""

import logging
import sqlite3
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import combinations
from pathlib import Path
from typing import Any

import dbos
import sqlalchemy as sa
from dbos import DBOS, DBOSClient, DBOSConfig, EnqueueOptions

from orchestrator.fleet.records import (
    PROTOCOL,
    FleetLimits,
    Step,
    Submission,
    Unit,
    UnitState,
    queue_of,
    report_of,
    submission_of,
)

_NAME = "sq-fleet"
_WORKFLOW = "unit"
_POLL_S = 0.5
_POOL = 2
_MINUTE = 60.0
_STATES = {
    "ENQUEUED": UnitState.QUEUED,
    "DELAYED": UnitState.QUEUED,
    "PENDING": UnitState.WORKING,
    "SUCCESS": UnitState.ENDED,
    "CANCELLED": UnitState.CANCELLED,
}
_MOST = 1_000_000  # runs of a repository at once where there is no limit: a queue stays one with partitions
_LONGEST = 600  # characters of an error
_RARELY_S = 2.0  # between looks for what sq does not use: schedules and messages


def database_engine(url: str) -> sa.Engine:
    """Return the connections to a database: a file of SQLite, which survives a power cut, or PostgreSQL."""
    parsed = sa.make_url(url)
    if parsed.get_backend_name() != "sqlite":
        alive = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3, "connect_timeout": 5}
        named = parsed.set(drivername="postgresql+psycopg")
        return sa.create_engine(
            named, pool_size=_POOL, max_overflow=2, pool_pre_ping=True, connect_args=alive
        )
    with suppress(OSError):  # SQLite says it
        Path(parsed.database or "").parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    engine = sa.create_engine(parsed)
    sa.event.listen(engine, "connect", _prepare_sqlite)
    return engine


def _prepare_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = "IMMEDIATE"
    if sqlite3.sqlite_version_info < (3, 42):  # whose `unixepoch` has no subseconds
        connection.create_function("unixepoch", -1, lambda *_words: time.time())
    for setting in ("busy_timeout=30000", "foreign_keys=ON", "journal_mode=WAL", "synchronous=FULL"):
        connection.execute(f"PRAGMA {setting}")


class DbosEngine:
    """As the port. `serve` starts DBOS in this process, which can be done once at a time."""

    def __init__(self, url: str, *, executor: str = "", protocol: str = PROTOCOL) -> None:
        """Connect, and make the tables where they are missing.

        Raises:
            sqlalchemy.exc.SQLAlchemyError: the database does not answer.
        """
        logging.getLogger("dbos").setLevel(logging.ERROR)
        self._executor, self._protocol = executor, protocol
        self.database = database_engine(url)
        self._serializer = dbos.DBOSPortableJSONSerializer()
        self._places = 0
        self._runtime: DBOS | None = None
        self._working: dict[str, int] = {}  # by queue
        self._lock = threading.Lock()
        _make_tables(url, self.database)
        self._client = DBOSClient(
            system_database_engine=self.database,
            serializer=self._serializer,
            application_name=_NAME,
            retry_connection_errors=False,  # runs go on and workers end without a database
        )

    # --- of any process -------------------------------------------------------------------------------------

    def submit(self, submission: Submission) -> bool:
        id_, known = submission.id, self.units([submission.id])
        if known:
            return False
        self._ensure_queue(submission.queue)
        options: EnqueueOptions = {
            "workflow_name": _WORKFLOW,
            "queue_name": submission.queue,
            "workflow_id": id_,
            "app_version": self._protocol,
            "priority": submission.priority,
            "queue_partition_key": submission.repository,
        }
        self._client.enqueue(options, submission.as_data())
        return True

    def units(self, ids: Collection[str] = ()) -> list[Unit]:
        found = self._client.list_workflows(workflow_ids=list(ids) or None, name=_WORKFLOW)
        return [_unit_of(one) for one in found]

    def release(self, executor: str) -> list[str]:
        held = self._client.list_workflows(
            executor_id=executor, status="PENDING", name=_WORKFLOW, load_input=False, load_output=False
        )
        for queue in {one.queue_name for one in held if one.queue_name}:
            ids = [one.workflow_id for one in held if one.queue_name == queue]
            self._client.resume_workflows(ids, queue_name=queue)
        return [one.workflow_id for one in held]

    def cancel(self, id_: str) -> bool:
        if not any(one.state in {UnitState.QUEUED, UnitState.WORKING} for one in self.units([id_])):
            return False
        self._client.cancel_workflow(id_)
        return True

    def again(self, id_: str) -> bool:
        unit = next(iter(self.units([id_])), None)
        if unit is None or unit.state in {UnitState.QUEUED, UnitState.WORKING}:
            return False
        self._client.rewind_workflow(
            id_,
            application_version=self._protocol,
            queue_name=unit.submission.queue,
            queue_partition_key=unit.submission.repository,
        )
        return True

    def limit(self, limits: FleetLimits | None = None) -> FleetLimits:
        """They are those of each queue."""
        if limits:
            names = {one.name for one in self._client.list_queues()} | {queue_of(())}
            for name in names:
                self._register(name, limits, always=True)
        self._ensure_queue(queue_of(()))
        queue = self._client.retrieve_queue(queue_of(()))
        rate, most = (queue.limiter, queue.partition_concurrency) if queue else (None, None)
        return FleetLimits(
            repository=None if most == _MOST else most,
            total=queue.global_concurrency if queue else None,
            per_minute=round(rate["limit"] * _MINUTE / rate["period"]) if rate else None,
        )

    def _ensure_queue(self, name: str) -> None:
        plain = self._client.retrieve_queue(queue_of(())) if name != queue_of(()) else None
        self._register(name, self.limit() if plain else FleetLimits(), always=False)

    def _register(self, name: str, limits: FleetLimits, *, always: bool) -> None:
        rate = limits.per_minute
        self._client.register_queue(
            name,
            worker_concurrency=1,  # until a worker's own number holds (`_own_places`)
            partition_concurrency=limits.repository or _MOST,
            global_concurrency=limits.total,
            limiter={"limit": rate, "period": _MINUTE} if rate else None,
            polling_interval_sec=_POLL_S,
            on_conflict="always_update" if always else "never_update",
        )

    def close(self) -> None:
        if self._runtime:
            self._runtime = None
            DBOS.destroy(destroy_registry=True)
        self._client.destroy()
        self.database.dispose()

    # --- of a worker ----------------------------------------------------------------------------------------

    def serve(self, steps: Sequence[Step], *, places: int, labels: Sequence[str]) -> None:
        self._ensure_queue(queue_of(()))
        self._places = places

        def unit(data: dict[str, Any]) -> dict[str, Any]:
            submission, result = submission_of(data), dict[str, Any]()
            with self._counted(submission.queue):
                for name, step in steps:
                    result = DBOS.run_step({"name": name}, step, submission, result)
            return result

        self._runtime = DBOS(config=self._config())
        DBOS.workflow(name=_WORKFLOW)(unit)
        DBOS.listen_queues([queue_of(some) for some in _subsets(labels)])
        DBOS.launch()
        self._own_places()

    def drain(self) -> None:
        self._places = 0

    def _own_places(self) -> None:
        """Let the number of places be this worker's own.

        DBOS keeps one number for all workers in the queue's row, and reads the row before each claim.
        There is no public way to say another, so the row that it reads is changed on its way
        (`test_port.py` notices if not).
        """
        database: Any = self._runtime._sys_db if self._runtime else None  # noqa: SLF001
        read = database.get_queue

        def get_queue(name: str, **more: Any) -> dbos.Queue | None:  # noqa: ANN401  as DBOS has it
            queue: dbos.Queue | None = read(name, **more)
            if queue and name.startswith(queue_of(())):
                others = sum(count for other, count in self._working.items() if other != name)
                queue._worker_concurrency = max(0, self._places - others)  # noqa: SLF001
            return queue

        database.get_queue = get_queue

    @contextmanager
    def _counted(self, queue: str) -> Iterator[None]:
        with self._lock:
            self._working[queue] = self._working.get(queue, 0) + 1
        try:
            yield
        finally:
            with self._lock:
                self._working[queue] -= 1

    def _config(self) -> DBOSConfig:
        return {
            "name": _NAME,
            "system_database_engine": self.database,
            "application_version": self._protocol,
            "executor_id": self._executor,
            "serializer": self._serializer,
            "log_level": "CRITICAL",
            "use_listen_notify": False,
            "run_migrations": False,
            "scheduler_polling_interval_sec": _RARELY_S,
            "notification_listener_polling_interval_sec": _RARELY_S,
        }


def _make_tables(url: str, database: sa.Engine) -> None:
    """Make DBOS's tables, unless they are there."""
    schema = None if database.dialect.name == "sqlite" else "dbos"
    if not sa.inspect(database).has_table("workflow_status", schema=schema):
        DBOS.migrate(url)


def _subsets(labels: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield each set of labels that work may ask for so that a worker with these ones fits."""
    for size in range(len(labels) + 1):
        yield from combinations(sorted(labels), size)


def _unit_of(found: dbos.WorkflowStatus) -> Unit:
    (data, *_), output = (found.input or {"args": ({},)})["args"], found.output
    return Unit(
        id=found.workflow_id,
        submission=submission_of(data),
        state=_STATES.get(found.status, UnitState.BROKEN),
        executor=found.executor_id or "" if found.status != "ENQUEUED" else "",
        report=report_of(output) if output and found.status == "SUCCESS" else None,
        error=str(found.error or "")[:_LONGEST],
        submitted_at=(found.created_at or 0) / 1000,
    )
