"""The cost of a call by the price list: cache writes by their lifetime, server tools, unknown models.

Prices are those of `state/settings/models.yaml` and the user's own. They give one price for cache writes,
that of five minutes. One hour costs twice the price of input, by the API's price list of November 2026.
"""

from dataclasses import dataclass
from functools import cache

from state.records.calls import Usage
from state.settings.presets import models
from state.settings.records import Model

_HOUR = 2.0  # price of a cache write for one hour, by that of input
_SEARCH_USD = 0.01  # a web search


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Billed parts of one answer. `write_1h` are those of `usage.cache_write_tokens` kept for an hour."""

    usage: Usage
    write_1h: int = 0
    searches: int = 0


def usd(tokens: Tokens, model: Model) -> float:
    """Return the cost in USD. A model without prices counts by the dearest one that sq knows."""
    priced = model if model.prices else dearest()
    prompt = tokens.usage.input_tokens + tokens.usage.cache_read_tokens + tokens.usage.cache_write_tokens
    prices = priced.above if priced.above and prompt > priced.above.prompt_tokens else priced.prices
    hour = tokens.write_1h * (_HOUR * prices.input - prices.cache_write) / 1_000_000 if prices else 0.0
    return priced.cost(tokens.usage) + hour + tokens.searches * _SEARCH_USD


@cache
def dearest() -> Model:
    """Return the model with the highest price of output."""
    return max(models().values(), key=lambda model: model.prices.output if model.prices else 0.0)
