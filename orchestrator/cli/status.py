"""`sq status`, `sq logs`, `sq decisions`: the runs of this repository, and what happened in one of them.

Reads journals and imports little: `sq status` has to be quick (`benchmarks.quick`).
"""

from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orchestrator.cli import options
from orchestrator.views.screen import say, say_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from state.journal.events import Stored
    from state.journal.store import JournalReader
    from state.journal.view import RunView
    from state.paths import StateFolder


@click.command("status", short_help="Show the runs of this repository, or one run.")
@click.argument("run", required=False, shell_complete=options.complete_runs)
@options.state_dir
@options.json_object
def command(run: str | None, state_dir: Path | None, as_json: bool) -> int:
    """Show the runs of this repository, newest first, or the tasks, questions, checks and outcome of RUN.

    RUN is an id, or an unambiguous beginning or end of one.
    """
    from state.paths import StateFolder

    state = StateFolder(options.state_folder_of(state_dir))
    again = options.again(state_dir)
    if run is not None:
        _show_one(state.find(run), again, as_json=as_json)
    else:
        _show_all(state, again, as_json=as_json)
    return 0


def _show_all(state: "StateFolder", again: str, *, as_json: bool) -> None:
    from orchestrator.views.run.details import RunList, overview_lines

    runs = RunList(state, again).all()
    if as_json:
        say_json({"state_dir": str(state.root), "runs": runs})
    elif runs:
        say(*overview_lines(runs))
    else:
        say(f"no runs yet in {state.root}. Begin one with `sq --spec SPEC.md`, or see one with `sq demo`")


def _show_one(folder: Path, again: str, *, as_json: bool) -> None:
    from orchestrator.git.pinned import recorded_git
    from orchestrator.git.pinned_config import trusting
    from orchestrator.views.models.summary import summary_of
    from orchestrator.views.run.details import detail_lines, details_of
    from state.inbox import answers_left
    from state.journal.store import is_active

    view, active = view_of(folder), partial(is_active, folder)
    summary = summary_of(view, folder.name, is_active=active, now=datetime.now(UTC), options=again)
    with trusting(recorded_git(folder)):
        details = details_of(view, summary, options=again, answered=answers_left(folder))
    if as_json:
        say_json(details)
    else:
        say(*detail_lines(details))


def view_of(folder: Path) -> "RunView":
    """The run in a folder, as views show it.

    Raises:
        JournalError: the journal is damaged.
        UsageError: there is none.
    """
    from state.journal.fold.fold import fold
    from state.journal.store import JournalReader

    with JournalReader(folder) as journal:
        return fold(journal.read_for_views())


_LOOK_S = 1.0  # between looks whether a process still writes the run


@click.command("logs", short_help="Show everything that happened in a run.")
@click.argument("run", required=False, shell_complete=options.complete_runs)
@click.option("--prompts", is_flag=True, help="Each agent's prompts and reports, in full.")
@click.option("--follow", is_flag=True, help="Go on until the run ends or is stopped.")
@click.option("--json", "as_json", is_flag=True, help="JSON Lines on stdout, nothing else there.")
@options.state_dir
def logs(run: str | None, prompts: bool, follow: bool, as_json: bool, state_dir: Path | None) -> int:
    """Show every event of RUN (default: the newest) in order, with its time.

    RUN is an id, or an unambiguous beginning or end of one.
    """
    from orchestrator.git.pinned import recorded_git
    from orchestrator.git.pinned_config import trusting
    from orchestrator.views.run.console import event_printer
    from state.journal.store import JournalReader

    if prompts and follow:
        raise click.UsageError(
            "--prompts shows whole calls and cannot --follow them. Leave one of the two out"
        )
    folder = options.run_folder_of(run, state_dir)
    with JournalReader(folder) as journal, trusting(recorded_git(folder)):
        if prompts:
            _show_prompts(journal, as_json=as_json)
        else:
            show = event_printer(as_json=as_json)
            last = 0
            for stored in journal.read():
                show(stored)
                last = stored.seq
            if follow:
                _follow(journal, folder, last, show)
                _say_if_killed(folder)
    return 0


def _show_prompts(journal: "JournalReader", *, as_json: bool) -> None:
    from orchestrator.views.run.story import told_in, told_lines

    for told in told_in(journal.read()):
        if as_json:
            say_json(told)
        else:
            say(*told_lines(told))


def _follow(journal: "JournalReader", folder: Path, after: int, show: "Callable[[Stored], None]") -> None:
    """Show new events until no process writes the run any more, even if it was killed."""
    import anyio

    from state.journal.store import is_active

    async def until_left() -> None:
        nonlocal after
        async with anyio.create_task_group() as tasks:

            async def watch() -> None:
                while is_active(folder):  # noqa: ASYNC110  another process ends, which is no event here
                    await anyio.sleep(_LOOK_S)
                tasks.cancel_scope.cancel()

            tasks.start_soon(watch)
            async for stored in journal.follow(after):
                show(stored)
                after = stored.seq

    anyio.run(until_left)
    for stored in journal.read(after):
        show(stored)


def _say_if_killed(folder: Path) -> None:
    view = view_of(folder)
    if view.started and not (view.ended or view.process.interrupted_by):
        how = f"go on with it: sq resume {folder.name}"
        say(f"sq: no process works on run {folder.name} any more, and it has not ended: {how}", error=True)


@click.command("decisions", short_help="Show the questions of a run and their answers.")
@click.argument("run", required=False, shell_complete=options.complete_runs)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line for each question.")
@options.state_dir
def decisions(run: str | None, as_json: bool, state_dir: Path | None) -> int:
    """Show each question that was asked in RUN (default: the newest), its answer, and its grounds.

    RUN is an id, or an unambiguous beginning or end of one.
    """
    from orchestrator.views.models.decisions import decision_lines, decisions_of

    found = decisions_of(view_of(options.run_folder_of(run, state_dir)))
    if as_json:
        for decision in found:
            say_json(decision)
    else:
        say(*decision_lines(found))
    return 0
