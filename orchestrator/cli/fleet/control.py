"""`sq fleet list`, `show`, `logs`, `cancel`, `retry`, `budget`, `limits`, `doctor`: see and control it."""

import os
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click
import structlog

from orchestrator.cli import options
from orchestrator.cli.fleet.opened import Fleet, fleet_root, opened, row_of, shown_url, state_of
from orchestrator.views.screen import say, say_json
from state.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.fleet.records import Unit
    from state.journal.events import Stored


_WATCH_S = 2.0  # between looks at a run that is followed
_NEWEST = 20  # submissions that have ended
_PUT_DOWN_S, _LOOK_S = 60.0, 0.5
_LEAST_DISK = 2**30


@click.command("list", short_help="Show all submissions and workers.")
@click.option("--all", "everything", is_flag=True, help="Ended ones too, however many there are.")
@options.json_object
def list_all(everything: bool, as_json: bool) -> int:
    """Show the submissions that wait or are worked on, the newest that have ended, and the workers."""
    with opened() as fleet:
        progress = fleet.ledger.progress()
        rows = [row_of(one, progress.get(one.id)) for one in fleet.engine.units()]
        workers = fleet.living()
    ended = [one for one in rows if one["exit_code"] is not None]
    shown = rows if everything else [one for one in rows if one not in ended[:-_NEWEST]]
    if as_json:
        say_json({"submissions": shown, "workers": [_fields(one) for one in workers]})
        return 0
    say(
        *(
            [_line(one) for one in shown]
            or ["nothing is submitted. Submit a spec with `sq fleet submit SPEC`"]
        )
    )
    there = [f"worker {one.executor}: {one.places} places, sq {one.version}" for one in workers]
    say(*(there or ["no worker is there. Start one with `sq fleet worker`"]))
    return 0


def _fields(record: Any) -> dict[str, Any]:  # noqa: ANN401  a row, whose module imports the database
    return {name: getattr(record, name) for name in type(record).__slots__}


def _line(row: dict[str, Any]) -> str:
    return f"{row['id']}  {state_of(row):<16}  ${row['cost_usd']:>7.2f}  {row['title']}"


@click.command("show", short_help="Show one submission.")
@click.argument("submission")
@options.json_object
def show(submission: str, as_json: bool) -> int:
    """Show the state of SUBMISSION (an id, its beginning, or the id of its run), and where its work is."""
    with opened() as fleet:
        unit = fleet.find(submission)
        row = row_of(unit, fleet.ledger.progress([unit.id]).get(unit.id))
    if as_json:
        say_json(row)
        return 0
    shown = {name: value for name, value in row.items() if value not in ("", None, [])}
    say(*(f"{name + ':':<14} {value}" for name, value in shown.items()))
    if row["branch"]:
        say(f"the work:      git fetch {row['repository']} {row['branch']}")
    return 0


@click.command("logs", short_help="Show what happens in the run of a submission.")
@click.argument("submission")
@click.option("-f", "--follow", is_flag=True, help="Go on until the run has ended.")
@options.json_object
def logs(submission: str, follow: bool, as_json: bool) -> int:
    """Show each event of the run of SUBMISSION, as far as its worker has pushed checkpoints."""
    from orchestrator.fleet.transport import RemoteAwayError
    from orchestrator.views.run.console import event_printer

    print_one = event_printer(as_json=as_json)
    with opened() as fleet, TemporaryDirectory(prefix="sq-") as scratch:
        unit = fleet.find(submission)
        after = _shown(unit, Path(scratch), 0, print_one)
        while follow and fleet.patiently(lambda: fleet.engine.units([unit.id]))[0].exit_code is None:
            time.sleep(_WATCH_S)
            with suppress(RemoteAwayError):
                after = _shown(unit, Path(scratch), after, print_one)
        if follow:
            after = _shown(unit, Path(scratch), after, print_one)
        if not after and not as_json:
            say(f"{unit.id} has no checkpoint yet. `sq fleet show {unit.id}` says how it stands")
    return 0


def _shown(unit: "Unit", scratch: Path, after: int, print_one: "Callable[[Stored], None]") -> int:
    """Show the events after a place, and return the place of the last one."""
    from orchestrator.fleet.checkpoint import fetched
    from state.journal.store import JournalReader

    folder = fetched(unit, scratch)
    if folder is None:
        return after
    with JournalReader(folder) as journal:
        for stored in journal.read(after):
            print_one(stored)
            after = stored.seq
    return after


