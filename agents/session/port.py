"""The port to agents: how a run opens sessions, whatever program works in them.

An `Agent` is a family of agents, such as Claude Code (`agents.claude_code`). A run gives each role one, opens
its sessions with a `SessionSpec`, and hears of their events by a `Listener`. It knows nothing else of them.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from agents.caller import Caller
from agents.session.permissions import Policy
from agents.session.tools import SignalTool
from state.errors import AgentError
from state.records.calls import CallResult, Message, ToolServer
from state.records.questions import Answer
from state.roles import Role
from state.settings.records import Limits, Model


@dataclass(frozen=True, slots=True)
class Unanswered:
    """Why a call's questions got no answers. `final`: the exchange ends, else the agent may ask again."""

    reason: str
    final: bool


OnQuestions = Callable[[str, Mapping[str, Any]], Awaitable[tuple[Answer, ...] | Unanswered]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The cost of a session by the agent and by the gateway, in USD. `cut` answers count at the most."""

    agent_usd: float
    gateway_usd: float
    cut: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """Callbacks for the events of a session, called at once and in order.

    `on_signal(name, payload as JSON)` takes a report and returns None, or returns why the agent has to report
    anew. `on_question_callback(tool call id, input)` returns one answer per question, or why there is none.
    Without it, questions are refused. `on_difference` hears of a cost that the gateway counted otherwise than
    the agent. `on_servers` hears the state of the project's servers.
    """

    on_message: Callable[[Message], None] = field(default=lambda _message: None)
    on_signal: Callable[[str, str], str | None] = field(default=lambda _name, _payload: None)
    on_refusal: Callable[[str, str], None] = field(default=lambda _tool, _reason: None)
    on_question_callback: OnQuestions | None = None
    on_servers: Callable[[tuple[ToolServer, ...]], None] = field(default=lambda _servers: None)
    on_difference: Callable[[Difference], None] = field(default=lambda _difference: None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSpec:
    """All that a run asks of a session. `resume`: it continues the conversation `session_id`.

    `signals` are the typed tools of sq that the agent has. The session writes in the workspace and in
    `temporary`, a folder of its own, and without that folder it only reads. `variables` are environment
    variables for commands in the workspace, `servers` MCP servers of the project by name, each with its
    configuration. `cost_before_usd` is the cost of the conversation so far, `max_cost_usd` the limit for all
    of it. `task_tokens` are those that the model is told it has, by which it paces itself. None: it is told
    nothing.
    """

    caller: Caller
    workspace: Path
    model: Model
    system: str
    policy: Policy
    signals: tuple[SignalTool, ...]
    session_id: str
    resume: bool = False
    cost_before_usd: float = 0.0
    max_cost_usd: float | None = None
    task_tokens: int | None = None
    temporary: Path | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    servers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)


class SessionStartError(AgentError):
    """The agent did not start, or the conversation to resume does not exist."""


class Session(Protocol):
    """An open session."""

    @property
    def session_id(self) -> str:
        """The conversation's id."""
        ...

    @property
    def is_over(self) -> bool:
        """Whether no further exchange is possible: the agent died or was ended for silence."""
        ...

    @property
    def cut_off(self) -> CallResult | None:
        """The cost of an exchange that was cut off, once the session has ended."""
        ...

    async def exchange(self, prompt: str, *, planning: bool = False) -> CallResult:
        """Send a prompt and wait until the agent's turn has ended in any way, within the limits of the spec.

        A recorded report ends the turn. The result has the cost of this exchange alone. If the caller is
        cancelled, the turn is interrupted when the session is left.

        `planning`: the agent may read, ask and hand over a plan. Everything else is refused.

        Raises:
            SqError: a listener raised it, and the exchange was interrupted.
        """
        ...


class Agent(Protocol):
    """A family of agents, and the conversations that its sessions have left."""

    @property
    def name(self) -> str:
        """Its name for people."""
        ...

    def open(self, spec: SessionSpec, listener: Listener) -> AbstractAsyncContextManager[Session]:
        """Start an agent. On leaving, its turn is interrupted, and it ends with everything that it started.

        Meanwhile `agents.process.frozen.living` has the workspace, so that nobody else reads it.

        Raises:
            SessionStartError: it did not start in time, or there is nothing to resume.
        """
        ...

    def has_transcript(self, session_id: str) -> bool:
        """Whether a conversation of this id was kept, so that it can be resumed."""
        ...

    def has_heard(self, prompt: str, session_id: str) -> bool:
        """Whether a conversation holds a prompt word for word, in the part that its model still reads."""
        ...

    def error_code(self, session_id: str) -> str:
        """Return the code of the newest error of the API that was noted in a conversation, or ""."""
        ...


# Given a role and the agent that usually works in its sessions, returns the one that does.
ChooseAgent = Callable[[Role, Agent], Agent]
