"""A fleet under kills and faults: workers as processes, PostgreSQL, a git server, rehearsed runs.

    python -m benchmarks.fleet [--short] [--runs N] [--only soak,hang,idle,faults]

soak: runs on two workers of two places, one of which is killed after each one to three runs that end, and
started again. `doubled` counts branches that are not the one of their run and commits that a branch has
twice. A takeover lasts from a kill until the dead worker's runs are in their queue again or claimed. hang: a
whole host stops and goes on after the takeover. idle: from a submission until it is claimed, a worker that
is asked to end, and the cost of one that waits. faults: each row of `tests/language/fleet_faults.py`.
`secret_hits` are secrets of a worker and texts of specs in the refs of the git server and in the database.

The last line is JSON. `--short` is for a CI: few runs, few faults, no host that hangs.
"""

import os
import random
import sys
import time
from contextlib import suppress
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import click

from benchmarks.figures import of_tests, print_figures
from benchmarks.rehearsed import git

_faults, _fleets, _postgres = map(of_tests, ("language.fleet_faults", "language.fleets", "language.postgres"))

PARTS = ("soak", "hang", "idle", "faults")
GOALS = {
    "doubled": 0,
    "takeover_s_median": 2.0,
    "hang_takeover_s": 35.0,
    "zombie_pushes": 0,
    "same_submission_runs": 1,
    "drain_s": 60.0,
    "claim_s_median": 1.5,
    "idle_rss_mb": 120.0,
    "idle_core_share": 0.03,
    "secret_hits": 0,
}
SHORT_ROWS = ("push_cut_off", "cancelled_in_the_queue", "submitted_ten_times", "secret_in_the_work")
KEY = "sk-ant-api03-" + "Fl33tB3nchm4rkK3y" * 3
ENDED, PAUSE_S, LATEST_S = (1, 2, 3), 5.0, 60.0  # runs that end between kills, then a pause at random
IDLE_S, SHORT_IDLE_S = 20.0, 5.0
SOAK_LIMIT_S = 1800.0


@click.command()
@click.option("--short", is_flag=True, help="Under three minutes.")
@click.option("--runs", default=60, show_default=True, help="Of the soak.")
@click.option("--only", default=",".join(PARTS), show_default=True, help="What is measured.")
@click.option("--seed", default=20260131, show_default=True)
def main(short: bool, runs: int, only: str, seed: int) -> None:
    """Measure a fleet."""
    if why := _postgres.missing():
        sys.exit(f"nothing was measured: {why}")
    parts = [one for one in only.split(",") if not (short and one == "hang")]
    figures: dict[str, Any] = {}
    names = SHORT_ROWS if short else tuple(_faults.ROWS)
    os.environ.setdefault("FLEET_AWAY_S", "8" if short else "60")
    with _postgres.postgres() as server, TemporaryDirectory(prefix="sq-fleet-") as folder:
        place = _Place(server, Path(folder))
        if "soak" in parts:
            figures |= _soak(place, 6 if short else runs, random.Random(seed))  # noqa: S311
        if "hang" in parts:
            figures |= _hang(place)
        if "idle" in parts:
            figures |= _idle(place, 3 if short else 10, SHORT_IDLE_S if short else IDLE_S)
        if "faults" in parts:
            figures |= _run_faults(place, names)
    print_figures(figures, GOALS)
    lost = figures.get("runs", 0) - figures.get("done", 0) + figures.get("fault_rows", 0)
    lost -= figures.get("fault_rows_right", 0)
    sys.exit(
        bool(lost or figures.get("doubled") or figures.get("zombie_pushes") or figures.get("secret_hits"))
    )


class _Place:
    """Where fleets are made, each with a database of its own."""

    def __init__(self, server: Any, folder: Path) -> None:
        self.server, self._folder, self._number = server, folder, 0

    def fleet(self) -> Any:
        """Return a new fleet."""
        self._number += 1
        url = self.server.new_database(f"bench{self._number}")
        return _fleets.FleetHere(folder=self._folder / f"fleet{self._number}", url=url)


