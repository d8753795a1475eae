"""The settings of a session, the listener to its events, the result of an exchange and its cost.

Of two figures for the cost, the gateway's and Claude Code's own, the larger counts: Claude Code does not see
a call that a command makes with the session's token, and forgets its cost when it is killed.
"""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from anyio import CancelScope, to_thread

from agents.caller import Admit
from agents.session.cli_settings import CommandSandbox
from agents.session.permissions import Policy
from agents.session.tools import SignalTool
from state.errors import AgentError
from state.records.calls import CallEnd, Message, ToolServer
from state.records.questions import Answer
from state.roles import Role
from state.settings.records import Limits, Model

if TYPE_CHECKING:
    from claude_agent_sdk import ClaudeAgentOptions, Transport

    from agents.caller import CallerPass

_USUAL = Limits()


OpenTransport = Callable[["ClaudeAgentOptions"], "Transport"]
_TOLERATED = 0.02  # of the larger figure
_LEAST_USD = 0.0001  # a smaller difference is one of rounding


@dataclass(frozen=True, slots=True)
class Unanswered:
    """Why a call's questions got no answers. `final`: the exchange ends, else the agent may ask again."""

    reason: str
    final: bool


OnQuestions = Callable[[str, Mapping[str, Any]], Awaitable[tuple[Answer, ...] | Unanswered]]


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
    Claude Code. `on_servers` hears the state of the project's servers.
    """

    on_message: Callable[[Message], None] = field(default=lambda _message: None)
    on_signal: Callable[[str, str], str | None] = field(default=lambda _name, _payload: None)
    on_refusal: Callable[[str, str], None] = field(default=lambda _tool, _reason: None)
    on_question_callback: OnQuestions | None = None
    on_servers: Callable[[tuple[ToolServer, ...]], None] = field(default=lambda _servers: None)
    on_difference: Callable[[Difference], None] = field(default=lambda _difference: None)


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

    async def exceeded(self) -> str:
        """Wait until the session exceeds a total of its sandbox, and return which."""
        ...

    def remove(self) -> None:
        """Remove the sandbox's own folders. Blocks."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStart:
    """How the process of a session is started: in `walls`, its sandbox, or without them by `launcher`.

    `command_sandbox` says how Claude Code sandboxes its commands itself. With `transport`, the SDK talks
    through it, and no process is started: tests of sq's decisions play Claude Code so. `servers` are the MCP
    servers of the project that it starts, by name, each with its configuration. `task_tokens` are those that
    its model is told it has, by which it paces itself. None: it is told nothing.
    """

    launcher: Path
    walls: SandboxAround | None = None
    command_sandbox: CommandSandbox | None = None
    transport: "OpenTransport | None" = None
    servers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    task_tokens: int | None = None


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


class Counted:
    """What the gateway knows of one session. Without a gateway it knows nothing and changes nothing."""

    def __init__(self) -> None:
        self._pass: CallerPass | None = None
        self._counted = 0.0  # of the gateway's figure, given to exchanges so far
        self._said = 0.0  # by Claude Code
        self._all_said = True

    @contextmanager
    def admitted(self, spec: SessionSpec) -> Iterator[dict[str, str]]:
        """Hold the session's pass while the block runs. Provides the environment of its process."""
        if spec.admit is None:
            yield dict(spec.environment)
            return
        cap = None if spec.max_cost_usd is None else spec.max_cost_usd - spec.cost_before_usd
        with spec.admit(cap) as caller:
            self._pass = caller
            yield {**spec.environment, **caller.environment}

    @property
    def lacking(self) -> str:
        """The typed tools that the first request did not offer, in a sentence, or ""."""
        if self._pass is None or not self._pass.lacking:
            return ""
        return f"Claude Code did not offer its model {self._pass.lacking} in its first request"

    @property
    def resets_at(self) -> float | None:
        """When the API can be asked again, in seconds since 1970, if it named a time in the future."""
        at = self._pass.resets_at if self._pass else None
        return at if at and at > time.time() else None

    def end(self, end: CallEnd, detail: str) -> tuple[CallEnd, str]:
        """Return the end of an exchange: by its budget, if the gateway passed on no further call."""
        if self._pass and self._pass.exhausted and end is CallEnd.API_ERROR:
            return CallEnd.BUDGET, self._pass.exhausted
        return end, detail

    def cost(self, said_usd: float, *, is_result: bool = True) -> float:
        """Return the cost of an exchange. `said_usd` is that of Claude Code, or of its replies if it died."""
        self._said += said_usd
        self._all_said = self._all_said and is_result
        if self._pass is None:
            return said_usd
        counted, self._counted = self._pass.spent_usd - self._counted, self._pass.spent_usd
        return max(said_usd, counted)

    def difference(self) -> Difference | None:
        """Return by how much the figures differ at the session's end, or None if they agree."""
        if self._pass is None or not self._all_said:
            return None
        spent = self._pass.spent_usd
        apart = abs(spent - self._said)
        if apart <= max(_TOLERATED * max(spent, self._said), _LEAST_USD):
            return None
        return Difference(claude_code_usd=self._said, gateway_usd=spent, cut=self._pass.partial_calls)
