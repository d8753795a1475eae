"""Streams of a model's answer that are cut at a random byte, and what they cost.

They have the cost of an API which bills the input when it begins to answer, and each token that it has made, those of
an event that arrived in part included. `tokens_of` makes tokens as a model's tokenizer does: it splits words at four
letters, numbers at three digits, marks at two, and other scripts at each character.
"""

import json
import random
import re
import statistics
from collections.abc import Iterator
from dataclasses import dataclass

from agents.gateway.forward.meter import Meter, Tokens, usd
from benchmarks.figures import ROOT
from state.records.calls import Usage
from state.settings.presets import model_named

_MODEL = model_named("opus")
_TOKENS = re.compile(r" ?[A-Za-z]{1,4}|[0-9]{1,3}|\s+|[!-/:-@\[-`{-~]{1,2}|[^\sA-Za-z0-9]")
_SOURCES = ("ARCHITECTURE.md", "CONTRIBUTING.md", "pyproject.toml", "agents/access.py", "docs/guide.md")
_OTHER = "部署脚本在第三行失败了。 Тест не прошёл, größer als erwartet 🙂 0123456789abcdef == [{}] \t\n"


@dataclass
class CutStream:
    """Bytes of an answer up to its cut, and the tokens that were billed. `request` is the body asked with."""

    request: bytes
    bytes: bytes
    billed: Tokens
    whole: bool = False


def tokens_of(text: str) -> list[str]:
    """Return a text as tokens."""
    return _TOKENS.findall(text)


def corpus() -> str:
    """Return the text from which answers are made."""
    return "\n".join((ROOT / name).read_text("utf-8") for name in _SOURCES) + _OTHER * 40


def cut_streams(count: int, *, seed: int) -> Iterator[CutStream]:
    """Yield streams that end at a random byte, one in twenty of them whole."""
    random_ = random.Random(seed)  # noqa: S311  no secret
    text = corpus()
    for _ in range(count):
        yield _cut(random_, text)


def _cut(random_: random.Random, text: str) -> CutStream:
    prompt = random_.randint(8_000, 150_000)  # tokens
    cached = int(prompt * random_.choice((0.0, 0.7, 0.9, 0.97)))
    written = int((prompt - cached) * 0.9)
    begun = {
        "input_tokens": prompt - cached - written,
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": written,
        "output_tokens": 1,
    }
    events = [(_event("message_start", {"message": {"usage": begun}}), 1)]
    for index in range(random_.randint(1, 3)):
        events += _block(random_, text, index)
    end = {"delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": sum(made for _, made in events)}}
    events += [(_event("message_delta", end), 0), (_event("message_stop", {}), 0)]
    whole = b"".join(event for event, _ in events)
    first = len(events[0][0])
    at = len(whole) if random_.random() < 0.05 else random_.randint(first, len(whole))
    billed, seen = 0, 0
    for event, made in events:
        if seen < at:
            billed += made
            seen += len(event)
    usage = Usage(
        input_tokens=begun["input_tokens"],
        cache_read_tokens=cached,
        cache_write_tokens=written,
        output_tokens=billed,
    )
    return CutStream(
        request=b"x" * (prompt * 4), bytes=whole[:at], billed=Tokens(usage=usage), whole=at == len(whole)
    )


def _block(random_: random.Random, text: str, index: int) -> Iterator[tuple[bytes, int]]:
    """Yield the events of a block of an answer, each with the tokens that it has."""
    kind, name = random_.choice((("text", "text"), ("tool_use", "partial_json"), ("thinking", "thinking")))
    delta = {"text": "text_delta", "tool_use": "input_json_delta", "thinking": "thinking_delta"}[kind]
    begun = {"type": kind, "name": "Write"} if kind == "tool_use" else {"type": kind, name: ""}
    made = 3 if kind == "tool_use" else 1
    yield _event("content_block_start", {"index": index, "content_block": begun}), made
    at, length = random_.randrange(len(text) - 9_000), int(random_.paretovariate(1.1) * 80)
    said = text[at : at + min(length, 8_000)]
    tokens = tokens_of(json.dumps({"content": said}) if kind == "tool_use" else said)
    while tokens:
        size = random_.randint(1, 12)
        now, tokens = tokens[:size], tokens[size:]
        part = {"type": delta, name: "".join(now)}
        yield _event("content_block_delta", {"index": index, "delta": part}), len(now)
    yield _event("content_block_stop", {"index": index}), 0


def _event(kind: str, data: dict[str, object]) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data}, ensure_ascii=False)}\n\n".encode()


def spend(count: int = 1_000, seed: int = 16) -> tuple[int, float]:
    """Return how many cut streams were settled below the truth, and the 95th percentile of settled to true.

    The second is a ratio of costs.
    """
    random_, ratios = random.Random(seed), []  # noqa: S311  no secret
    for stream in cut_streams(count, seed=seed):
        meter, at = Meter(stream.request, most=128_000, stream=True), 0
        while at < len(stream.bytes):
            size = random_.randint(1, 2_000)
            meter.feed(stream.bytes[at : at + size])
            at += size
        ratios.append(usd(meter.spend().tokens, _MODEL) / usd(stream.billed, _MODEL))
    below = sum(ratio < 1 - 1e-9 for ratio in ratios)
    return below, statistics.quantiles(ratios, n=20)[-1]
