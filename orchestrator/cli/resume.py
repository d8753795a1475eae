"""`sq resume`: go on with a run."""

import os
from pathlib import Path

import click

from orchestrator.cli import options


@click.command("resume", short_help="Go on with a run that was interrupted or killed.")
@click.argument("run", required=False)
@options.state_dir
@options.as_json
@options.plain
def command(run: str | None, state_dir: Path | None, as_json: bool, plain: bool) -> int:
    """Go on with RUN (default: the newest) where it was. What is finished is not done or paid for again."""
    from orchestrator.cli.compose import Surroundings, run_again
    from orchestrator.views.console import chosen_mode
    from state.paths import StateFolder

    folder = StateFolder(options.state_folder_of(state_dir)).find(run)
    mode = chosen_mode(as_json=as_json, plain=plain, environ=dict(os.environ))
    return run_again(folder, Surroundings(mode=mode)).exit_code
