"""`sq fleet cancel`, `retry`, `budget`, `limits` and `doctor`."""

import os
import shutil
import time
from typing import TYPE_CHECKING, Any

import click

from orchestrator.cli.fleet.opened import Fleet, as_json, fleet_root, opened, shown_url
from orchestrator.views.screen import say, say_json
from state.errors import UsageError

if TYPE_CHECKING:
    from orchestrator.fleet.records import Unit

_PUT_DOWN_S, _LOOK_S = 60.0, 0.5


@click.command("cancel", short_help="Stop a submission. What it has built stays.")
@click.argument("submission")
@as_json
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
@as_json
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

    standing = fleet.ledger.progress([unit.id]).get(unit.id, Progress())
    held = unit.state is UnitState.CANCELLED and standing.phase in UNDER_WAY
    alive = held and any(one.executor == standing.executor for one in fleet.living())
    return standing.executor if alive else ""


@click.command("budget", short_help="Show or set the budgets of the fleet.")
@click.argument("pool", required=False)
@click.argument("usd", required=False)
@as_json
def budget(pool: str | None, usd: str | None, as_json: bool) -> int:
    """Show all budgets, or give POOL the limit USD (`none`: no limit).

    The budget of a run is reserved before it begins. At its end the reservation becomes what it has cost.
    """
    with opened() as fleet:
        if pool and usd:
            fleet.ledger.set_budget(pool, None if usd == "none" else _dollars(usd))
        fleet.ledger.settle_abandoned(fleet.engine)
        pools = [one for one in fleet.ledger.pools() if pool in {None, one.name}]
    rows = [{name: getattr(one, name) for name in type(one).__slots__} for one in pools]
    lines = [
        f"{one.name}: {f'${one.limit_usd:.2f}' if one.limit_usd is not None else 'no limit'}, "
        f"${one.spent_usd:.2f} spent, ${one.reserved_usd:.2f} reserved"
        for one in pools
    ]
    _told(
        {"pools": rows},
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
@as_json
def limits(repository: str | None, total: str | None, per_minute: str | None, as_json: bool) -> int:
    """Show the limits of the queues, or change those that are given.

    They hold for each set of labels by itself.
    """
    from dataclasses import replace

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
@as_json
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
    rows = [{"check": name, "ok": ok, "detail": detail} for name, ok, detail in checks]
    _told(
        {"checks": rows},
        *(f"{'ok  ' if ok else 'MISS'} {name}: {detail}" for name, ok, detail in checks),
        as_json=as_json,
    )
    return 0 if all(ok for _, ok, _ in checks) else 1


_LEAST_DISK = 2**30


def _told(row: dict[str, Any], *lines: str, as_json: bool) -> None:
    if as_json:
        say_json(row)
    else:
        say(*lines)
