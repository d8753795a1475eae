"""`sq run`: work through a spec."""

import os
from pathlib import Path

import click

from orchestrator.cli import options


@click.command("run", short_help="Work through a spec until it is built, reviewed and verified.")
@click.option(
    "--spec", type=click.Path(path_type=Path), required=True, help="Markdown file that says what to build."
)
@click.option(
    "--effort",
    default="medium",
    show_default=True,
    metavar="NAME",
    help="How much to spend on being sure: low, medium, high or max.",
)
@click.option(
    "--verify",
    multiple=True,
    metavar="CMD",
    help="A command that sq runs itself to verify the work; repeatable. Default: what the repository shows.",
)
@click.option(
    "--rehearse",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Play this scenario instead of asking a model. Claude Code itself is real.",
)
@options.state_dir
@options.as_json
@options.plain
def command(
    spec: Path,
    effort: str,
    verify: tuple[str, ...],
    rehearse: Path | None,
    state_dir: Path | None,
    as_json: bool,
    plain: bool,
) -> int:
    """Work through a spec until it is built, reviewed and verified, or say exactly why it is not.

    The work happens in worktrees outside your checkout; at the end your branch is moved forward to it, if
    the checkout is clean. Exit codes: 0 complete, 1 failed, 2 usage, 3 stuck, 4 limit, 5 unverified,
    130 interrupted.
    """
    from orchestrator.cli.compose import RunRequest, Surroundings, run_new
    from orchestrator.views.console import chosen_mode

    request = RunRequest(
        spec=spec.absolute(),
        folder=Path.cwd(),
        effort=effort,
        verify=verify,
        rehearse=rehearse.absolute() if rehearse else None,
        state_dir=state_dir.absolute() if state_dir else None,
    )
    mode = chosen_mode(as_json=as_json, plain=plain, environ=dict(os.environ))
    return run_new(request, Surroundings(mode=mode)).exit_code
