"""A reply in the format of the Messages API: one JSON body, or the events of a stream."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import uuid4

from pydantic import JsonValue

from agents.gateway.position import Due, ReplyPart, structured_words, tool_id
from agents.gateway.script import ScriptReply, ScriptUsage, StopReason

STRUCTURED_OUTPUT = "StructuredOutput"  # Claude Code's tool for a model's structured answer
_DELTA = 64  # characters: several deltas for a usual text, so that clients have to put them together
_TOKENS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")

Json = dict[str, JsonValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextBlock:
    """A text."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolBlock:
    """A tool call."""

    id: str
    name: str
    input: Json


Block = TextBlock | ToolBlock


@dataclass(frozen=True, slots=True, kw_only=True)
class WireMessage:
    """One whole answer of the model."""

    id: str
    model: str
    blocks: tuple[Block, ...]
    stop_reason: StopReason
    usage: dict[str, int]


def message(
    reply: ScriptReply, due: Due, *, model: str, offered: tuple[str, ...], usage: ScriptUsage
) -> WireMessage:
    """Return the answer for `due` from `reply`. `offered`: the request's tools. `usage`: the scenario's."""
    blocks = tuple(_blocks(reply, due, offered))
    calls = any(isinstance(block, ToolBlock) for block in blocks)
    usual = StopReason.TOOL_USE if calls else StopReason.END_TURN
    own = reply.stop_reason if due.part is ReplyPart.REPLY else None
    return WireMessage(
        id=f"msg_sq_{uuid4().hex}",
        model=model,
        blocks=blocks,
        stop_reason=own or usual,
        usage={key: _tokens(key, reply.usage, usage) for key in _TOKENS},
    )


def body(message: WireMessage) -> Json:
    """Return `message` as the answer to a request without streaming."""
    content: list[JsonValue] = [
        {"type": "text", "text": block.text}
        if isinstance(block, TextBlock)
        else {"type": "tool_use", "id": block.id, "name": block.name, "input": block.input}
        for block in message.blocks
    ]
    return {**_head(message), "content": content, "stop_reason": str(message.stop_reason)}


def events(message: WireMessage) -> Iterator[bytes]:
    """Yield `message` as server-sent events."""
    head = _head(message)
    head["usage"] = {**message.usage, "output_tokens": 1}  # the true number comes at the end
    yield _event("message_start", {"message": head})
    for index, block in enumerate(message.blocks):
        yield from _block_events(index, block)
    delta: Json = {"stop_reason": str(message.stop_reason), "stop_sequence": None}
    usage: Json = {"output_tokens": message.usage["output_tokens"]}
    yield _event("message_delta", {"delta": delta, "usage": usage})
    yield _event("message_stop", {})


def events_into(message: WireMessage, number: int) -> Iterator[bytes]:
    """Yield the events of `message` up to the middle of its block `number` (from 0)."""
    yield next(events(message))
    for index, block in enumerate(message.blocks[:number]):
        yield from _block_events(index, block)
    whole = list(_block_events(number, message.blocks[number], pieces=2))
    yield from whole[: len(whole) // 2]


def is_delta(event: bytes) -> bool:
    """Whether `event` carries a piece of a block."""
    return event.startswith(b"event: content_block_delta\n")


def _blocks(reply: ScriptReply, due: Due, offered: tuple[str, ...]) -> Iterator[Block]:
    if due.part is ReplyPart.THEN:
        yield TextBlock(text=reply.then or "")
        return
    if reply.text is not None:
        yield TextBlock(text=reply.text)
    for number, tool in enumerate(reply.tools, start=1):
        yield ToolBlock(id=tool_id(due, number), name=tool.name, input=tool.input)
    if reply.structured is not None and STRUCTURED_OUTPUT in offered:
        last = tool_id(due, len(reply.tools) + 1)
        yield ToolBlock(id=last, name=STRUCTURED_OUTPUT, input=reply.structured)
    elif words := structured_words(reply):
        yield TextBlock(text=words)


def _tokens(key: str, own: ScriptUsage, usual: ScriptUsage) -> int:
    found = (getattr(own, key), getattr(usual, key), 0)
    return next(int(number) for number in found if number is not None)


def _head(message: WireMessage) -> Json:
    return {
        "id": message.id,
        "type": "message",
        "role": "assistant",
        "model": message.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**message.usage},
    }


def _block_events(index: int, block: Block, *, pieces: int = 1) -> Iterator[bytes]:
    # The Claude Code CLI takes text from deltas only, and loses a block that has no stop event.
    if isinstance(block, TextBlock):
        start: Json = {"type": "text", "text": ""}
        deltas: list[Json] = [{"type": "text_delta", "text": part} for part in _parts(block.text, pieces)]
    else:
        start = {"type": "tool_use", "id": block.id, "name": block.name, "input": {}}
        whole = json.dumps(block.input)
        deltas = [{"type": "input_json_delta", "partial_json": part} for part in _parts(whole, pieces)]
    yield _event("content_block_start", {"index": index, "content_block": start})
    for delta in deltas:
        yield _event("content_block_delta", {"index": index, "delta": delta})
    yield _event("content_block_stop", {"index": index})


def _parts(text: str, pieces: int) -> Iterator[str]:
    """Yield `text` in deltas, at least `pieces` of them if it is long enough."""
    size = max(1, min(_DELTA, len(text) // pieces))
    return (text[start : start + size] for start in range(0, len(text), size))


def _event(kind: str, data: Json) -> bytes:
    """Return one event. The CLI needs the `event:` line too, not only the type in the data."""
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()
