"""Budgets over the fleet, and hearts that beat."""

import threading

import pytest
from language.postgres import PostgresServer

from orchestrator.fleet.dbos_engine import database_engine
from orchestrator.fleet.ledger import EVICTED, FleetLedger, Pool, WorkerRow


@pytest.fixture(params=["sqlite", "postgresql"])
def ledger(request: pytest.FixtureRequest, tmp_path):
    url = f"sqlite:///{tmp_path}/fleet.db"
    if request.param == "postgresql":
        url = request.getfixturevalue("database")
    database = database_engine(url)
    yield FleetLedger(database)
    database.dispose()


def test_a_budget_is_reserved_before_a_run_and_settled_with_what_it_cost(ledger: FleetLedger) -> None:
    ledger.set_budget("team", 10.0)

    assert ledger.reserve("a", "team", 6.0) is None
    assert ledger.reserve("a", "team", 6.0) is None, "twice is once"
    assert ledger.reserve("b", "team", 6.0) == 4.0
    ledger.settle("a", 1.5)
    ledger.settle("a", 1.5)
    assert ledger.reserve("b", "team", 6.0) is None

    assert ledger.pools() == [Pool(name="team", limit_usd=10.0, reserved_usd=6.0, spent_usd=1.5)]


def test_what_a_run_has_spent_stays_spent_when_it_is_tried_again(ledger: FleetLedger) -> None:
    ledger.set_budget("team", 10.0)
    ledger.reserve("a", "team", 6.0)
    ledger.settle("a", 5.0)

    assert ledger.reserve("a", "team", 6.0) == 5.0
    assert ledger.reserve("a", "team", 5.0) is None
    ledger.settle("a", 7.0)
    assert ledger.pools()[0].spent_usd == 7.0


def test_a_run_without_a_budget_does_not_begin_where_there_is_a_limit(ledger: FleetLedger) -> None:
    assert ledger.reserve("a", "team", 0.0) is None
    ledger.set_budget("team", 10.0)
    assert ledger.reserve("b", "team", 0.0) == 10.0


@pytest.mark.parametrize("pool", ["one", "two", "three", "four"])
def test_many_that_reserve_at_once_never_exceed_a_budget(ledger: FleetLedger, pool: str) -> None:
    ledger.set_budget(pool, 10.0)
    granted: list[bool] = []
    together = threading.Barrier(8)

    def reserve(number: int) -> None:
        together.wait()
        granted.append(ledger.reserve(f"r{number}", pool, 3.0) is None)

    threads = [threading.Thread(target=reserve, args=(number,)) for number in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()

    assert sum(granted) == 3
    assert next(one for one in ledger.pools() if one.name == pool).reserved_usd == 9.0


def test_a_budget_without_a_limit_takes_all(ledger: FleetLedger) -> None:
    assert ledger.reserve("a", "default", 1_000_000.0) is None
    ledger.set_budget("default", 5.0)
    assert ledger.reserve("b", "default", 1.0) == 0.0
    ledger.set_budget("default", None)
    assert ledger.reserve("b", "default", 1.0) is None


def worker(name: str) -> WorkerRow:
    return WorkerRow(executor=name, host="h", pid=1, places=1, labels="", version="v")


def test_a_heart_that_stood_still_is_evicted_by_one_alone_and_beats_no_more(ledger: FleetLedger) -> None:
    ledger.enter(worker("a"))
    assert ledger.beat("a")
    (row,) = ledger.workers()

    assert ledger.evict("a", row.beats - 1) is False, "it has beaten meanwhile"
    assert [ledger.evict("a", row.beats) for _ in range(2)] == [True, False]

    assert ledger.workers()[0].state == EVICTED
    assert ledger.beat("a") is False
    ledger.leave("a")
    assert ledger.workers() == []


def test_neighbours_are_those_that_follow_in_a_ring(ledger: FleetLedger) -> None:
    for name in "abcde":
        ledger.enter(worker(name))

    assert [one.executor for one in ledger.neighbours("d", 3)] == ["e", "a", "b"]
    assert [one.executor for one in ledger.neighbours("a", 9)] == ["b", "c", "d", "e"]


def test_deaths_count_for_what_a_dead_worker_held(ledger: FleetLedger) -> None:
    ledger.claim("x", "a")
    ledger.count_deaths(["x", "unknown"])

    progress = ledger.claim("x", "b")

    assert (progress.claims, progress.deaths, progress.executor) == (2, 1, "b")


def test_the_tables_are_made_once_by_many_first_users(server: PostgresServer) -> None:
    url = server.new_database("first_users")
    databases = [database_engine(url) for _ in range(5)]
    failed: list[BaseException] = []

    def make(number: int) -> None:
        try:
            FleetLedger(databases[number])
        except Exception as error:  # noqa: BLE001
            failed.append(error)

    threads = [threading.Thread(target=make, args=(number,)) for number in range(5)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    for one in databases:
        one.dispose()
    assert failed == []
