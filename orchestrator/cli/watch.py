"""`sq watch`: a run on the whole screen of a terminal, in a process of its own that only reads."""

import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orchestrator.cli import options

if TYPE_CHECKING:
    from textual.screen import Screen

    from orchestrator.views.watch.app import WatchApp
    from state.paths import StateFolder


@click.command("watch", short_help="Follow a run on the whole screen.")
@click.argument("run", required=False, shell_complete=options.complete_runs)
@click.option("--all", "all_runs", is_flag=True, help="Begin with the list of all runs.")
@click.option(
    "--at", type=click.IntRange(min=1), metavar="SEQ", help="Show the run as it was after this event."
)
@options.state_dir
def command(run: str | None, all_runs: bool, at: int | None, state_dir: Path | None) -> int:
    """Follow RUN on the whole screen: its tasks, and what each agent does. Nothing is changed, `q` quits.

    RUN is an id, or an unambiguous beginning or end of one. Default: the newest run that is worked on, else
    the newest. A run that has ended can be looked at too. `?` shows the keys.
    """
    from state.paths import StateFolder

    if all_runs and (run or at):
        raise click.UsageError("--all shows a list of runs. Leave out RUN and --at")
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or os.environ.get("TERM") == "dumb":
        raise click.UsageError(
            "`sq watch` needs a terminal. Without one, use `sq status` or `sq logs --follow`"
        )
    state = StateFolder(options.state_folder_of(state_dir))
    again = options.again(state_dir)
    if all_runs:
        return _show(partial(_list, state, again))
    return _show(partial(_open, _chosen(state, run), again, at))


def _show(first: "partial[Screen[None]]") -> int:
    from orchestrator.views.watch.app import WatchApp

    app = WatchApp(first, colours="NO_COLOR" not in os.environ)
    app.run(mouse=False)
    return app.return_code or 0


def _chosen(state: "StateFolder", run: str | None) -> Path:
    """The folder of the named run, else of the newest one that is worked on, else of the newest."""
    from state.journal.store import is_active

    if run is None:
        active = (
            state.runs / run_id for run_id in reversed(state.run_ids()) if is_active(state.runs / run_id)
        )
        if folder := next(active, None):
            return folder
    return state.find(run)


def _open(folder: Path, again: str, at: int | None, app: "WatchApp") -> "Screen[None]":
    from orchestrator.views.watch.following import Following
    from orchestrator.views.watch.run_screen import RunScreen

    del app
    following = Following(folder)
    following.load()
    isolated = ["-I"] if sys.flags.isolated else []  # as the launcher of a checkout does
    state = str(folder.parents[1])
    sq = [sys.executable, *isolated, "-m", "orchestrator.cli"]
    report = [*sq, "report", folder.name, "--state-dir", state]
    return RunScreen(following, options=again, at=at, report=report)


def _list(state: "StateFolder", again: str, app: "WatchApp") -> "Screen[None]":
    from orchestrator.views.run.details import RunList
    from orchestrator.views.watch.app import RunsScreen

    def show(run_id: str) -> None:
        app.push_screen(_open(state.runs / run_id, again, None, app))

    return RunsScreen(str(state.root), RunList(state, again).all, show)