@click.command("cancel", short_help="Stop a submission. What it has built stays.")
@click.argument("submission")
@options.json_object
def cancel(submission: str, as_json: bool) -> int:
    """Cancel SUBMISSION. Its worker puts the run down and pushes it, and `sq fleet retry` goes on with it."""
    with opened() as fleet:
        unit = fleet.find(submission)
        if not fleet.engine.cancel(unit.id):
            raise UsageError(
                f"{unit.id} has ended already: {unit.report.outcome if unit.report else unit.state}"
            )
    _told({"id": unit.id, "state": "cancelled"}, f"{unit.id} is cancelled", as_json=as_json)
    return 0


@click.command("retry", short_help="Go on with a submission that has ended.")
@click.argument("submission")
@options.json_object
def retry(submission: str, as_json: bool) -> int:
    """Queue SUBMISSION again.

    Its run goes on from its last checkpoint. What was paid for is not done again. If its worker still puts it
    down, that is waited for.
    """
    with opened() as fleet:
        unit = fleet.find(submission)
        if unit.exit_code is None:
            raise UsageError(f"{unit.id} is {unit.state}, so there is nothing to try again")
        until = time.monotonic() + _PUT_DOWN_S
        while worker := _holder(fleet, unit):
            if time.monotonic() > until:
                raise UsageError(f"{unit.id} is cancelled, and {worker} still puts it down. Try again later")
            time.sleep(_LOOK_S)
        fleet.ledger.note(unit.id, phase="", deaths=0)
        fleet.engine.again(unit.id)
    _told({"id": unit.id, "state": "queued"}, f"{unit.id} is queued again", as_json=as_json)
    return 0


def _holder(fleet: Fleet, unit: "Unit") -> str:
    """Return the worker that has a cancelled submission still in its hands, or ""."""
    from orchestrator.fleet.records import UNDER_WAY, Progress, UnitState

    state = fleet.ledger.progress([unit.id]).get(unit.id, Progress())
    held = unit.state is UnitState.CANCELLED and state.phase in UNDER_WAY
    alive = held and any(one.executor == state.executor for one in fleet.living())
    return state.executor if alive else ""


@click.command("budget", short_help="Show or set the budgets of the fleet.")
@click.argument("pool", required=False)
@click.argument("usd", required=False)
@options.json_object
def budget(pool: str | None, usd: str | None, as_json: bool) -> int:
    """Show all budgets, or give POOL the limit USD (`none`: no limit).

    The budget of a run is reserved before it begins. At its end the reservation becomes what it has cost.
    """
    with opened() as fleet:
        if pool and usd:
            fleet.ledger.set_budget(pool, None if usd == "none" else _dollars(usd))
        fleet.ledger.settle_abandoned(fleet.engine)
        pools = [one for one in fleet.ledger.pools() if pool in {None, one.name}]
    lines = [
        f"{one.name}: {f'${one.limit_usd:.2f}' if one.limit_usd is not None else 'no limit'}, "
        f"${one.spent_usd:.2f} spent, ${one.reserved_usd:.2f} reserved"
        for one in pools
    ]
    _told(
        {"pools": [_fields(one) for one in pools]},
        *(lines or ["no budget is set or used. Set one with `sq fleet budget POOL USD`"]),
        as_json=as_json,
    )
    return 0


