"""`sq config`: what sq is set to here, and where each value came from."""

import os
from typing import TYPE_CHECKING

import click

from orchestrator.cli import options

if TYPE_CHECKING:
    from state.config import Resolved


@click.group("config", short_help="Show every setting with its value and where it came from.")
def command() -> None:
    """Look at the settings. Later sources win: defaults, your file, `sq.toml` in the repository, `SQ_*`."""


@command.command("show", short_help="Show every setting with its value and where it came from.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout, nothing else there.")
def show(as_json: bool) -> int:
    """Show every setting with its value and its source, and the presets and prices of your own.

    Works inside and outside a repository. Exit code 2 if something cannot be used: every problem is told.
    """
    from agents.permissions import rule_names
    from state.config import load_config

    resolved = load_config(options.repository_here(), os.environ, rules=rule_names())
    if as_json:
        import msgspec

        files = [{"path": str(file), "found": file.is_file()} for file in resolved.files]
        shown = {"values": resolved.values, "own": resolved.own, "files": files}
        click.echo(msgspec.json.encode(shown).decode())
    else:
        click.echo("\n".join(_lines(resolved)))
    return 0


def _lines(resolved: "Resolved") -> list[str]:
    from orchestrator.views.columns import columns
    from orchestrator.views.lines import visible
    from state.keys import shown

    entries = {**resolved.values, **resolved.own}
    rows = [(key, shown(entry.value), entry.source) for key, entry in entries.items()]
    files = [f"{file}: {'read' if file.is_file() else 'not there'}" for file in resolved.files]
    return [visible(line) for line in [*columns(("key", "value", "source"), rows), "", *files]]
