"""The start of a session's process, and the cost of its exchanges.

Of two figures for the cost, the gateway's and Claude Code's own, the larger counts: Claude Code does not see
a call that a command makes with the session's token, and forgets its cost when it is killed.
"""

import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from anyio import CancelScope, to_thread

from agents.caller import Admit
from agents.claude_code.cli_settings import CommandSandbox
from agents.session.port import Difference, SessionSpec
from state.records.calls import CallEnd

if TYPE_CHECKING:
    from claude_agent_sdk import ClaudeAgentOptions, Transport

    from agents.caller import CallerPass

OpenTransport = Callable[["ClaudeAgentOptions"], "Transport"]
_TOLERATED = 0.02  # of the larger figure
_LEAST_USD = 0.0001  # a smaller difference is one of rounding


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
    through it, and no process is started: tests of sessions play Claude Code so.
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
class ClaudeSpec(SessionSpec):
    """A session, the start of its process, and its environment.

    `admit` gives the session its pass, if it asks through the forwarding gateway.
    """

    start: SessionStart
    environment: Mapping[str, str] = field(default_factory=dict)
    admit: Admit | None = None


class Counted:
    """What the gateway knows of one session. Without a gateway it knows nothing and changes nothing."""

    def __init__(self) -> None:
        self._pass: CallerPass | None = None
        self._counted = 0.0  # of the gateway's figure, given to exchanges so far
        self._said = 0.0  # by Claude Code
        self._all_said = True

    @contextmanager
    def admitted(self, spec: ClaudeSpec) -> Iterator[dict[str, str]]:
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
        return Difference(agent_usd=self._said, gateway_usd=spent, cut=self._pass.partial_calls)
