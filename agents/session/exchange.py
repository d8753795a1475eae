"""The settings of a session, the listener to its events, and the result of an exchange."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from anyio import CancelScope, to_thread

from agents.caller import Admit
from agents.session.cli_settings import CommandSandbox
from agents.session.permissions import Policy
from agents.session.tools import SignalTool
from state.errors import AgentError
from state.records.calls import Message
from state.records.questions import Answer
from state.roles import Role
from state.settings.records import Limits, Model

if TYPE_CHECKING:
    from claude_agent_sdk import ClaudeAgentOptions, Transport

_USUAL = Limits()


@dataclass(frozen=True, slots=True)
class Unanswered:
    """Why a call's questions got no answers. `final`: the exchange ends, else the agent may ask again."""

    reason: str
    final: bool


OpenTransport = Callable[["ClaudeAgentOptions"], "Transport"]
OnQuestions = Callable[[str, Mapping[str, Any]], Awaitable[tuple[Answer, ...] | Unanswered]]


def _ignore_message(message: Message) -> None:
    del message


def _take_signal(name: str, payload: str) -> None:
    del name, payload


def _ignore_refusal(tool: str, reason: str) -> None:
    del tool, reason


def _ignore_difference(difference: "Difference") -> None:
    del difference


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The cost of a session by Claude Code and by the gateway, in USD. `cut` answers count at the most."""

    claude_code_usd: float
    gateway_usd: float
    cut: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """Callbacks for the events of a session, called at once and in order.

    `on_signal(name, payload as JSON)` takes a report and returns None, or returns why the agent has to report
    anew. `on_question_callback(tool call id, input)` returns one answer per question, or why there is none.
    Without it, questions are refused. `on_difference` hears of a cost that the gateway counted otherwise than
    Claude Code.
    """

    on_message: Callable[[Message], None] = _ignore_message
    on_signal: Callable[[str, str], str | None] = _take_signal
    on_refusal: Callable[[str, str], None] = _ignore_refusal
    on_question_callback: OnQuestions | None = None
    on_difference: Callable[[Difference], None] = _ignore_difference


class SandboxAround(Protocol):
    """The sandbox of one session (`agents.session.sandbox`)."""

    def build(self) -> Path:
        """Make the sandbox's own folders, and return the launcher of Claude Code inside it. Blocks.

        Raises:
            OSError: the folders cannot be made, or a path that the session needs is gone.
        """
        ...

    def settle(self) -> None:
        """Take over the parts of the workspace's git folder that the session may change. Blocks.

        Raises:
            OSError: they cannot be read or written.
        """
        ...

    def remove(self) -> None:
        """Remove the sandbox's own folders. Blocks."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStart:
    """How the process of a session is started: in `walls`, its sandbox, or without them by `launcher`.

    `command_sandbox` says how Claude Code sandboxes its commands itself. With `transport`, the SDK talks
    through it, and no process is started: tests of sq's decisions play Claude Code so.
    """

    launcher: Path
    walls: SandboxAround | None = None
    command_sandbox: CommandSandbox | None = None
    transport: "OpenTransport | None" = None


@asynccontextmanager
async def built(start: SessionStart) -> AsyncIterator[Path]:
    """Yield the launcher of a session, with its sandbox built while the block runs."""
    walls = start.walls
    if walls is None or start.transport:
        yield start.launcher
        return
    try:
        yield await to_thread.run_sync(walls.build)
    finally:
        with CancelScope(shield=True):
            await to_thread.run_sync(walls.remove)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSpec:
    """All settings of a session. `resume`: it continues the conversation `session_id`.

    `cost_before_usd` is the cost of that conversation so far, `max_cost_usd` the limit for all of it. `admit`
    gives the session its pass, if it asks through the forwarding gateway.
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
    start: SessionStart
    admit: Admit | None = None
    max_turns: int = _USUAL.max_turns
    idle_limit_s: float = _USUAL.idle_s
    connect_limit_s: float = _USUAL.connect_s


class SessionStartError(AgentError):
    """The Claude Code process did not start, or the conversation to resume does not exist."""
