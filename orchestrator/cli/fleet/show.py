"""`sq fleet list`, `show` and `logs`: what is submitted, how it stands, and what happens in its run."""

import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from orchestrator.cli.fleet.opened import as_json, opened, row_of, standing_of
from orchestrator.views.screen import say, say_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.fleet.records import Unit
    from state.journal.events import Stored

_LOOK_S = 2.0


@click.command("list", short_help="Show all submissions and workers.")
@click.option("--all", "everything", is_flag=True, help="Ended ones too, however many there are.")
@as_json
def list_all(everything: bool, as_json: bool) -> int:
    """Show the submissions that wait or are worked on, the newest that have ended, and the workers."""
    with opened() as fleet:
        progress = fleet.ledger.progress()
        rows = [row_of(one, progress.get(one.id)) for one in fleet.engine.units()]
        workers = fleet.living()
    ended = [one for one in rows if one["exit_code"] is not None]
    shown = rows if everything else [one for one in rows if one not in ended[:-_NEWEST]]
    if as_json:
        say_json({"submissions": shown, "workers": [_of_worker(one) for one in workers]})
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


_NEWEST = 20


def _of_worker(worker: Any) -> dict[str, Any]:  # noqa: ANN401  a WorkerRow, whose module imports the database
    return {name: getattr(worker, name) for name in type(worker).__slots__}


def _line(row: dict[str, Any]) -> str:
    return f"{row['id']}  {standing_of(row):<16}  ${row['cost_usd']:>7.2f}  {row['title']}"


@click.command("show", short_help="Show one submission.")
@click.argument("submission")
@as_json
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
@as_json
def logs(submission: str, follow: bool, as_json: bool) -> int:
    """Show each event of the run of SUBMISSION, as far as its worker has pushed checkpoints."""
    from orchestrator.fleet.transport import RemoteAwayError
    from orchestrator.views.run.console import event_printer

    print_one = event_printer(as_json=as_json)
    with opened() as fleet, TemporaryDirectory(prefix="sq-") as scratch:
        unit = fleet.find(submission)
        after = _shown(unit, Path(scratch), 0, print_one)
        while follow and fleet.patiently(lambda: fleet.engine.units([unit.id]))[0].exit_code is None:
            time.sleep(_LOOK_S)
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
