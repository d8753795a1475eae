"""`sq status`: the runs of this repository, or one of them.

Reads journals and imports little: it has to be quick (`benchmarks.start_up`).
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orchestrator.cli import options
from orchestrator.views.screen import say, say_json

if TYPE_CHECKING:
    from orchestrator.views.models.summary import RunSummary
    from state.journal.view import RunView


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
        newest_first = [state.runs / run_id for run_id in reversed(state.run_ids())]
        _show_all(state.root, newest_first, again, as_json=as_json)
    return 0


def _show_all(root: Path, folders: Sequence[Path], again: str, *, as_json: bool) -> None:
    from orchestrator.views.run.details import overview_lines

    if not (folders or as_json):
        say(f"no runs yet in {root}. Begin one with `sq --spec SPEC.md`, or see one with `sq demo`")
        return
    summaries = [summary_in(folder, again) for folder in folders]
    if as_json:
        say_json({"state_dir": str(root), "runs": summaries})
    else:
        say(*overview_lines(summaries))


def _show_one(folder: Path, again: str, *, as_json: bool) -> None:
    from orchestrator.git.pinned import recorded_git
    from orchestrator.git.pinned_config import trusting
    from orchestrator.views.run.details import detail_lines, details_of
    from state.inbox import answers_left

    view, summary = looked_at(folder, again)
    with trusting(recorded_git(folder)):
        details = details_of(view, summary, options=again, answered=answers_left(folder))
    if as_json:
        say_json(details)
    else:
        say(*detail_lines(details))


def looked_at(folder: Path, options: str) -> "tuple[RunView, RunSummary]":
    """A run as its journal tells it, and its summary. `options` are for commands in there.

    Raises:
        JournalError: the journal is damaged.
        UsageError: there is none.
    """
    from orchestrator.views.models.summary import summary_of
    from state.journal.fold.fold import fold
    from state.journal.store import JournalReader, is_active

    with JournalReader(folder) as journal:
        view = fold(journal.read_for_views())
    active, now = partial(is_active, folder), datetime.now(UTC)
    return view, summary_of(view, folder.name, is_active=active, now=now, options=options)


def summary_in(folder: Path, options: str) -> "RunSummary":
    """The summary of a run in a list. A damaged one does not hide the others."""
    from orchestrator.views.models.summary import RunState, RunSummary
    from state.errors import JournalError, UsageError

    try:
        return looked_at(folder, options)[1]
    except (JournalError, UsageError) as error:
        return RunSummary(run_id=folder.name, standing=RunState.UNREADABLE, problem=str(error))
