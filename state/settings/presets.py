"""What sq ships: effort presets, models, and how often a run has something done again before it gives up."""

from dataclasses import dataclass, replace
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryLimits:
    """The most times of each kind, the first one included unless it says otherwise."""

    proposals: int = 3  # of an analysis or a plan: the first and two corrected ones
    unusable_reports: int = 2  # of a reviewer: it is asked once more, then given up
    answer_tries: int = 2  # an unusable answer is asked for once more, with what is wrong with it
    rejected_answers: int = 1  # to a question, which are made anew
    plain_questions: int = 3  # of a Worker in one attempt, asked in its text and not by the tool
    refusals: int = 5  # blocks of the completion gates in a row
    same_refusal: int = 3  # of these, for the same reason
    fresh_sessions: int = 2  # of a task in a row, after one that could not go on
    resolutions: int = 3  # of a conflict, before it is given up


RETRY_LIMITS = RetryLimits()
