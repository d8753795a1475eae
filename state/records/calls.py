"""Calls of a model: their ends, their tokens and their messages."""

from dataclasses import dataclass, field
from enum import StrEnum

_TEMPORARY = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolServer:
    """An MCP server of the project in a session: `status` is the agent's word, such as `failed`."""

    name: str
    status: str
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one call. `requests`: those of its session that the model answered."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    requests: int = 0

    @property
    def prompt_tokens(self) -> int:
        """All tokens that the model read, from its cache or not."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens

    @property
    def cache_read_share(self) -> float | None:
        """The part of all tokens read that came from the cache, or None if there are none."""
        return self.cache_read_tokens / self.prompt_tokens if self.prompt_tokens else None

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            requests=self.requests + other.requests,
        )


class CallEnd(StrEnum):
    """How one exchange with a model ended. Only `completed` means that the model finished its turn.

    A session that is full gets the same error again each time it is asked. A fresh one can go on.
    """

    COMPLETED = "completed"
    MAX_TURNS = "max turns"
    BUDGET = "budget"
    INTERRUPTED = "interrupted"
    UNANSWERED = "question unanswered"
    API_ERROR = "api error"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    SESSION_FULL = "session is full"
    SILENT = "silent"
    DIED = "process died"
    NOT_STARTED = "process did not start"
    UNUSABLE = "unusable answer"
    TIMED_OUT = "timed out"
    SIGNALLED = "signalled before the process ended"

    @property
    def is_good(self) -> bool:
        """Whether the exchange gave what was asked for."""
        return self in {CallEnd.COMPLETED, CallEnd.SIGNALLED}


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult:
    """The result of one try of a call. `cost_usd` is the cost of this try alone.

    `api_code` is that of the API's error (`api_errors.yaml`), `retry_after_s` the time it named until the
    next request. `turns`: of the model, 0 if not counted.
    """

    end: CallEnd
    detail: str = ""
    text: str = ""
    api_status: int | None = None
    api_code: str = ""
    retry_after_s: float | None = None
    cost_usd: float = 0.0
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    turns: int = 0


def may_pass_later(api_status: int) -> bool:
    """Whether the API may answer the same request otherwise in a while."""
    return api_status in _TEMPORARY


TASK_COMPLETE = "task_complete"  # the report with which a Worker claims completion


class MessageKind(StrEnum):
    """The kind of a message of a session."""

    TEXT = "text"
    TOOL_CALL = "tool call"
    TOOL_RESULT = "tool result"
    PROMPT = "prompt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a live session, as history for the Developer and for the views.

    `use_id` names the call of a tool in its session, and the result that belongs to it.
    """

    kind: MessageKind
    text: str
    tool: str = ""
    is_error: bool = False
    use_id: str = ""
