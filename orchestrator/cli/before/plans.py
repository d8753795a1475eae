"""`sq plan` and `sq approve`: the plan of a run before it is built."""

from pathlib import Path

import click

from orchestrator.cli import options
from orchestrator.views.screen import say


@click.command("plan", short_help="Print the plan of a run, as a file that can be edited and built.")
@click.argument("run", required=False, shell_complete=options.complete_runs)
@options.state_dir
def command(run: str | None, state_dir: Path | None) -> int:
    """Print the plan of RUN (default: the newest), as `sq run --plan-only` writes it.

    `sq plan > plan.toml` keeps it. Edit it and have it built with `sq run --spec SPEC --plan plan.toml`.
    """
    from orchestrator.cli.runs.plans import plan_of
    from state.journal.fold.fold import fold
    from state.journal.store import JournalReader

    with JournalReader(options.run_folder_of(run, state_dir)) as journal:
        view = fold(journal.read_for_views())
    say(*plan_of(view, "plan.toml").rstrip("\n").split("\n"))
    return 0


@click.command("approve", short_help="Approve the plan of a run that waits for it.")
@click.argument("run", required=False, shell_complete=options.complete_runs)
@options.state_dir
def approve(run: str | None, state_dir: Path | None) -> int:
    """Approve the plan of RUN (default: the newest), which then is built. `sq plan RUN` shows it.

    If no process works on the run, the approval counts when `sq resume RUN` goes on with it.
    """
    from orchestrator.run.plan.approval import approve as leave
    from state.errors import UsageError
    from state.journal.fold.fold import fold
    from state.journal.store import JournalReader, is_active

    folder = options.run_folder_of(run, state_dir)
    with JournalReader(folder) as journal:
        view = fold(journal.read_for_views())
    if not (view.settings and view.settings.approve):
        raise UsageError(f"run {folder.name} waits for no approval: it was begun without --approve")
    if view.plan.before.approved:
        say(f"the plan of run {folder.name} was approved before, by {view.plan.before.approved.by}")
        return 0
    if not view.tasks:
        raise UsageError(f"run {folder.name} has no plan yet, so look at it first: sq plan {folder.name}")
    leave(folder)
    again = options.again(state_dir)
    later = "it is built now" if is_active(folder) else f"go on with it: sq resume {folder.name}{again}"
    say(f"the plan of run {folder.name} is approved, {later}")
    return 0
