"""The records of a session: the pieces in its lines, and the turns made of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

SHELL_TOOLS = frozenset({"Bash", "PowerShell"})


class Speaker(StrEnum):
    """The author of a text."""

    USER = "user"
    HOOK = "hook"
    INJECTED = "injected"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """Words of a speaker. `opens`: they begin a turn."""

    speaker: Speaker
    text: str
    opens: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CallMade:
    """A tool call as the model made it."""

    id: str
    tool: str
    input: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallReturned:
    """The result of call `id`. `data` is the CLI's own record of it (`toolUseResult`).

    `denial` is the CLI's word for why a call was not carried out to its end, or "".
    """

    id: str
    text: str
    is_error: bool = False
    data: Mapping[str, object] = field(default_factory=dict)
    denial: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundEnded:
    """The end of a background task, as the CLI reports it: `status` is completed, failed or killed."""

    id: str
    status: str
    exit_code: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanMode:
    """Plan mode is on or off from here."""

    on: bool


Piece = Utterance | CallMade | CallReturned | BackgroundEnded | PlanMode


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """The result of a call. `exit_code` is None if unknown, and for tools that have none.

    `is_refused`: the call never ran. `is_interrupted`: it was ended, and its effect is unknown.
    `background_id`: it goes on in the background. `data`: the CLI's own record beside the text.
    """

    text: str
    is_error: bool = False
    exit_code: int | None = None
    is_refused: bool = False
    is_interrupted: bool = False
    background_id: str = ""
    data: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A tool call with its result, or None without one. `inner`: the calls of a subagent that it started."""

    id: str
    tool: str
    input: Mapping[str, object] = field(default_factory=dict)
    result: ToolResult | None = None
    inner: tuple["ToolCall", ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Everything after `opener`, in order. A window's first turn may have none. `number` counts from 1."""

    number: int
    opener: Utterance | None = None
    items: tuple[Utterance | ToolCall, ...] = ()

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls of the turn. Calls of subagents are inside theirs."""
        return tuple(item for item in self.items if isinstance(item, ToolCall))

    @property
    def texts(self) -> tuple[str, ...]:
        """The assistant's texts in the turn."""
        said = (item for item in self.items if isinstance(item, Utterance))
        return tuple(item.text for item in said if item.speaker is Speaker.ASSISTANT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """A session, newest turn last.

    `left_out_bytes` come before the window that was read. `cwd` is the folder in which the session began.
    """

    turns: tuple[Turn, ...] = ()
    session_id: str = ""
    cwd: str = ""
    ended: tuple[BackgroundEnded, ...] = ()
    plan_mode: bool = False
    left_out_bytes: int = 0


def string(value: object) -> str:
    """Return `value` if it is text, else ""."""
    return value if isinstance(value, str) else ""


def mapping(value: object) -> Mapping[str, object]:
    """Return `value` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def listed(value: object) -> list[object]:
    """Return `value` if it is a list, else an empty one."""
    return value if isinstance(value, list) else []
