"""The port of the fleet in memory: what another engine would have to do, in a hundred lines."""

import threading
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from orchestrator.fleet.records import FleetLimits, Step, Submission, Unit, UnitState, report_of

_ACTIVE = {UnitState.QUEUED, UnitState.WORKING}


@dataclass
class _Row:
    submission: Submission
    at: float
    state: UnitState = UnitState.QUEUED
    executor: str = ""
    claim: int = 0
    results: dict[str, dict[str, Any]] = field(default_factory=dict)
    output: dict[str, Any] | None = None


class Memory:
    """What the workers of one fleet share, as they share a database."""

    def __init__(self) -> None:
        self.rows: dict[str, _Row] = {}
        self.limits = FleetLimits()
        self.lock = threading.RLock()


class DoubleEngine:
    def __init__(self, memory: Memory, executor: str = "") -> None:
        self._memory, self._executor = memory, executor
        self._places = 0
        self._stop = threading.Event()

    def submit(self, submission: Submission) -> bool:
        with self._memory.lock:
            if submission.id in self._memory.rows:
                return False
            self._memory.rows[submission.id] = _Row(submission, time.time())
            return True

    def units(self, ids: Collection[str] = ()) -> list[Unit]:
        with self._memory.lock:
            return [
                Unit(
                    id=id_,
                    submission=row.submission,
                    state=row.state,
                    executor=row.executor,
                    report=report_of(row.output) if row.output and row.state is UnitState.ENDED else None,
                    submitted_at=row.at,
                )
                for id_, row in self._memory.rows.items()
                if not ids or id_ in ids
            ]

    def serve(self, steps: Sequence[Step], *, places: int, labels: Sequence[str]) -> None:
        self._places = places
        threading.Thread(target=self._claim, args=(steps, frozenset(labels)), daemon=True).start()

    def _claim(self, steps: Sequence[Step], labels: frozenset[str]) -> None:
        while not self._stop.wait(0.02):
            with self._memory.lock:
                rows = self._memory.rows.values()
                working = [one for one in rows if one.state is UnitState.WORKING]
                mine = sum(one.executor == self._executor for one in working)
                fitting = [
                    one
                    for one in rows
                    if one.state is UnitState.QUEUED
                    and set(one.submission.labels) <= labels
                    and sum(o.submission.repository == one.submission.repository for o in working)
                    < (self._memory.limits.repository or 10**6)
                ]
                if not fitting or mine >= self._places:
                    continue
                row = min(fitting, key=lambda one: (one.submission.priority, one.at))
                row.state, row.executor, row.claim = UnitState.WORKING, self._executor, row.claim + 1
            threading.Thread(target=self._work, args=(row, row.claim, steps), daemon=True).start()

    def _work(self, row: _Row, claim: int, steps: Sequence[Step]) -> None:
        result: dict[str, Any] = {}
        for name, step in steps:
            if name in row.results:
                result = row.results[name]
                continue
            result = step(row.submission, result)
            with self._memory.lock:
                if row.claim != claim or row.state is not UnitState.WORKING:
                    return  # fenced: another one has it, or it was cancelled
                row.results[name] = result
        with self._memory.lock:
            if row.claim == claim and row.state is UnitState.WORKING:
                row.state, row.output = UnitState.ENDED, result

    def drain(self) -> None:
        self._places = 0

    def release(self, executor: str) -> list[str]:
        with self._memory.lock:
            found = {
                id_: row
                for id_, row in self._memory.rows.items()
                if row.state is UnitState.WORKING and row.executor == executor
            }
            for row in found.values():
                row.state, row.claim = UnitState.QUEUED, row.claim + 1
            return list(found)

    def cancel(self, id_: str) -> bool:
        with self._memory.lock:
            row = self._memory.rows.get(id_)
            if row is None or row.state not in _ACTIVE:
                return False
            row.state = UnitState.CANCELLED
            return True

    def again(self, id_: str) -> bool:
        with self._memory.lock:
            row = self._memory.rows.get(id_)
            if row is None or row.state in _ACTIVE:
                return False
            row.state, row.results, row.output = UnitState.QUEUED, {}, None
            row.claim += 1
            return True

    def limit(self, limits: FleetLimits | None = None) -> FleetLimits:
        self._memory.limits = limits or self._memory.limits
        return self._memory.limits

    def close(self) -> None:
        self._stop.set()
