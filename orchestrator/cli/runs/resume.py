"""`sq resume`: go on with a run."""

from pathlib import Path

import click

from orchestrator.cli import options
from orchestrator.cli.runs import flags

_BUDGET = "The most that the whole run may cost, from its beginning, if it has used up its budget."


@click.command("resume", short_help="Go on with a run that was interrupted or killed.")
@click.argument("run", required=False, shell_complete=options.complete_runs)
@options.state_dir
@click.option("--budget", type=click.FloatRange(min=0, min_open=True), metavar="USD", help=_BUDGET)
@click.option("--max-iterations", type=click.IntRange(min=1), metavar="N", help="Iterations of a task.")
@click.option(
    "--retry", multiple=True, metavar="TASK", help="Try a task again that ended unmerged. Repeatable."
)
@click.option(
    "--verify",
    multiple=True,
    metavar="CMD",
    help="A command that sq runs itself to verify from now on, instead of those before. Repeatable.",
)
@options.models
@click.option(
    "--questions",
    type=click.Choice(["answer", "park"]),
    help="From now on: answer or park a question about something that cannot be undone.",
)
@flags.settings(sandbox="")
@options.as_json
@options.plain
@options.verbose
@options.quiet
def command(
    run: str | None,
    state_dir: Path | None,
    budget: float | None,
    max_iterations: int | None,
    retry: tuple[str, ...],
    verify: tuple[str, ...],
    models: dict[str, str],
    questions: str | None,
    sandbox: str | None,
    as_json: bool,
    plain: bool,
    verbose: bool,
    quiet: bool,
) -> int:
    """Go on with RUN (default: the newest) where it was. Finished work is not done or paid for again.

    A run that ended because the API could not be asked, or at a limit, goes on too. Give a larger limit here.
    A task that is stuck, failed or could not be verified would end the same again unless something changes:
    it is tried again only with --retry, and its accepted work is not built again. Settings that are changed
    here apply from now on: `sq config show RUN` shows all of them with their times.
    """
    from orchestrator.cli.runs.compose import run_again
    from orchestrator.cli.runs.reported import FilesAtEnd
    from orchestrator.cli.runs.request import GoOn, RunEnvironment

    folder = options.run_folder_of(run, state_dir)
    look = options.look_of(as_json=as_json, plain=plain, verbose=verbose, quiet=quiet)
    go_on = GoOn(
        budget_usd=budget,
        max_iterations=max_iterations,
        retry=retry,
        verify=verify,
        models=models,
        questions=questions,
        sandbox=sandbox,
    )
    given = RunEnvironment(look=look, end_report=FilesAtEnd(), transport=options.transport())
    return run_again(folder, given, go_on).exit_code
