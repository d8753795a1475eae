"""The records of a scenario: callers of replies, frozen, each validated as it is built.

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

_STRICT = ConfigDict(extra="forbid")
_KINDS = ("status", "stream", "hang", "body", "connection", "slow")

Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Cut(StrEnum):
    """Where a stream ends too early. An answer without streaming is cut in the middle."""

    TEXT = "cut"
    TOOL = "cut-in-tool"


class Hang(StrEnum):
    """Where an answer stops and waits."""

    BEFORE_HEADERS = "before-headers"
    AFTER_HEADERS = "after-headers"


class Body(StrEnum):
    """The fault of a body that arrives whole."""

    MALFORMED = "malformed"
    EMPTY = "empty"


class ConnectionFault(StrEnum):
    """The fault of a connection that gets no answer."""

    DROPPED = "dropped"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True, config=_STRICT)
class Misbehave:
    """How a reply goes wrong on purpose, and how often: one mapping of a scenario.

        misbehave: {status: 429, message: Slow down., retry_after: 20, times: 1}
        misbehave: {status: 429, error_code: enforced_spend_limit_reached}  # of the error's details
        misbehave: {stream: cut}  # or cut-in-tool: inside the first text or the first call of a tool
        misbehave: {hang: before-headers}  # or after-headers. With seconds, the reply comes after them
        misbehave: {body: malformed}  # not JSON. Or empty: a message without content
        misbehave: {connection: dropped}  # before any header. Or refused
        misbehave: {slow: 0.02}  # seconds before each delta

    With `times: N`, the first N requests for which the reply is due go wrong, then it is given. Without it,
    all go wrong. Requests are counted, so repetitions by a client count too. Claude Code sends a 400 three to
    six times, with fewer features each time: script it without `times`. It requests a broken stream once more
    without streaming, unless configured otherwise: `times: 1` lets it have the reply then. After a whole
    block (a text before `cut-in-tool`) it asks the model to go on instead, at most three times, and after an
    empty reply once. The count is kept for each caller and survives the server's process. Expectations of the
    reply apply as usual. The words of `then` never go wrong. To make them fail, write them as a reply.

    `connection: refused` is not counted, as no request arrives. The caller of such a first reply has a port
    of its own, which refuses from the moment its URL is known, for `seconds` or always. After a restart the
    server refuses again only if it refuses always.
    """

    status: Annotated[int, Field(ge=400, le=599)] | None = None
    message: Annotated[str, Field(min_length=1)] | None = None
    retry_after: Annotated[int, Field(ge=0)] | None = None
    error_code: Annotated[str, Field(min_length=1)] | None = None
    stream: Cut | None = None
    hang: Hang | None = None
    body: Body | None = None
    connection: ConnectionFault | None = None
    slow: Seconds | None = None
    seconds: Seconds | None = None
    times: Annotated[int, Field(ge=1)] | None = None

    @property
    def kind(self) -> str:
        """The fault in the words of the scenario: `status 429`, `stream cut`."""
        (kind,) = self._kinds()
        return f"{kind} {getattr(self, kind)}"

    @property
    def refuses(self) -> bool:
        """Whether it keeps requests from arriving, so that none is answered."""
        return self.connection is ConnectionFault.REFUSED

    @property
    def needs_words(self) -> bool:
        """Whether the words of the reply, or a part of them, are given at some time."""
        return any(each is not None for each in (self.times, self.seconds, self.stream, self.slow))

    @model_validator(mode="after")
    def _makes_sense(self) -> "Misbehave":
        if wrong := "; ".join(self._contradictions()):
            raise ValueError(wrong)
        return self

    def _contradictions(self) -> Iterator[str]:
        kinds = self._kinds()
        if len(kinds) != 1:
            yield f"exactly one of {', '.join(_KINDS)} is needed, found {' and '.join(kinds) or 'none'}"
        for key in ("message", "retry_after", "error_code"):
            if getattr(self, key) is not None and self.status is None:
                yield f"{key} is sent with a status, and there is none here"
        if self.seconds is not None and not (self.hang or self.refuses):
            yield "seconds is how long a hang or connection: refused lasts, and there is none here"
        if self.times is not None and self.refuses:
            yield "times counts requests, and connection: refused lets none arrive, so give seconds instead"

    def _kinds(self) -> list[str]:
        return [kind for kind in _KINDS if getattr(self, kind) is not None]


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
    task_tokens: bool | None = None


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
            f"reply {' and '.join(map(str, late))}: a caller refuses connections from its start, "
            "so connection: refused stands in its first reply only"
        )
    return replies


@dataclass(frozen=True, slots=True, kw_only=True, config=_STRICT)
class Scenario:
    """A model's side of a whole run, by caller. A caller's key is role/task/attempt or a pattern of it."""

    scenario: Literal[1]
    description: str = ""
    usage: ScriptUsage = Field(default_factory=ScriptUsage)
    callers: dict[str, Annotated[tuple[ScriptReply, ...], AfterValidator(_refuses_first)]]

    def replies(self, caller: str) -> tuple[ScriptReply, ...] | None:
        """Return the replies of `caller` (role/task/attempt), by its own key or the first that matches.

        Returns None if no key matches.
        """
        if caller in self.callers:
            return self.callers[caller]
        return next((found for key, found in self.callers.items() if fnmatchcase(caller, key)), None)


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