def _dollars(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise click.BadParameter(
            f"{text!r} is no amount. Write dollars, such as 250, or none", param_hint="USD"
        )
    return value


@click.command("limits", short_help="Show or set how much runs at once.")
@click.option(
    "--repository", metavar="N", help="Runs of one repository at once, over all workers (none: no limit)."
)
@click.option("--total", metavar="N", help="Runs at once, over all workers (none: no limit).")
@click.option("--per-minute", metavar="N", help="Runs that begin within a minute (none: no limit).")
@options.json_object
def limits(repository: str | None, total: str | None, per_minute: str | None, as_json: bool) -> int:
    """Show the limits of the queues, or change those that are given.

    They hold for each set of labels by itself.
    """
    given = {"repository": repository, "total": total, "per_minute": per_minute}
    changed = {name: _count(name, text) for name, text in given.items() if text is not None}
    with opened() as fleet:
        found = fleet.engine.limit()
        if changed:
            found = fleet.engine.limit(replace(found, **changed))
    row = {name: getattr(found, name) for name in given}
    words = ("at once in a repository", "at once in all", "begun in a minute")
    lines = [
        f"{word}: {'no limit' if row[name] is None else row[name]}"
        for name, word in zip(row, words, strict=True)
    ]
    _told(row, *lines, as_json=as_json)
    return 0


def _count(name: str, text: str) -> int | None:
    if text == "none":
        return None
    if not text.isdecimal() or not int(text):
        raise click.BadParameter(
            f"{text!r} is no number from 1 on, and not none", param_hint=f"--{name.replace('_', '-')}"
        )
    return int(text)


@click.command("doctor", short_help="Check the database, the workers and this host.")
@options.json_object
def doctor(as_json: bool) -> int:
    """Check the database, the tools of a worker and the workers, with advice.

    Exit code 1 if something is missing.
    """
    with opened() as fleet:
        from orchestrator.fleet.host import credentials_problem, sandbox_problem

        workers, units = fleet.living(), fleet.engine.units()
        url = shown_url(fleet.url)
    waiting = [one for one in units if one.state.value == "queued"]
    labels = {label for one in workers for label in one.labels.split(",") if label}
    checks = [
        ("database", True, url),
        ("git", shutil.which("git") is not None, shutil.which("git") or "install git"),
        ("sandbox", not (why := sandbox_problem(os.environ)), why or "whole works"),
        (
            "credentials",
            not (why := credentials_problem(os.environ)),
            why or "a model can be asked",
        ),
        ("workers", bool(workers), f"{len(workers)} there" if workers else "start one: `sq fleet worker`"),
        *(
            (
                f"label {label}",
                label in labels,
                "a worker has it" if label in labels else "no worker has it, and work waits for it",
            )
            for label in sorted({label for one in waiting for label in one.submission.labels})
        ),
    ]
    free = shutil.disk_usage(next(one for one in (fleet_root(), *fleet_root().parents) if one.exists())).free
    checks.append(("disk", free > _LEAST_DISK, f"{free / 2**30:.1f} GiB free in {fleet_root()}"))
    _told(
        {"checks": [{"check": name, "ok": ok, "detail": detail} for name, ok, detail in checks]},
        *(f"{'ok  ' if ok else 'MISS'} {name}: {detail}" for name, ok, detail in checks),
        as_json=as_json,
    )
    return 0 if all(ok for _, ok, _ in checks) else 1


def _told(row: dict[str, Any], *lines: str, as_json: bool) -> None:
    if as_json:
        say_json(row)
    else:
        say(*lines)


log = structlog.get_logger(__name__)
_FETCH_S = 5.0
_NEWEST_FETCHED = 50  # runs that have ended


@contextmanager
def followed_runs() -> Iterator[Path]:
    """Provide a state folder with the runs of the fleet, which is kept up to date meanwhile."""
    with opened() as fleet, TemporaryDirectory(prefix="sq-fleet-") as temporary:
        folder, over, ended = Path(temporary), threading.Event(), set[str]()
        (folder / "runs").mkdir()
        _bring(fleet, folder, ended)

        def follow() -> None:
            while not over.wait(_FETCH_S):
                _bring(fleet, folder, ended)

        thread = threading.Thread(target=follow, name="fleet", daemon=True)
        thread.start()
        try:
            yield folder
        finally:
            over.set()
            thread.join()


def _bring(fleet: Fleet, folder: Path, ended: set[str]) -> None:
    """Fetch what is new. A server that does not answer is asked again the next time."""
    from orchestrator.fleet.checkpoint import fetched

    try:
        units = [one for one in fleet.engine.units() if one.id not in ended]
    except Exception as error:  # noqa: BLE001  the page goes on with what it has
        log.warning("fleet.not_followed", error=str(error))
        return
    over = [one for one in units if one.exit_code is not None]
    for unit in reversed([one for one in units if one not in over[:-_NEWEST_FETCHED]]):
        try:
            fetched(unit, folder)
            if unit.exit_code is not None:
                ended.add(unit.id)
        except Exception as error:  # noqa: BLE001  its server is away, or its checkpoint is damaged
            log.warning("fleet.not_followed", id=unit.id, error=str(error))
