"""`sq decisions`: the decisions of a run for its user, and their grounds."""

from pathlib import Path

import click

from orchestrator.cli import options
from orchestrator.views.screen import say, say_json


@click.command("decisions", short_help="Show the questions of a run and their answers.")
@click.argument("run", required=False, shell_complete=options.complete_runs)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line for each question.")
@options.state_dir
def command(run: str | None, as_json: bool, state_dir: Path | None) -> int:
    """Show each question that was asked in RUN (default: the newest), its answer, and its grounds.

    RUN is an id, or an unambiguous beginning or end of one.
    """
    from orchestrator.views.models.decisions import decision_lines, decisions_of
    from state.journal.fold.fold import fold
    from state.journal.store import JournalReader

    folder = options.run_folder_of(run, state_dir)
    with JournalReader(folder) as journal:
        decisions = decisions_of(fold(journal.read()))
    if as_json:
        for decision in decisions:
            say_json(decision)
    else:
        say(*decision_lines(decisions))
    return 0
