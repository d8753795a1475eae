"""`sq config`: the settings that apply here, and the source of each value."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orchestrator.cli import options
from orchestrator.views.screen import say, say_json

if TYPE_CHECKING:
    from state.settings.config import ResolvedConfig


@click.group("config", short_help="Show every setting with its value and where it came from.")
def command() -> None:
    """Look at the settings. Later sources win: defaults, your file, `sq.toml` in the repository, `SQ_*`."""


@command.command("show", short_help="Show every setting with its value and where it came from.")
@click.argument("run", required=False, shell_complete=options.complete_runs)
@options.state_dir
@options.json_object
def show(run: str | None, state_dir: Path | None, as_json: bool) -> int:
    """Show every setting with its value and its source, and the presets and prices of your own.

    With RUN: the settings of that run, from its beginning and from each `sq resume` that changed some. Works
    inside and outside a repository. Exit code 2 if something cannot be used, with every problem.
    """
    if run is not None:
        return _show_run(run, state_dir, as_json=as_json)
    from agents.session.permissions import rule_names
    from state.settings.config import load_config

    resolved = load_config(options.repository_here(), os.environ, rules=rule_names())
    if as_json:
        files = [{"path": str(file), "found": file.is_file()} for file in resolved.files]
        say_json({"values": resolved.values, "own": resolved.own, "files": files})
    else:
        say(*_lines(resolved))
    return 0


def _show_run(name: str, state_dir: Path | None, *, as_json: bool) -> int:
    from orchestrator.views.report.making import held_lines, held_settings
    from state.journal.store import JournalReader

    folder = options.run_folder_of(name, state_dir)
    with JournalReader(folder) as journal:
        held = held_settings(journal.read())
    if as_json:
        say_json(held)
    else:
        say(*held_lines(held))
    return 0


def _lines(resolved: "ResolvedConfig") -> list[str]:
    from orchestrator.views.words import columns
    from state.settings.keys import shown

    entries = {**resolved.values, **resolved.own}
    rows = [(key, shown(entry.value), entry.source) for key, entry in entries.items()]
    files = [f"{file}: {'read' if file.is_file() else 'not there'}" for file in resolved.files]
    return [*columns(("key", "value", "source"), rows), "", *files]
