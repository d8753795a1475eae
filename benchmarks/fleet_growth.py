"""A fleet on paper: how long runs wait, what the database and the git server bear, and what gives way first.

    python -m benchmarks.fleet_growth [--hosts 500] [--runs 10000] [--minutes 30] [--repositories 200]

First it measures here: the transactions of a worker that waits and of one run, the transactions a second that
PostgreSQL does by its own pgbench with four connections a processor, the bytes and the time of a push.
Then a simulation of discrete events (simpy) plays a day: runs come by a curve with a peak at noon,
repositories are asked for by Zipf's law, and each has a limit of runs at once. The length of a run is an
assumption (`--minutes`, lognormal), because that is the model's time and not sq's.

The last line is JSON.
"""

import math
import os
import random
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import click
import simpy

from benchmarks.figures import of_tests, percentile, print_figures

_fleets, _postgres = map(of_tests, ("language.fleets", "language.postgres"))

DAY_S = 86_400.0
PEAK = 2.5  # the rate at noon by the mean of the day
SPREAD = 0.8  # sigma of the lognormal length of a run
CONNECTIONS = 4  # the most of a worker (`database_engine`)
CHECKPOINT_S = 60.0
SEED = 20260131


@click.command()
@click.option("--hosts", default=500, show_default=True)
@click.option("--places", default=2, show_default=True, help="Of a host.")
@click.option("--runs", default=10_000, show_default=True, help="A day.")
@click.option("--minutes", default=30.0, show_default=True, help="The mean length of a run.")
@click.option("--repositories", default=200, show_default=True)
@click.option("--at-once", default=64, show_default=True, help="Runs of one repository at once.")
@click.option("--look-s", default=15.0, show_default=True, help="How long a measurement lasts.")
def main(
    hosts: int, places: int, runs: int, minutes: float, repositories: int, at_once: int, look_s: float
) -> None:
    """Play a day of a large fleet."""
    if why := _postgres.missing():
        sys.exit(f"nothing was measured: {why}")
    with _postgres.postgres(durable=True) as server, TemporaryDirectory(prefix="sq-growth-") as folder:
        here = _measured(server, Path(folder), look_s)
    day = Day(hosts * places, runs, minutes * 60, repositories, at_once)
    day.play()
    peak = day.most_at_once
    pushes = peak / CHECKPOINT_S + runs * PEAK / DAY_S * 3
    waiting, writing = hosts * here["idle_transactions_s"], runs * PEAK / DAY_S * here["run_transactions"]
    share = waiting / here["postgres_reads_s"] + writing / here["postgres_writes_s"]
    print_figures(
        {
            **here,
            "runs_at_once_peak": peak,
            "wait_s_median": round(median(day.waits), 1),
            "wait_s_95": round(percentile(day.waits, 95), 1),
            "wait_s_most": round(max(day.waits), 1),
            "waits_for_its_repository": round(day.held_by_repository / runs, 3),
            "database_transactions_s": round(waiting + writing),
            "database_share": round(share, 2),
            "database_connections": hosts * CONNECTIONS,
            "git_pushes_s": round(pushes, 1),
            "git_mb_s": round(pushes * here["push_kb"] / 1024, 2),
            "hosts_at_half_of_the_database": int(hosts / share / 2),
        }
    )


# --- what one worker and one database do here ---------------------------------------------------------------


def _measured(server: Any, folder: Path, look_s: float) -> dict[str, float]:
    url = server.new_database("growth")
    with _fleets.FleetHere(folder=folder / "fleet", url=url) as fleet:
        fleet.worker("one", "--checkpoint", "5")
        fleet.until(fleet.ledger.workers)
        time.sleep(3)
        began, before = time.monotonic(), _transactions(server)
        time.sleep(look_s)
        idle = (_transactions(server) - before) / (time.monotonic() - began)
        began, before = time.monotonic(), _transactions(server)
        id_ = fleet.submit(_fleets.scenario(work_s=1))
        fleet.until(lambda: fleet.unit(id_).exit_code is not None, step_s=2)
        seconds = time.monotonic() - began
        of_run = _transactions(server) - before - idle * seconds
        size = sum(one.stat().st_size for one in (fleet.server / "objects").rglob("*") if one.is_file())
        pushes = len([one for one in fleet.pushes() if one.worker == "one"])
    writes, reads = (_rate(server, kind, look_s) for kind in ("--skip-some-updates", "--select-only"))
    return {
        "idle_transactions_s": round(idle, 1),
        "run_transactions": round(max(of_run, 0.0)),
        "postgres_reads_s": round(reads),
        "postgres_writes_s": round(writes),
        "push_kb": round(size / 1024 / max(pushes, 1), 1),
    }


def _transactions(server: Any) -> int:
    query = "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = 'growth'"
    return int(server.query(f"SELECT pg_stat_clear_snapshot(); {query}").split()[-1])


def _rate(server: Any, kind: str, look_s: float) -> float:
    """Return how many transactions of a kind the server does in a second, by its own pgbench."""
    clients = str(4 * (os.cpu_count() or 1))
    server.pgbench("--initialize", "--quiet", "--no-vacuum")
    said = server.pgbench(kind, "--no-vacuum", f"--time={look_s:.0f}", f"--client={clients}", "--jobs=2")
    return float(said.rpartition("tps = ")[2].split()[0])


# --- a day --------------------------------------------------------------------------------------------------


class Day:
    """A day of runs on so many places. `waits` has the seconds of each from its submission to its claim."""

    def __init__(self, places: int, runs: int, length_s: float, repositories: int, at_once: int) -> None:
        self._runs, self._length_s = runs, length_s
        self._chance = random.Random(SEED)  # noqa: S311
        self._world = simpy.Environment()
        self._places = simpy.Resource(self._world, capacity=places)
        self._repositories = [simpy.Resource(self._world, capacity=at_once) for _ in range(repositories)]
        self._weights = [1 / (number + 1) for number in range(repositories)]
        self.waits: list[float] = []
        self.held_by_repository = 0
        self.most_at_once = 0

    def play(self) -> None:
        """Play the day to the end of its last run."""
        self._world.process(self._arrivals())
        self._world.run()

    def _arrivals(self) -> Any:
        mean_s = DAY_S / self._runs
        for _ in range(self._runs):
            rate = 1 + (PEAK - 1) * math.cos(2 * math.pi * (self._world.now / DAY_S - 0.5))
            yield self._world.timeout(self._chance.expovariate(1 / mean_s) / max(rate, 0.1))
            self._world.process(self._run(self._chance.choices(self._repositories, self._weights)[0]))

    def _run(self, repository: simpy.Resource) -> Any:
        asked = self._world.now
        with repository.request() as turn:
            yield turn
            self.held_by_repository += self._world.now > asked
            with self._places.request() as place:
                yield place
                yield self._world.timeout(self._chance.uniform(0, 0.5))  # the poll of a worker
                self.waits.append(self._world.now - asked)
                self.most_at_once = max(self.most_at_once, self._places.count)
                middle = math.log(self._length_s) - SPREAD**2 / 2
                yield self._world.timeout(self._chance.lognormvariate(middle, SPREAD))


if __name__ == "__main__":
    main()
