"""The shipped tables of effort presets and models, read and checked once each."""

from dataclasses import replace
from functools import cache
from typing import Any

import msgspec

from state.decoding import table_beside
from state.errors import UsageError
from state.settings.records import Effort, Model, Settings, split_effort


def effort_named(name: str) -> Effort:
    """Return the shipped preset of this name.

    Raises:
        UsageError: there is none. Names the known ones.
    """
    table = efforts()
    if name not in table:
        raise UsageError(f"--effort {name}: unknown preset, known are {', '.join(table)}")
    return table[name]


def model_named(name: str) -> Model:
    """Return the shipped model of this alias, with the effort that the name holds.

    Raises:
        UsageError: there is none. Names the known ones.
    """
    table = models()
    alias, effort = split_effort(name)
    if alias not in table:
        raise UsageError(f"model {alias}: not in models.yaml, known are {', '.join(table)}")
    return replace(table[alias], effort=effort)


def usual_settings(effort: str = "medium", verify: tuple[str, ...] = ()) -> Settings:
    """Return the settings of a run for which only a shipped preset was chosen.

    Raises:
        UsageError: there is no such preset.
    """
    row = effort_named(effort)
    return Settings(
        effort=row,
        models={role: model_named(name) for role, name in row.models.items()},
        verify=verify,
        budget_run_usd=row.budget_run_usd,
        budget_task_usd=row.budget_task_usd,
    )


@cache
def efforts() -> dict[str, Effort]:
    """Return the shipped presets by name, mildest first."""
    return {
        name: msgspec.convert({"name": name, **row}, Effort) for name, row in _table("effort.yaml").items()
    }


@cache
def models() -> dict[str, Model]:
    """Return the shipped models by alias."""
    return {
        alias: msgspec.convert({"alias": alias, **row}, Model) for alias, row in _table("models.yaml").items()
    }


def _table(name: str) -> dict[str, dict[str, Any]]:
    table: dict[str, dict[str, Any]] = table_beside(__file__, name)
    return table
