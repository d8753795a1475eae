"""The group `sq fleet`. Its commands import DBOS when they are called, and no other command does."""

import importlib

import click

_COMMANDS = {  # by their modules
    "submit": ("submit",),
    "worker": ("worker",),
    "show": ("list_all", "show", "logs"),
    "control": ("cancel", "retry", "budget", "limits", "doctor"),
}


@click.group("fleet", short_help="Submit runs to many hosts, and work on them.")
def command() -> None:
    """Submit runs to a database, work on them on any number of hosts, and look at them.

    On one host a file of SQLite needs no set-up. For several hosts, let SQ_FLEET_DATABASE name a PostgreSQL
    database (postgresql://USER@HOST/NAME) in the environment of each command. Needs the extra `fleet`.
    """


for _module, _names in _COMMANDS.items():
    for _name in _names:
        command.add_command(getattr(importlib.import_module(f"orchestrator.cli.fleet.{_module}"), _name))