def _soak(place: _Place, runs: int, chance: random.Random) -> dict[str, Any]:
    takeovers: list[float] = []
    kills = 0
    with place.fleet() as fleet:
        words = _fleets.scenario(work_s=5)
        ids = [fleet.submit(words, nonce=str(number)) for number in range(runs)]
        options = ("--places", "2", "--checkpoint", "5")
        workers = [fleet.worker(name, *options, ANTHROPIC_API_KEY=KEY) for name in ("one", "two")]
        until = time.monotonic() + SOAK_LIMIT_S
        while any(one.exit_code is None for one in fleet.engine.units()) and time.monotonic() < until:
            _wait_for_more(fleet, chance.choice(ENDED))
            time.sleep(chance.uniform(0, PAUSE_S))
            victim = chance.choice(workers)
            known = {one.executor for one in fleet.ledger.workers() if one.pid == victim.process.pid}
            if not known or len(fleet.ledger.workers()) < len(workers):
                continue  # it has just been started
            victim.kill()
            kills += 1
            takeovers += _takeover(fleet, known.pop())
            workers[workers.index(victim)] = fleet.worker(victim.name, *options, ANTHROPIC_API_KEY=KEY)
            print(f"kill {kills}: {_ended(fleet)} of {runs} runs have ended", flush=True)
        reports = [one.report or one for one in fleet.engine.units(ids)]
        complete = [one for one in reports if getattr(one, "outcome", "") == "complete"]
        for one in reports:
            if one not in complete:
                print(f"not complete: {one}")
        return {
            "runs": runs,
            "done": len(complete),
            "doubled": _doubled(fleet, {one.run for one in complete}),
            "kills": kills,
            "takeover_s_median": round(median(takeovers), 2) if takeovers else None,
            "secret_hits": _faults.secrets_found(fleet, place.server, KEY),
        }


def _wait_for_more(fleet: Any, runs: int) -> None:
    """Wait until so many more runs have ended, so that kills do not depend on the speed of the machine."""
    before, until = _ended(fleet), time.monotonic() + LATEST_S
    while _ended(fleet) < before + runs and time.monotonic() < until:
        time.sleep(0.2)


def _ended(fleet: Any) -> int:
    return sum(one.exit_code is not None for one in fleet.engine.units())


def _takeover(fleet: Any, executor: str) -> list[float]:
    """Return the seconds until a killed worker's runs are no longer its own, if it had any."""
    began = time.monotonic()
    if not any(one.executor == executor and one.exit_code is None for one in fleet.engine.units()):
        return []
    while any(one.executor == executor and one.state == "working" for one in fleet.engine.units()):
        time.sleep(0.02)
    return [time.monotonic() - began]


def _doubled(fleet: Any, runs: set[str]) -> int:
    branches = fleet.branches()
    strange = len({one.removeprefix("refs/heads/sq/") for one in branches} ^ runs)
    twice = [git(fleet.server, "rev-list", "--count", f"main..{one}", "--", "notes.txt") for one in branches]
    return strange + sum(int(one) != 1 for one in twice)


def _hang(place: _Place) -> dict[str, Any]:
    with place.fleet() as fleet:
        took, pushes = _faults.hung(fleet)
    return {"hang_takeover_s": round(took, 1), "zombie_pushes": pushes}


def _idle(place: _Place, times: int, idle_s: float) -> dict[str, Any]:
    with place.fleet() as fleet:
        worker = fleet.worker("one")
        fleet.until(fleet.ledger.workers)
        time.sleep(3)
        claims = [_claim(fleet, number) for number in range(times)]
        time.sleep(3)
        own = worker.tree()[0]
        before, began = own.cpu_times(), time.monotonic()
        time.sleep(idle_s)
        after, seconds = own.cpu_times(), time.monotonic() - began
        share = (after.user + after.system - before.user - before.system) / seconds
        rss = own.memory_info().rss / 2**20
        id_ = fleet.submit(_fleets.scenario(work_s=20), nonce="drain")
        _faults.until_run(fleet, id_)
        began = time.monotonic()
        worker.end()
        drained = time.monotonic() - began
        words = _fleets.scenario()
        same = {fleet.submit(words, nonce="same") for _ in range(10)}
    return {
        "same_submission_runs": len(same),
        "drain_s": round(drained, 1),
        "claim_s_median": round(median(claims), 2),
        "idle_rss_mb": round(rss, 1),
        "idle_core_share": round(share, 4),
    }


def _claim(fleet: Any, number: int) -> float:
    """Return the seconds from a submission until a worker has claimed it, and cancel it."""
    asked = fleet.submission(_fleets.scenario(), nonce=f"claim{number}")
    began = time.monotonic()
    fleet.engine.submit(asked)
    fleet.until(lambda: asked.id in fleet.ledger.progress([asked.id]), step_s=0.01)
    seconds = time.monotonic() - began
    fleet.engine.cancel(asked.id)
    fleet.until(lambda: fleet.ledger.progress([asked.id])[asked.id].phase == "interrupted")
    return seconds


def _run_faults(place: _Place, names: tuple[str, ...]) -> dict[str, Any]:
    right = made = 0
    for name in names:
        with place.fleet() as fleet:
            try:
                said = _faults.ROWS[name](fleet, place.server)
            except _faults.CannotRunError as why:
                print(f"{name:<32} cannot be made here: {why}", flush=True)
                continue
            except Exception as error:  # noqa: BLE001  a row that is wrong must not hide the others
                said = f"WRONG: {error!r}"[:2_000]
            else:
                right += 1
            made += 1
            print(f"{name:<32} {said}", flush=True)
        with suppress(OSError):
            _faults.scrap(fleet)
    return {"fault_rows": made, "fault_rows_right": right}


if __name__ == "__main__":
    main()
