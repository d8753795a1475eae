"""The group `sq fleet`. Its commands import DBOS when they are called, and no other command does."""

import click

from orchestrator.cli.fleet import control, show
from orchestrator.cli.fleet.submit import submit
from orchestrator.cli.fleet.worker import worker


@click.group("fleet", short_help="Submit runs to many hosts, and work on them.")
def command() -> None:
    """Submit runs to a database, work on them on any number of hosts, and look at them.

    On one host a file of SQLite needs no set-up. For several hosts, let SQ_FLEET_DATABASE name a PostgreSQL
    database (postgresql://USER@HOST/NAME) in the environment of each command. Needs the extra `fleet`.
    """


_COMMANDS = (
    submit,
    worker,
    show.list_all,
    show.show,
    show.logs,
    control.cancel,
    control.retry,
    control.budget,
    control.limits,
    control.doctor,
)
for _one in _COMMANDS:
    command.add_command(_one)
