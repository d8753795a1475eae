"""Options that several commands of `sq gate` share, and the judge's model."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from state.settings.records import Model

json_option = click.option(
    "--json", "as_json", is_flag=True, help="One JSON object on stdout, nothing else there."
)
explain_option = click.option("--explain", is_flag=True, help="Show every check and why.")
project_option = click.option(
    "--project",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Whose considerations apply (default: this folder's repository, for `check` the session's).",
)


def judge_model(project: Path | None) -> "Model":
    """The judge's model in the project's settings."""
    from agents.session.permissions import rule_names
    from state.roles import Role
    from state.settings.config import load_config

    return load_config(project, os.environ, rules=rule_names()).settings.models[Role.JUDGE]
