"""The group `sq fleet`, and `sq fleet worker`. It imports DBOS when a command is called, no other does."""

import os
import re
from collections.abc import Sequence

import click

from orchestrator.cli import options
from orchestrator.cli.fleet import control
from orchestrator.cli.fleet.opened import checked_labels, database_url, fleet_root, shown_url
from orchestrator.cli.fleet.submit import submit
from orchestrator.views.screen import say
from state.errors import UsageError

_LOCAL = ("*",)
_NAME = re.compile(r"\w[\w.-]{0,62}", re.ASCII)


@click.command("worker", short_help="Work on what is submitted, until a signal.")
@click.option(
    "--places", type=click.IntRange(1, 64), default=1, show_default=True, help="Runs at the same time."
)
@click.option("--label", "labels", multiple=True, metavar="NAME", help="What this host has. Repeatable.")
@click.option("--drain", "until_empty", is_flag=True, help="End when nothing is left to do.")
@click.option("--name", default="", metavar="NAME", help="The name in lists (default: that of the host).")
@click.option(
    "--repository",
    "repositories",
    multiple=True,
    metavar="PATTERN",
    help="Work on these repositories alone (https://host/team/*). Needed with PostgreSQL. Repeatable.",
)
@click.option(
    "--sandbox",
    type=click.Choice(["whole", "commands", "auto", "off"]),
    default="whole",
    show_default=True,
    help="The sandbox of all runs here. No submission can change it.",
)
@options.host
@click.option("--trust-settings", is_flag=True, help="A repository's sq.toml may open the sandbox.")
@click.option("--most", type=click.FloatRange(min=0), metavar="USD", help="The largest budget of a run here.")
@click.option(
    "--checkpoint",
    type=click.FloatRange(min=1),
    default=60.0,
    show_default=True,
    help="Seconds between checkpoints.",
)
def worker(
    places: int,
    labels: tuple[str, ...],
    until_empty: bool,
    name: str,
    repositories: tuple[str, ...],
    sandbox: str,
    trust_settings: bool,
    most: float | None,
    checkpoint: float,
) -> int:
    """Claim submissions and work on them, until SIGTERM or Ctrl-C.

    Then runs are put down, pushed and given back within a minute, and another worker goes on with them.
    The API key and the rights of git are this host's: they are in its environment, and in no submission.
    """
    url = database_url()
    _refuse(url, repositories, name, sandbox)
    import sqlalchemy as sa

    from orchestrator.cli.version import sq_version
    from orchestrator.fleet.host import WorkerPolicy
    from orchestrator.fleet.worker import Worker, WorkerWish

    wish = WorkerWish(
        policy=WorkerPolicy(
            repositories=repositories or _LOCAL,
            sandbox=sandbox,
            trusts_settings=trust_settings,
            most_usd=most,
        ),
        places=places,
        labels=checked_labels(labels),
        name=name,
        until_empty=until_empty,
        checkpoint_s=checkpoint,
    )
    try:
        made = Worker(url, fleet_root(), wish, sq_version(), say)
    except sa.exc.SQLAlchemyError as error:
        raise UsageError(f"the database {shown_url(url)} does not answer: {type(error).__name__}") from error
    made.run()


def _refuse(url: str, repositories: Sequence[str], name: str, sandbox: str) -> None:
    """Refuse a worker that could do no work or too much.

    Raises:
        UsageError: its database is shared and it has no rules, or there is no such sandbox here.
    """
    from orchestrator.fleet.host import sandbox_problem

    if not (repositories or url.startswith("sqlite")):
        raise UsageError(
            "with a database that others use, name the repositories that this worker works on: "
            "--repository 'https://github.com/TEAM/*' (or '*' for all)"
        )
    if name and not _NAME.fullmatch(name):
        raise UsageError(f"--name: {name!r} is no name. Write letters, digits, . - and _")
    if sandbox == "whole" and (why := sandbox_problem(os.environ)):
        raise UsageError(f"no run could be worked on here: {why}. --sandbox chooses another sandbox")


@click.group("fleet", short_help="Submit runs to many hosts, and work on them.")
def command() -> None:
    """Submit runs to a database, work on them on any number of hosts, and look at them.

    On one host a file of SQLite needs no set-up. For several hosts, let SQ_FLEET_DATABASE name a PostgreSQL
    database (postgresql://USER@HOST/NAME) in the environment of each command. Needs the extra `fleet`.
    """


for _one in (
    submit,
    worker,
    control.list_all,
    control.show,
    control.logs,
    control.cancel,
    control.retry,
    control.budget,
    control.limits,
    control.doctor,
):
    command.add_command(_one)
