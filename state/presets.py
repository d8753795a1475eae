"""Effort presets and models: the shipped tables, read and checked once each."""

from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from state.errors import UsageError
from state.records import Role, Usage


class ReviewDepth(StrEnum):
    """How closely a reviewer looks (seed 002)."""

    SHALLOW = "shallow"
    STANDARD = "standard"
    DEEP = "deep"
    COMPREHENSIVE = "comprehensive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """One row of `effort.yaml`: how much a run spends on being sure."""

    name: str
    review_depth: ReviewDepth
    stuck_threshold: int
    revisions_per_task: int
    final_review_rounds: int
    models: dict[Role, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """USD per million tokens; `prompt_tokens` is the prompt length from which on they hold."""

    input: float
    output: float
    cache_write: float
    cache_read: float
    prompt_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """One row of `models.yaml`."""

    alias: str
    id: str
    context: int
    prices: Prices
    above: Prices | None = None

    def cost(self, usage: Usage) -> float:
        """What a call with these tokens costs, in USD."""
        prompt = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
        prices = self.above if self.above and prompt > self.above.prompt_tokens else self.prices
        return (
            usage.input_tokens * prices.input
            + usage.output_tokens * prices.output
            + usage.cache_write_tokens * prices.cache_write
            + usage.cache_read_tokens * prices.cache_read
        ) / 1_000_000


def effort_named(name: str) -> Effort:
    """The preset of this name.

    Raises:
        UsageError: there is none; names the known ones.
    """
    table = efforts()
    if name not in table:
        raise UsageError(f"--effort {name}: unknown preset; known are {', '.join(table)}")
    return table[name]


def model_named(alias: str) -> Model:
    """The model of this alias.

    Raises:
        UsageError: there is none; names the known ones.
    """
    table = models()
    if alias not in table:
        raise UsageError(f"model {alias}: not in models.yaml; known are {', '.join(table)}")
    return table[alias]


@cache
def efforts() -> dict[str, Effort]:
    """The shipped presets by name, mildest first."""
    return {
        name: msgspec.convert({"name": name, **row}, Effort) for name, row in _table("effort.yaml").items()
    }


@cache
def models() -> dict[str, Model]:
    """The shipped models by alias."""
    return {
        alias: msgspec.convert({"alias": alias, **row}, Model) for alias, row in _table("models.yaml").items()
    }


def _table(name: str) -> dict[str, dict[str, Any]]:
    import yaml

    table: dict[str, dict[str, Any]] = yaml.safe_load((files("state") / name).read_text("utf-8"))
    return table
