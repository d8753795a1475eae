"""The records of a scenario: lanes of replies, frozen, each validated as it is built.

Numbers that people see (replies, tools) start at 1. `repeat` counts from 0.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum, StrEnum
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, JsonValue, model_validator
from pydantic.dataclasses import dataclass

from agents.gateway.misbehave import Cut, Misbehave

_STRICT = ConfigDict(extra="forbid")


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


Words = Annotated[str, Field(min_length=1)]
WordList = Annotated[tuple[Words, ...], BeforeValidator(_as_list)]
Count = Annotated[int, Field(ge=0)]


class StopReason(StrEnum):
    """Why the model stopped, in the words of the Messages API."""

    END_TURN = "end_turn"
    TOOL_USE = "tool_use"
    MAX_TOKENS = "max_tokens"
    STOP_SEQUENCE = "stop_sequence"
    PAUSE_TURN = "pause_turn"
    REFUSAL = "refusal"


@dataclass(frozen=True, slots=True, kw_only=True, config=_STRICT)
class ScriptUsage:
    """Tokens that a reply reports. A missing number is the scenario's, then 0."""

    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_read_input_tokens: Count | None = None
    cache_creation_input_tokens: Count | None = None


@dataclass(frozen=True, slots=True, kw_only=True, config=_STRICT)
class ScriptToolCall:
    """One tool that the model calls."""

    name: Words
    input: dict[str, JsonValue] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True, config=_STRICT)
class Expectation:
    """Conditions for the request that a reply answers. If one fails, the rehearsal fails and names it."""

    prompt_contains: WordList = ()
    prompt_lacks: WordList = ()
    anywhere_contains: WordList = ()
    tools_offered: WordList = ()
    tool_results_contain: WordList = ()
    model: Words | None = None
    effort: Words | None = None


@dataclass(frozen=True, slots=True, kw_only=True, config=_STRICT)
class ScriptReply:
    """One answer of the model (text, tool calls, a structured answer, closing words), or how it fails.

    `then` is said after the results of its tools, if the model is asked then. The turn of a recorded report
    ends before that.

    A reply that always fails and gives none of its words need not have any. As it is never given, it stays
    due. Only a prompt that does not match its `when` leads to the replies after it.
    """

    when: WordList = ()
    expect: Expectation = Field(default_factory=Expectation)
    text: Words | None = None
    tools: tuple[ScriptToolCall, ...] = ()
    structured: dict[str, JsonValue] | None = None
    then: Words | None = None
    stop_reason: StopReason | None = None
    usage: ScriptUsage = Field(default_factory=ScriptUsage)
    misbehave: Misbehave | None = None

    @model_validator(mode="after")
    def _says_something(self) -> "ScriptReply":
        mute = self.text is None and not self.tools and self.structured is None
        if mute and (self.misbehave is None or self.misbehave.needs_words):
            raise ValueError("a reply needs at least one of text, tools, structured")
        if self.then is not None and not self.tools:
            raise ValueError("then is said when tool results come back, and this reply calls no tools")
        return self

    @model_validator(mode="after")
    def _can_be_cut(self) -> "ScriptReply":
        cut = self.misbehave.stream if self.misbehave else None
        if cut is Cut.TEXT and self.text is None and self.structured is None:
            raise ValueError("stream: cut is inside a text, and this reply has neither text nor structured")
        if cut is Cut.TOOL and not self.tools and self.structured is None:
            raise ValueError(
                "stream: cut-in-tool is inside a call, and this reply has no tools or structured"
            )
        return self


def _refuses_first(replies: tuple[ScriptReply, ...]) -> tuple[ScriptReply, ...]:
    late = [
        number
        for number, reply in enumerate(replies, start=1)
        if number > 1 and reply.misbehave and reply.misbehave.refuses
    ]
    if late:
        raise ValueError(
            f"reply {' and '.join(map(str, late))}: a lane refuses connections from its start, "
            "so connection: refused stands in its first reply only"
        )
    return replies


@dataclass(frozen=True, slots=True, kw_only=True, config=_STRICT)
class Scenario:
    """A model's side of a whole run, lane by lane. A lane's key is role/task/attempt or a pattern of it."""

    scenario: Literal[1]
    description: str = ""
    usage: ScriptUsage = Field(default_factory=ScriptUsage)
    lanes: dict[str, Annotated[tuple[ScriptReply, ...], AfterValidator(_refuses_first)]]

    def replies(self, lane: str) -> tuple[ScriptReply, ...] | None:
        """Return the replies of `lane` (role/task/attempt), by its own key or the first pattern that matches.

        Returns None if no key matches.
        """
        if lane in self.lanes:
            return self.lanes[lane]
        return next((found for key, found in self.lanes.items() if fnmatchcase(lane, key)), None)


Values = Mapping[str, str]


_PLACEHOLDER = re.compile(r"\{[a-z][a-z0-9_]*\}")
_PATH_KEYS = ("file_path", "notebook_path", "path")  # of Claude Code's file tools


def fill_reply(reply: ScriptReply, values: Values) -> ScriptReply:
    """Return `reply` with each registered `{name}` replaced by its value, in all of its texts."""
    if not values:
        return reply
    # One pass: a value that holds braces itself is not filled again.
    names = re.compile(rf"\{{({'|'.join(map(re.escape, values))})\}}")
    filled: ScriptReply = _filled(reply, lambda text: names.sub(lambda found: values[found[1]], text))
    return filled


def unfilled_paths(reply: ScriptReply) -> Iterator[str]:
    """Yield each path in `reply`'s tools that holds a placeholder, as `Write.file_path: {workspace}/a.py`."""
    for tool in reply.tools:
        for key in _PATH_KEYS:
            path = tool.input.get(key)
            if isinstance(path, str) and _PLACEHOLDER.search(path):
                yield f"{tool.name}.{key}: {path}"


def _filled(value: Any, fill: Callable[[str], str]) -> Any:  # noqa: ANN401  of the same kind
    """Return a record, a list, a mapping or a text with every text in it filled."""
    if isinstance(value, Enum):
        return value
    if isinstance(value, str):
        return fill(value)
    if isinstance(value, list | tuple):
        return type(value)(_filled(item, fill) for item in value)
    if isinstance(value, dict):
        return {key: _filled(item, fill) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        parts = ((field.name, getattr(value, field.name)) for field in fields(value))
        return replace(value, **{name: _filled(part, fill) for name, part in parts})
    return value
