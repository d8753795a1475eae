"""Streams of answers that are cut at a random byte, with what they cost in truth.

The truth is that of an API which bills the input when it begins to answer, and each token that it has made,
those of an event that arrived in part included. Prompts, caches, lengths and kinds of answers are like those
of coding sessions. Tokens are as a model's tokenizer makes them from prose, code, JSON and other scripts:
`tokens_of` splits words at four letters, numbers at three digits, marks at two, and other scripts at each
character.
"""

import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agents.gateway.forward.meter import Tokens
from state.records.calls import Usage

_ROOT = Path(__file__).parents[1]
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
    return "\n".join((_ROOT / name).read_text("utf-8") for name in _SOURCES) + _OTHER * 40


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
    usage = {
        "input_tokens": prompt - cached - written,
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": written,
        "output_tokens": 1,
    }
    events, made = [_event("message_start", {"message": {"usage": usage}})], [1]
    for index in range(random_.randint(1, 3)):
        _block(random_, text, index, events, made)
    output = sum(made)
    end = {"delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": output}}
    events += [_event("message_delta", end), _event("message_stop", {})]
    made += [0, 0]
    whole = b"".join(events)
    at = len(whole) if random_.random() < 0.05 else random_.randint(len(events[0]), len(whole))  # noqa: PLR2004
    billed, seen = 0, 0
    for event, tokens in zip(events, made, strict=True):
        if seen >= at:
            break
        billed += tokens
        seen += len(event)
    return CutStream(
        request=b"x" * (prompt * 4),
        bytes=whole[:at],
        billed=Tokens(
            usage=Usage(
                input_tokens=usage["input_tokens"],
                cache_read_tokens=cached,
                cache_write_tokens=written,
                output_tokens=billed,
            )
        ),
        whole=at == len(whole),
    )


def _block(random_: random.Random, text: str, index: int, events: list[bytes], made: list[int]) -> None:
    kind, name = random_.choice((("text", "text"), ("tool_use", "partial_json"), ("thinking", "thinking")))
    delta = {"text": "text_delta", "tool_use": "input_json_delta", "thinking": "thinking_delta"}[kind]
    begun = {"type": kind, "name": "Write"} if kind == "tool_use" else {"type": kind, name: ""}
    events.append(_event("content_block_start", {"index": index, "content_block": begun}))
    made.append(3 if kind == "tool_use" else 1)
    at, length = random_.randrange(len(text) - 9_000), int(random_.paretovariate(1.1) * 80)
    said = text[at : at + min(length, 8_000)]
    tokens = tokens_of(json.dumps({"content": said}) if kind == "tool_use" else said)
    while tokens:
        size = random_.randint(1, 12)
        now, tokens = tokens[:size], tokens[size:]
        events.append(
            _event("content_block_delta", {"index": index, "delta": {"type": delta, name: "".join(now)}})
        )
        made.append(len(now))
    events.append(_event("content_block_stop", {"index": index}))
    made.append(0)


def _event(kind: str, data: dict[str, object]) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data}, ensure_ascii=False)}\n\n".encode()
