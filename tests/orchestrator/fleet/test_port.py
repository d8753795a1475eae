"""The contract of the port, which holds for DBOS on SQLite and on PostgreSQL and for the double in memory."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from language.fleet_double import DoubleEngine, Memory

from orchestrator.fleet.dbos_engine import DbosEngine
from orchestrator.fleet.records import Engine, FleetLimits, Report, Submission, UnitState
from state.outcome import Outcome

Make = Callable[..., Engine]
REPORT = Report(outcome=Outcome.COMPLETE, run="r", cost_usd=1.5)


def submission(number: int = 0, **about: Any) -> Submission:
    usual = {"repository": "/r", "base": "b", "branch": "main", "title": "t", "spec": str(number)}
    return Submission(**{**usual, **about})


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Make]:
    """Make engines of workers of one fleet, which are closed at the end."""
    made: list[Engine] = []
    memory = Memory()
    url = f"sqlite:///{tmp_path}/fleet.db"
    if request.param == "postgresql":
        url = request.getfixturevalue("database")

    def one(executor: str = "", **more: Any) -> Engine:
        made.append(
            DoubleEngine(memory, executor)
            if request.param == "memory"
            else DbosEngine(url, executor=executor, **more)
        )
        return made[-1]

    yield one
    for engine in made:
        engine.close()


def until(met: Callable[[], object], within_s: float = 20) -> None:
    end = time.monotonic() + within_s
    while not met():
        assert time.monotonic() < end
        time.sleep(0.02)


def state_of(engine: Engine, id_: str) -> UnitState:
    return engine.units([id_])[0].state


def test_a_submission_is_queued_once_whoever_makes_it_and_however_often(make: Make) -> None:
    engine = make()
    news = []

    def submit() -> None:
        news.append(engine.submit(submission()))

    threads = [threading.Thread(target=submit) for _ in range(10)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()

    (unit,) = engine.units()
    assert (unit.id, unit.state, unit.submission) == (submission().id, UnitState.QUEUED, submission())
    assert engine.submit(submission()) is False


def test_steps_are_taken_in_order_each_with_the_result_of_the_one_before(make: Make) -> None:
    engine = make("one")
    engine.submit(submission())
    seen: list[Any] = []

    def first(asked: Submission, before: dict[str, Any]) -> dict[str, Any]:
        seen.append(("first", asked.spec, before))
        return {"a": 1}

    def second(asked: Submission, before: dict[str, Any]) -> dict[str, Any]:
        seen.append(("second", asked.spec, before))
        return REPORT.as_data()

    engine.serve([("first", first), ("second", second)], places=1, labels=())

    until(lambda: state_of(engine, submission().id) is UnitState.ENDED)
    assert seen == [("first", "0", {}), ("second", "0", {"a": 1})]
    assert engine.units()[0].report == REPORT
    assert engine.units()[0].exit_code == 0


@pytest.mark.late
def test_a_worker_has_as_many_at_once_as_it_has_places(make: Make) -> None:
    engine = make("one")
    numbers = range(6)
    running: list[int] = []
    most: list[int] = []
    for number in numbers:
        engine.submit(submission(number, repository=f"/r{number % 3}"))

    def step(asked: Submission, before: dict[str, Any]) -> dict[str, Any]:
        running.append(1)
        most.append(len(running))
        time.sleep(0.3)
        running.pop()
        return REPORT.as_data()

    engine.serve([("step", step)], places=3, labels=())

    until(lambda: all(one.state is UnitState.ENDED for one in engine.units()))
    assert max(most) == 3


def test_a_repository_has_no_more_at_once_than_its_limit(make: Make) -> None:
    engine = make("one")
    engine.limit(FleetLimits(repository=1))
    assert engine.limit() == FleetLimits(repository=1)
    for number in range(3):
        engine.submit(submission(number))
    running: list[int] = []
    most: list[int] = []

    def step(asked: Submission, before: dict[str, Any]) -> dict[str, Any]:
        running.append(1)
        most.append(len(running))
        time.sleep(0.2)
        running.pop()
        return REPORT.as_data()

    engine.serve([("step", step)], places=3, labels=())

    until(lambda: all(one.state is UnitState.ENDED for one in engine.units()))
    assert max(most) == 1


def test_the_first_priority_is_first(make: Make) -> None:
    engine = make("one")
    seen: list[str] = []
    for number, priority in enumerate((300, 100, 200)):
        engine.submit(submission(number, priority=priority))

    def step(asked: Submission, before: dict[str, Any]) -> dict[str, Any]:
        seen.append(asked.spec)
        return REPORT.as_data()

    engine.serve([("step", step)], places=1, labels=())

    until(lambda: len(seen) == 3)
    assert seen == ["1", "2", "0"]


def test_work_with_labels_waits_for_a_worker_that_has_them_all(make: Make) -> None:
    engine = make("one")
    asked = {"plain": (), "gpu": ("gpu",), "both": ("docker", "gpu"), "other": ("mac",)}
    ids = {name: submission(n, labels=labels) for n, (name, labels) in enumerate(asked.items())}
    for one in ids.values():
        engine.submit(one)

    engine.serve([("step", lambda *_: REPORT.as_data())], places=2, labels=("gpu", "docker"))

    until(lambda: all(state_of(engine, ids[one].id) is UnitState.ENDED for one in ("plain", "gpu", "both")))
    assert state_of(engine, ids["other"].id) is UnitState.QUEUED


def test_what_a_worker_holds_goes_back_and_its_finished_steps_are_not_taken_again(make: Make) -> None:
    engine = make("one")
    engine.submit(submission())
    seen: list[str] = []
    held = threading.Event()

    def first(asked: Submission, before: dict[str, Any]) -> dict[str, Any]:
        seen.append("first")
        return {"a": 1}

    def second(asked: Submission, before: dict[str, Any]) -> dict[str, Any]:
        seen.append("second")
        if len(seen) == 2:
            held.wait(20)
            return Report(outcome=Outcome.FAILED).as_data()
        return REPORT.as_data()

    engine.serve([("first", first), ("second", second)], places=2, labels=())
    until(lambda: seen == ["first", "second"])

    assert engine.release("one") == [submission().id]
    until(lambda: state_of(engine, submission().id) is UnitState.ENDED)
    held.set()
    time.sleep(0.5)

    assert seen == ["first", "second", "second"]
    assert engine.units()[0].report == REPORT, "the one that was released is fenced"
    assert engine.release("nobody") == []


def test_a_cancelled_submission_takes_no_further_step_and_can_be_queued_again(make: Make) -> None:
    engine = make("one")
    asked = submission()
    engine.submit(asked)
    assert engine.cancel(asked.id) is True
    assert engine.cancel(asked.id) is False
    assert state_of(engine, asked.id) is UnitState.CANCELLED
    engine.serve([("step", lambda *_: REPORT.as_data())], places=1, labels=())
    time.sleep(1.2)
    assert state_of(engine, asked.id) is UnitState.CANCELLED
    assert engine.units()[0].exit_code == 130

    assert engine.again(asked.id) is True

    until(lambda: state_of(engine, asked.id) is UnitState.ENDED)
    assert engine.again("sq-unknown") is False
    assert engine.cancel(asked.id) is False


@pytest.mark.late
def test_a_worker_that_drains_claims_nothing_more(make: Make) -> None:
    engine = make("one")
    engine.serve([("step", lambda *_: REPORT.as_data())], places=1, labels=())
    engine.drain()
    time.sleep(1.2)
    engine.submit(submission())
    time.sleep(1.2)

    assert state_of(engine, submission().id) is UnitState.QUEUED
