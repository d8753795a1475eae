"""sq's own tables beside the engine's: workers and their heartbeats, progress, and budgets of the fleet."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_type_hints

import msgspec
import sqlalchemy as sa

from orchestrator.fleet.records import UNDER_WAY, Engine, Progress

_META = sa.MetaData()
_KINDS = {str: sa.Text, int: sa.BigInteger, float: sa.Float}


def _table(name: str, /, **columns: type) -> sa.Table:
    """Return a table whose key is the first column."""
    key = next(iter(columns))
    kinds: dict[str, Any] = {one: _KINDS[kind] for one, kind in columns.items()}
    made = [sa.Column(one, kind, primary_key=one == key, nullable=False) for one, kind in kinds.items()]
    return sa.Table(f"sq_fleet_{name}", _META, *made)


_PROGRESS = _table("progress", id=str, **get_type_hints(Progress))
_POOLS = _table("pools", name=str, limit_usd=float)
_RESERVED = _table("reservations", id=str, pool=str, reserved_usd=float, spent_usd=float)
WORKING, EVICTED = "working", "evicted"
_LARGEST = 2**31  # dollars: no limit


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerRow:
    """A worker as it has said it. `beats` grows while it lives."""

    executor: str
    host: str
    pid: int
    places: int
    labels: str
    version: str
    beats: int = 0
    state: str = WORKING


_WORKERS = _table("workers", **get_type_hints(WorkerRow))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """A budget in dollars: its limit (None: none), what runs under way have reserved, and what is spent."""

    name: str
    limit_usd: float | None
    reserved_usd: float
    spent_usd: float


class FleetLedger:
    """The tables of one database. Each method is one transaction."""

    def __init__(self, database: sa.Engine) -> None:
        """Make the tables where they are missing."""
        self.database = database
        found = set(sa.inspect(database).get_table_names())
        if not set(_META.tables) <= found:
            with database.begin() as connection:
                if database.dialect.name == "postgresql":  # two first users at once
                    connection.execute(sa.text("SELECT pg_advisory_xact_lock(7717001)"))
                _META.create_all(connection)

    def _run(self, statement: sa.Update | sa.Insert | sa.Delete) -> int:
        """Run one statement, and return how many rows it changed."""
        with self.database.begin() as connection:
            return connection.execute(statement).rowcount

    # --- workers --------------------------------------------------------------------------------------------

    def enter(self, worker: WorkerRow) -> None:
        """Write a new worker down."""
        values = {name: getattr(worker, name) for name in WorkerRow.__slots__}
        self._run(_WORKERS.insert().values(values))

    def beat(self, executor: str) -> bool:
        """Let a worker's heart beat. False: another one has taken over its work."""
        mine = sa.and_(_WORKERS.c.executor == executor, _WORKERS.c.state != EVICTED)
        return bool(self._run(_WORKERS.update().where(mine).values(beats=_WORKERS.c.beats + 1)))

    def workers(self) -> list[WorkerRow]:
        """Return the workers, those taken over too until they are gone."""
        with self.database.begin() as connection:
            rows = connection.execute(sa.select(_WORKERS).order_by(_WORKERS.c.executor))
            return [WorkerRow(**row) for row in rows.mappings()]

    def neighbours(self, executor: str, most: int) -> list[WorkerRow]:
        """Return the workers that come after this one in the order of their ids, as in a ring."""
        with self.database.begin() as connection:
            ordered = sa.select(_WORKERS).order_by(_WORKERS.c.executor).limit(most)
            rows = [*connection.execute(ordered.where(_WORKERS.c.executor > executor)).mappings()]
            if len(rows) < most:
                rows += connection.execute(ordered.where(_WORKERS.c.executor < executor)).mappings()
            return [WorkerRow(**row) for row in rows[:most]]

    def evict(self, executor: str, beats: int) -> bool:
        """Let a worker that hangs know that it has lost its work.

        True for one caller, if its heart stood still.
        """
        still = (_WORKERS.c.executor == executor, _WORKERS.c.beats == beats, _WORKERS.c.state != EVICTED)
        return bool(self._run(_WORKERS.update().where(*still).values(state=EVICTED)))

    def leave(self, executor: str) -> None:
        """Forget a worker."""
        self._run(_WORKERS.delete().where(_WORKERS.c.executor == executor))

    # --- progress -------------------------------------------------------------------------------------------

    def claim(self, id_: str, executor: str) -> Progress:
        """Note that a worker begins to work on a submission, and return how it stands."""
        before = self.progress([id_]).get(id_, Progress())
        self.note(id_, executor=executor, phase="claimed", claims=before.claims + 1)
        return self.progress([id_])[id_]

    def note(self, id_: str, **values: Any) -> None:  # noqa: ANN401  columns
        """Note something of a submission. A number that is not given stays as it is."""
        with self.database.begin() as connection:
            row = connection.execute(_PROGRESS.update().where(_PROGRESS.c.id == id_).values(values))
            if not row.rowcount:
                first = {"id": id_, **msgspec.to_builtins(Progress()), **values}
                connection.execute(_PROGRESS.insert().values(first))

    def count_deaths(self, ids: Sequence[str]) -> None:
        """Note that the worker of these submissions has died."""
        self._run(_PROGRESS.update().where(_PROGRESS.c.id.in_(ids)).values(deaths=_PROGRESS.c.deaths + 1))

    def progress(self, ids: Sequence[str] = ()) -> dict[str, Progress]:
        """Return the progress of these submissions, or of all."""
        with self.database.begin() as connection:
            query = sa.select(_PROGRESS)
            rows = connection.execute(query.where(_PROGRESS.c.id.in_(ids)) if ids else query).mappings()
            return {row["id"]: Progress(**{name: row[name] for name in row if name != "id"}) for row in rows}

    # --- budgets --------------------------------------------------------------------------------------------

    def set_budget(self, pool: str, limit_usd: float | None) -> None:
        """Set or remove the limit of a budget."""
        with self.database.begin() as connection:
            connection.execute(_POOLS.delete().where(_POOLS.c.name == pool))
            if limit_usd is not None:
                connection.execute(_POOLS.insert().values(name=pool, limit_usd=limit_usd))

    def pools(self) -> list[Pool]:
        """Return each budget that has a limit or was used."""
        with self.database.begin() as connection:
            limits = {row.name: row.limit_usd for row in connection.execute(sa.select(_POOLS))}
            sums = connection.execute(
                sa.select(
                    _RESERVED.c.pool,
                    sa.func.sum(_RESERVED.c.reserved_usd),
                    sa.func.sum(_RESERVED.c.spent_usd),
                ).group_by(_RESERVED.c.pool)
            )
            used = {pool: (reserved, spent) for pool, reserved, spent in sums}
        return [
            Pool(name=name, limit_usd=limits.get(name), reserved_usd=reserved, spent_usd=spent)
            for name in sorted({*limits, *used})
            for reserved, spent in [used.get(name, (0.0, 0.0))]
        ]

    def reserve(self, id_: str, pool: str, usd: float) -> float | None:
        """Reserve money for a run before it begins, and return None, or what is left if it is less.

        Twice is once. What an earlier run of the same submission spent stays counted.
        """
        with self.database.begin() as connection:
            limit = self._locked_limit(connection, pool)
            mine = connection.execute(sa.select(_RESERVED).where(_RESERVED.c.id == id_)).first()
            others = sa.select(sa.func.sum(_RESERVED.c.reserved_usd + _RESERVED.c.spent_usd)).where(
                _RESERVED.c.pool == pool, _RESERVED.c.id != id_
            )
            spent = mine.spent_usd if mine else 0.0
            left = limit - (connection.execute(others).scalar() or 0.0) - spent
            if usd > left or (not usd and limit < _LARGEST):  # without a budget it could cost anything
                return max(0.0, left)
            connection.execute(_RESERVED.delete().where(_RESERVED.c.id == id_))
            connection.execute(
                _RESERVED.insert().values(id=id_, pool=pool, reserved_usd=usd, spent_usd=spent)
            )
            return None

    def settle(self, id_: str, spent_usd: float) -> None:
        """Replace the reservation of a run by what it has cost, all its claims together. Twice is once."""
        mine = _RESERVED.update().where(_RESERVED.c.id == id_)
        self._run(mine.values(reserved_usd=0.0, spent_usd=spent_usd))

    def settle_abandoned(self, engine: Engine) -> None:
        """Settle what has ended while no worker had it: in a queue, or when its worker was dead."""
        with self.database.begin() as connection:
            held = sa.select(_RESERVED.c.id).where(_RESERVED.c.reserved_usd > 0)
            ids = [*connection.execute(held).scalars()]
        there, progress = {one.executor for one in self.workers()}, self.progress(ids)
        for unit in engine.units(ids) if ids else ():
            now = progress.get(unit.id, Progress())
            is_held = now.phase in UNDER_WAY and now.executor in there
            if unit.exit_code is not None and not is_held:
                self.settle(unit.id, now.cost_usd)

    def _locked_limit(self, connection: sa.Connection, pool: str) -> float:
        """Return the limit of a budget, and let no other transaction reserve until this one ends."""
        if connection.dialect.name == "postgresql":
            connection.execute(sa.text("SELECT pg_advisory_xact_lock(7717002)"))
        else:  # SQLite begins to hold its lock with the first statement that writes
            connection.execute(_POOLS.delete().where(sa.false()))
        found = connection.execute(sa.select(_POOLS.c.limit_usd).where(_POOLS.c.name == pool)).scalar()
        return _LARGEST if found is None else float(found)
