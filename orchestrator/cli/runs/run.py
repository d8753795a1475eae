"""`sq run`: work through a spec."""

from pathlib import Path
from typing import Any

import click

from orchestrator.cli import options


@click.command("run", short_help="Work through a spec until it is built, reviewed and verified.")
@click.option(
    "--spec", type=click.Path(path_type=Path), required=True, help="Markdown file with the spec of the work."
)
@click.option(
    "--effort",
    metavar="NAME",
    shell_complete=options.complete_efforts,
    help="How much to spend on being sure: low, medium (the default), high, max, or a preset of your own.",
)
@click.option(
    "--no-worktrees",
    is_flag=True,
    help="Work in this checkout itself, one task at a time. Nothing is staged or committed there.",
)
@click.option(
    "--allow-dirty", is_flag=True, help="With --no-worktrees: begin although there are uncommitted changes."
)
@click.option(
    "--edit-dirty",
    is_flag=True,
    help="As --allow-dirty, and agents may change your uncommitted work.",
)
@click.option(
    "--merge/--no-merge",
    default=None,
    help="At the end move your branch to the finished work (the default), or leave it on a branch of sq's.",
)
@click.option(
    "--merge-unverified",
    is_flag=True,
    help="Move your branch also if something could not be verified (exit code 5).",
)
@click.option(
    "--gateway/--no-gateway",
    default=None,
    help="With an API key: keep it from agents by a gateway of sq's (the default), or give it to them.",
)
@click.option("--max-parallel", metavar="N", help="Tasks under way at once (default: 4).")
@click.option("--max-iterations", metavar="N", help="Iterations that a task may take (default: 50).")
@click.option(
    "--budget",
    metavar="USD",
    help="The most that the whole run may cost, with all agents. `none`: no cap (default: from the effort).",
)
@options.models
@click.option(
    "--developer-qa-model",
    metavar="NAME",
    help="The model that answers questions (default: the effort's).",
)
@click.option(
    "--questions",
    type=click.Choice(["answer", "park"]),
    help="A question that cannot be undone and that the spec does not cover: answer it, or park it.",
)
@click.option(
    "--workflow",
    type=click.Choice(["orchestrated", "direct", "plan-then-implement"]),
    help="Plan tasks (the default), give one Worker the spec as it is, or let it plan first, then implement.",
)
@click.option(
    "--verify",
    multiple=True,
    metavar="CMD",
    help="A command that sq runs itself to verify the work. Repeatable. Default: found in the repository.",
)
@options.sandbox
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
        flags=_flags(**asked),
        allow_dirty=allow_dirty,
        edit_dirty=edit_dirty,
        dry_run=dry_run,
        rehearse=rehearse.absolute() if rehearse else None,
        state_dir=state_dir.absolute() if state_dir else None,
    )
    look = options.look_of(as_json=as_json, plain=plain, verbose=verbose, quiet=quiet)
    given = RunEnvironment(look=look, end_report=FilesAtEnd(), transport=options.transport())
    return run_new(request, given).exit_code


def _flags(
    *,
    no_worktrees: bool,
    merge: bool | None,
    merge_unverified: bool,
    gateway: bool | None,
    models: dict[str, str],
    **plain: object,
) -> dict[str, tuple[str, object]]:
    """The settings that flags give, by their keys, each with the flag as it was typed."""
    return {
        **{key: (f"--{key.replace('_', '-')}", value) for key, value in plain.items()},
        "worktrees": ("--no-worktrees", False if no_worktrees else None),
        "merge": ("--no-merge" if merge is False else "--merge", merge),
        "gateway": ("--no-gateway" if gateway is False else "--gateway", gateway),
        "merge_unverified": ("--merge-unverified", True if merge_unverified else None),
        **{f"models.{role}": (f"--model {role}", name) for role, name in models.items()},
    }
