"""The common base of a run's roles: the models, the agent of each role, one `Asker`."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from agents.ask.port import Asker
from agents.caller import Caller
from agents.process.containment import Containment
from agents.session.permissions import Policy
from agents.session.port import Agent, SessionSpec
from agents.session.tools import SignalTool
from state.roles import ROLES, Role
from state.settings.records import Model, Settings

SANDBOXES = "sandboxes"  # in a run's folder: the scratch folders of sandboxed processes, while they last


def one_per_processor() -> anyio.CapacityLimiter:
    """Return a limit for starts of processes."""
    return anyio.CapacityLimiter(os.cpu_count() or 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """`hidden` are folders that no agent may see: sq's own state. No file tool may write `guarded` paths.

    `agents` work in the sessions of each role. `sandboxed`: commands of a session reach no network, or with
    `online` the open hosts alone. `starts` is held while an agent starts. A start takes a
    processor for a while, so that many sessions that begin at once are started in turn. `instructions` is
    the end of every system prompt. `servers` are MCP servers of the project for Workers.
    """

    agents: Mapping[Role, Agent]
    settings: Settings
    asker: Asker
    containment: Containment
    hidden: tuple[Path, ...]
    guarded: frozenset[str] = frozenset()
    sandboxed: bool = False
    online: bool = False
    starts: anyio.CapacityLimiter = field(default_factory=one_per_processor)
    instructions: str = ""
    servers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def models(self) -> Mapping[Role, Model]:
        return self.settings.models

    def session(
        self,
        caller: Caller,
        *,
        workspace: Path,
        system: str,
        signals: tuple[SignalTool, ...],
        session_id: str,
        resume: bool,
        cost_before_usd: float,
        temporary: Path | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> SessionSpec:
        """Return the spec of a session of this caller's role, which gets the role's built-in tools.

        `temporary` is a folder of its own for a role that writes. The session may write there and in the
        workspace, and not elsewhere. Without it, the session only reads. `variables` are environment
        variables for commands in the workspace.
        """
        servers = self.servers if caller.role is Role.WORKER else {}
        return SessionSpec(
            caller=caller,
            workspace=workspace,
            model=self.models[caller.role],
            system="\n\n".join(filter(None, [system, self.instructions])),
            policy=self._policy(caller.role, workspace, temporary, tuple(servers)),
            signals=signals,
            session_id=session_id,
            resume=resume,
            cost_before_usd=cost_before_usd,
            temporary=temporary,
            variables=variables or {},
            servers=servers,
            limits=self.settings.limits,
        )

    def _policy(
        self, role: Role, workspace: Path, temporary: Path | None, servers: tuple[str, ...]
    ) -> Policy:
        return Policy(
            tools=ROLES[role].tools,
            readable=(workspace,),
            writable=(workspace, temporary) if temporary else (),
            hidden=self.hidden,
            protected=self.settings.protected,
            allowed=self.settings.allowed,
            guarded=self.guarded,
            role=role,
            servers=servers,
        )
