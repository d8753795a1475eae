"""Reads a Messages API request as a conversation: prompts, the model's messages, results of its tools."""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, takewhile

from pydantic import BaseModel, JsonValue, ValidationError

from state.errors import SqError

_REMINDER = re.compile(r"\A\s*<system-reminder>.*?</system-reminder>\s*", re.DOTALL)
_REMINDER_START, _REMINDER_END = "<system-reminder>", "</system-reminder>"
_NOT_PROMPTS = ("[Request interrupted by user",)  # the CLI itself writes these into user messages


class RequestError(SqError):
    """The body is not a Messages API request. The message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A prompt for the model, without the reminders around it."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """An earlier message of the model, as the request repeats it. Adjacent assistant messages are one."""

    texts: tuple[str, ...] = ()
    tool_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of one tool call."""

    tool_id: str
    text: str


Entry = Prompt | Said | Result


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One call for the model.

    `effort` is that of the reply, "" if the request names none, `task_tokens` those that the model is told it
    has for its turn, or 0. `everything` is all text of system and
    messages. `digest` stays the same when the CLI sends the same conversation again with other headers, cache
    marks or streaming. `size` is that of the body, in bytes.
    """

    model: str
    stream: bool
    tools: tuple[str, ...]
    entries: tuple[Entry, ...]
    messages: int
    effort: str
    task_tokens: int
    everything: str
    digest: str
    size: int

    @property
    def newest_prompt(self) -> str:
        """The last prompt."""
        return next((entry.text for entry in reversed(self.entries) if isinstance(entry, Prompt)), "")

    @property
    def newest_results(self) -> tuple[str, ...]:
        """The texts of the tool results since the model's last message."""
        since = takewhile(lambda entry: not isinstance(entry, Said), reversed(self.entries))
        return tuple(entry.text for entry in since if isinstance(entry, Result))[::-1]


def read_request(body: bytes) -> ModelRequest:
    """Return the request in `body`.

    Raises:
        RequestError: the body is not JSON or does not have the shape of a Messages API request.
    """
    try:
        raw: JsonValue = json.loads(body)
        wire = _Wire.model_validate(raw)
    except (ValueError, ValidationError) as error:
        raise RequestError(f"not a Messages API request: {error}") from error
    return ModelRequest(
        model=wire.model,
        stream=wire.stream,
        tools=tuple(tool.name for tool in wire.tools),
        entries=tuple(_joined(chain.from_iterable(map(_entries, wire.messages)))),
        messages=len(wire.messages),
        effort=wire.output_config.effort or "",
        task_tokens=wire.output_config.task_budget.total,
        everything="\n".join(chain(_leaves(wire.system), _leaves([m.content for m in wire.messages]))),
        digest=_digest(wire.messages),
        size=len(body),
    )


class _Tool(BaseModel):
    name: str = ""


class _Message(BaseModel):
    role: str
    content: JsonValue


class _TaskBudget(BaseModel):
    total: int = 0


class _OutputConfig(BaseModel):
    effort: str | None = None
    task_budget: _TaskBudget = _TaskBudget()


class _Wire(BaseModel):
    model: str
    output_config: _OutputConfig = _OutputConfig()
    messages: list[_Message]
    stream: bool = False
    tools: list[_Tool] = []
    system: JsonValue = None


def _entries(message: _Message) -> Iterator[Entry]:
    # Roles: assistant (said before), user (prompts and results), system (the CLI's environment: no entry).
    if message.role == "assistant":
        blocks = list(_blocks(message.content))
        yield Said(
            texts=tuple(_text(block) for block in blocks if block.get("type") == "text"),
            tool_ids=tuple(str(block.get("id")) for block in blocks if block.get("type") == "tool_use"),
        )
    elif message.role == "user":
        for block in _blocks(message.content):
            if block.get("type") == "tool_result":
                yield Result(tool_id=str(block.get("tool_use_id")), text=_result_text(block.get("content")))
            elif block.get("type") == "text" and (asked := _prompt(_text(block))):
                yield Prompt(text=asked)


def _joined(entries: Iterator[Entry]) -> Iterator[Entry]:
    said: Said | None = None
    for entry in entries:
        if isinstance(entry, Said):
            before = said or Said()
            said = Said(texts=before.texts + entry.texts, tool_ids=before.tool_ids + entry.tool_ids)
            continue
        if said is not None:
            yield said
            said = None
        yield entry
    if said is not None:
        yield said


def _blocks(content: JsonValue) -> Iterator[dict[str, JsonValue]]:
    if isinstance(content, str):
        yield {"type": "text", "text": content}
    elif isinstance(content, list):
        yield from (block for block in content if isinstance(block, dict))


def _text(block: dict[str, JsonValue]) -> str:
    text = block.get("text")
    return text if isinstance(text, str) else ""


def _result_text(content: JsonValue) -> str:
    return "\n".join(_text(block) for block in _blocks(content))


def _prompt(text: str) -> str:
    """Return the prompt in a text block of a user message, or "" if the block is the CLI's own."""
    text = text.strip()
    if text.startswith(_NOT_PROMPTS):
        return ""
    if text.startswith(_REMINDER_START) and text.endswith(_REMINDER_END):
        return ""
    while found := _REMINDER.match(text):
        text = text[found.end() :]
    return "" if text.startswith(_REMINDER_START) else text


def _leaves(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _leaves(item)


def _digest(messages: list[_Message]) -> str:
    canonical = [
        [message.role, [_unmarked(block) for block in _blocks(message.content)]]
        for message in messages
        if message.role != "system"
    ]
    return hashlib.sha256(json.dumps(canonical, sort_keys=True).encode()).hexdigest()


def _unmarked(block: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {key: value for key, value in block.items() if key != "cache_control"}
