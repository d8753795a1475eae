"""The settings of a session, the listener to its events, and the result of an exchange."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agents.session.permissions import Policy
from agents.session.tools import SignalTool
from state.errors import AgentError
from state.records import Answer, CallEnd, Message, Role, Usage
from state.settings.records import Limits, Model

_USUAL = Limits()


@dataclass(frozen=True, slots=True)
class Unanswered:
    """Why a call's questions got no answers. `final`: the exchange ends, else the agent may ask again."""

    reason: str
    final: bool


OnQuestions = Callable[[str, Mapping[str, Any]], Awaitable[tuple[Answer, ...] | Unanswered]]


def _ignore_message(message: Message) -> None:
    del message


def _ignore_signal(name: str, payload: str) -> None:
    del name, payload


def _ignore_refusal(tool: str, reason: str) -> None:
    del tool, reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """Callbacks for the events of a session, called at once and in order.

    `on_question_callback(tool call id, input)` returns one answer per question, or why there is none. Without
    it, questions are refused.
    """

    on_message: Callable[[Message], None] = _ignore_message
    on_signal: Callable[[str, str], None] = _ignore_signal
    on_refusal: Callable[[str, str], None] = _ignore_refusal
    on_question_callback: OnQuestions | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSpec:
    """All settings of a session. `resume`: it continues the conversation `session_id`.

    `cost_before_usd` is the cost of that conversation so far, `max_cost_usd` the limit for all of it.
    """

    role: Role
    workspace: Path
    model: Model
    system: str
    policy: Policy
    signals: tuple[SignalTool, ...]
    session_id: str
    resume: bool = False
    cost_before_usd: float = 0.0
    max_cost_usd: float | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    launcher: Path
    max_turns: int = _USUAL.max_turns
    idle_limit_s: float = _USUAL.idle_s
    connect_limit_s: float = _USUAL.connect_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """The result of one prompt. `cost_usd` is this exchange's alone.

    `retry_after_s`: the API named this time until the next request.
    """

    end: CallEnd
    detail: str = ""
    text: str = ""
    api_status: int | None = None
    retry_after_s: float | None = None
    cost_usd: float = 0.0
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    turns: int = 0


class SessionStartError(AgentError):
    """The Claude Code process did not start, or the conversation to resume does not exist."""
