"""The group `sq fleet`. Its commands alone import DBOS, when they are called."""

import importlib

import click

# name → (module, the command in it, the line that `sq fleet --help` shows)
_COMMANDS = {
    "submit": ("submit", "submit", "Submit specs, each a run of its own."),
    "worker": ("worker", "worker", "Work on what is submitted, until a signal."),
    "list": ("show", "list_all", "Show all submissions and workers."),
    "show": ("show", "show", "Show one submission."),
    "logs": ("show", "logs", "Show what happens in the run of a submission."),
    "cancel": ("control", "cancel", "Stop a submission. What it has built stays."),
    "retry": ("control", "retry", "Go on with a submission that has ended."),
    "budget": ("control", "budget", "Show or set the budgets of the fleet."),
    "limits": ("control", "limits", "Show or set how much runs at once."),
    "doctor": ("control", "doctor", "Check the database, the workers and this host."),
}


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in _COMMANDS:
            return None
        module, name, _ = _COMMANDS[cmd_name]
        command: click.Command = getattr(importlib.import_module(f"orchestrator.cli.fleet.{module}"), name)
        return command


@click.group("fleet", cls=_Commands, short_help="Submit runs to many hosts, and work on them.")
def command() -> None:
    """Submit runs to a database, work on them on any number of hosts, and look at them.

    On one host a file of SQLite needs no set-up. For several hosts, let SQ_FLEET_DATABASE name a PostgreSQL
    database (postgresql://USER@HOST/NAME) in the environment of each command. Needs the extra `fleet`.
    """
