"""`sq run`: work through a spec."""

from pathlib import Path
from typing import Any

import click

from orchestrator.cli import options
from orchestrator.cli.runs import flags


@click.command("run", short_help="Work through a spec until it is built, reviewed and verified.")
@click.option(
    "--spec", type=click.Path(path_type=Path), required=True, help="Markdown file with the spec of the work."
)
@flags.settings(
    effort="NAME",
    workflow="",
    questions="",
    worktrees="",
    max_parallel="N",
    merge="",
    merge_unverified="",
    verify="CMD",
    gateway="",
    max_iterations="N",
    budget="USD",
    developer_qa_model="NAME",
    sandbox="",
)
@options.models
@click.option(
    "--allow-dirty", is_flag=True, help="With --no-worktrees: begin although there are uncommitted changes."
)
@click.option(
    "--edit-dirty",
    is_flag=True,
    help="As --allow-dirty, and agents may change your uncommitted work.",
)
@click.option("--dry-run", is_flag=True, help="Analyze and plan, show the tasks, build nothing.")
@click.option(
    "--rehearse",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Play this scenario instead of asking a model. Claude Code itself is real.",
)
@options.state_dir
@options.as_json
@options.plain
@options.verbose
@options.quiet
def command(
    spec: Path,
    models: dict[str, str],
    allow_dirty: bool,
    edit_dirty: bool,
    dry_run: bool,
    rehearse: Path | None,
    state_dir: Path | None,
    as_json: bool,
    plain: bool,
    verbose: bool,
    quiet: bool,
    **asked: Any,  # noqa: ANN401  the values of the options, by their names
) -> int:
    """Work through a spec until it is built, reviewed and verified, or say exactly why it is not.

    The work happens in worktrees outside your checkout. At the end your branch is moved forward to it, if
    the work is complete and the checkout is clean. Exit codes: 0 complete, 1 failed, 2 usage, 3 stuck,
    4 limit, 5 unverified, 130 interrupted.
    """
    from orchestrator.cli.runs.compose import run_new
    from orchestrator.cli.runs.reported import FilesAtEnd
    from orchestrator.cli.runs.request import RunEnvironment, RunRequest

    request = RunRequest(
        spec=spec.absolute(),
        folder=Path.cwd(),
        flags={**flags.flags_of(asked), **flags.model_flags(models)},
        allow_dirty=allow_dirty,
        edit_dirty=edit_dirty,
        dry_run=dry_run,
        rehearse=rehearse.absolute() if rehearse else None,
        state_dir=state_dir.absolute() if state_dir else None,
    )
    look = options.look_of(as_json=as_json, plain=plain, verbose=verbose, quiet=quiet)
    given = RunEnvironment(look=look, end_report=FilesAtEnd(), transport=options.transport())
    return run_new(request, given).exit_code
