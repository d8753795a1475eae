"""Reads the cost of an answer from a copy of its bytes, while they go through.

The input is that of `message_start`, the output that of `message_delta`. An answer that is cut before its end
counts its input, and as output the most tokens that the bytes seen can have, with those of an event that was
under way. Without a tokenizer every digit, mark and byte of another script counts as one token, and letters
of one word as two a token, like a mark that repeats. Tokenizers need fewer, for prose about half of it.

Prices are those of `state/settings/models.yaml` and the user's own. They give one price for cache writes,
that of five minutes. One hour costs twice the price of input, by the API's price list of November 2026.
"""

import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from state.records.calls import Usage
from state.settings.presets import models
from state.settings.records import CHARACTERS_PER_TOKEN, Model

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
    prices = priced.prices_of(tokens.usage)
    hour = tokens.write_1h * (_HOUR * prices.input - prices.cache_write) / 1_000_000 if prices else 0.0
    return priced.cost(tokens.usage) + hour + tokens.searches * _SEARCH_USD


@cache
def dearest() -> Model:
    """Return the model with the highest price of output."""
    return max(models().values(), key=lambda model: model.prices.output if model.prices else 0.0)


_IN_AN_EVENT = re.compile(rb'"(?:text|partial_json|thinking)":\s*"(.*)', re.DOTALL)
_SPEED = 200  # tokens a second of thinking that is not shown, at most
_UNDER_WAY = 16  # tokens that the API has made and that did not arrive: those of one event
_SIGNED = 3  # characters a token of a thinking block's signature, which contains its text
_FOR_AN_HOUR = b'"1h"'  # in a request whose cache is kept for an hour


@dataclass(frozen=True, slots=True, kw_only=True)
class Spend:
    """The tokens of one answer. `partial`: it was cut, and its output (or all) is an upper bound."""

    tokens: Tokens
    partial: bool


class Meter:
    """Takes the chunks of one answer to `request`, whose `max_tokens` are `most`. `ended`: it was whole."""

    def __init__(self, request: bytes, *, most: int, stream: bool) -> None:
        self._request = request
        self._most = most
        self._stream = stream
        self._rest = b""
        self._usage: dict[str, Any] = {}
        self._texts: list[str] = []
        self._hidden = 0
        self._thinks_since: float | None = None
        self._settled = False
        self.ended = False

    def feed(self, chunk: bytes) -> None:
        """Read the next bytes of the body."""
        self._rest += chunk
        if not self._stream or b"\n" not in chunk:
            return
        *lines, self._rest = self._rest.split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                self._event(_object(line[5:]))

    def spend(self) -> Spend:
        """Return the cost of all that was read. Call it once, after the last byte."""
        if not self._stream:
            whole = _object(self._rest)
            self._take(whole.get("usage"))
            self._settled = isinstance(whole.get("usage"), dict)
        if self._settled:
            return Spend(tokens=_tokens(self._usage), partial=False)
        if not self._usage:
            self._usage = self._whole_input()
        seen = self._seen()
        most = min(seen, self._most) if self._most else seen
        self._usage["output_tokens"] = max(most, _count(self._usage.get("output_tokens")))
        return Spend(tokens=_tokens(self._usage), partial=True)

    def _whole_input(self) -> dict[str, Any]:
        """Return an input that the answer did not name: the whole request, written to the cache."""
        tokens = len(self._request) // CHARACTERS_PER_TOKEN
        hour = tokens if _FOR_AN_HOUR in self._request else 0
        return {
            "cache_creation_input_tokens": tokens,
            "cache_creation": {"ephemeral_1h_input_tokens": hour},
        }

    def _seen(self) -> int:
        """Return the most tokens of output that the bytes read can have."""
        last = _IN_AN_EVENT.search(self._rest) if self._stream else re.search(rb"(.*)", self._rest, re.DOTALL)
        cut = last.group(1).decode("utf-8", "replace") if last else ""
        if self._thinks_since is not None:
            self._hidden += int(_SPEED * (time.monotonic() - self._thinks_since))
        under_way = _UNDER_WAY if self._stream else 0
        return most_tokens("".join(self._texts)) + most_tokens(cut) + self._hidden + under_way

    def _event(self, event: dict[str, Any]) -> None:
        match event.get("type"):
            case "message_start":
                self._take(_dict(event.get("message")).get("usage"))
            case "message_delta":
                self._take(event.get("usage"))
                self._settled = "output_tokens" in _dict(event.get("usage"))
            case "message_stop":
                self.ended = True
            case "content_block_start":
                self._begin(_dict(event.get("content_block")))
            case "content_block_delta":
                self._add(_dict(event.get("delta")))
            case "content_block_stop":
                self._thinks_since = None

    def _begin(self, block: dict[str, Any]) -> None:
        self._texts.append(f"{block.get('name', '')} {block.get('text', '')}")
        self._hidden += len(str(block.get("data", ""))) // _SIGNED
        if block.get("type") == "thinking":
            self._thinks_since = time.monotonic()

    def _add(self, delta: dict[str, Any]) -> None:
        for name in ("text", "partial_json", "thinking"):
            if text := delta.get(name):
                self._texts.append(str(text))
        self._hidden += _count(delta.get("estimated_tokens"))
        self._hidden += len(str(delta.get("signature", ""))) // _SIGNED
        if delta.get("type") == "thinking_delta":
            self._thinks_since = None if delta.get("thinking") else time.monotonic()

    def _take(self, usage: object) -> None:
        """Add the counts of `usage`, which are totals: a later one replaces an earlier one."""
        self._usage |= {name: value for name, value in _dict(usage).items() if value is not None}


def _tokens(usage: Mapping[str, Any]) -> Tokens:
    written = _dict(usage.get("cache_creation"))
    found = Usage(
        input_tokens=_count(usage.get("input_tokens")),
        output_tokens=_count(usage.get("output_tokens")),
        cache_read_tokens=_count(usage.get("cache_read_input_tokens")),
        cache_write_tokens=_count(usage.get("cache_creation_input_tokens")),
    )
    hour = min(_count(written.get("ephemeral_1h_input_tokens")), found.cache_write_tokens)
    searches = _count(_dict(usage.get("server_tool_use")).get("web_search_requests"))
    return Tokens(usage=found, write_1h=hour, searches=searches)


def _object(text: bytes) -> dict[str, Any]:
    try:
        return _dict(json.loads(text))
    except (ValueError, RecursionError):
        return {}


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\s+|([!-/:-@\[-`{-~])\1+|[^\sA-Za-z]")
_A_TOKEN = 2  # letters


def most_tokens(text: str) -> int:
    """Return the bound for `text`."""
    return sum(_of(part.group()) for part in _PARTS.finditer(text))


def _of(part: str) -> int:
    if part == " ":
        return 0
    if part.isspace():
        return 1
    return -(-len(part) // _A_TOKEN) if part.isascii() else len(part.encode("utf-8", "replace"))
