"""The common base of a run's roles: the connection, Claude Code's launcher, the models, one `Asker`.

Spans of Claude Code's own are nested below the span of its conversation, and hold no prompt and no answer. It
adds them by its variables for telemetry, of which those that widen it to words are never set. Commands of a
session inherit TRACEPARENT, so that spans of the project's own tests nest too.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

import anyio
import structlog

from agents.access import Connection
from agents.ask.port import Asker
from agents.caller import Caller
from agents.gateway.call import TRACES_ENDPOINT, TRACES_HEADERS
from agents.login import config_folder
from agents.process.containment import Containment
from agents.process.sandbox.needs import Needs, Network
from agents.session.cli_settings import CommandSandbox
from agents.session.exchange import OpenTransport, SandboxAround, SessionSpec, SessionStart
from agents.session.permissions import REFLOG_NAME, SIGNAL_PREFIX, Policy
from agents.session.tools import SignalTool
from state.ids import conversation_key, traceparent
from state.roles import ROLES, Role
from state.safe_paths import read_inside
from state.settings.records import Model, Settings

_ON = {
    "CLAUDE_CODE_ENABLE_TELEMETRY": "1",
    "CLAUDE_CODE_ENHANCED_TELEMETRY_BETA": "1",
    "OTEL_TRACES_EXPORTER": "otlp",
    "OTEL_METRICS_EXPORTER": "none",
    "OTEL_LOGS_EXPORTER": "none",
    "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
    "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf",
    "OTEL_BSP_SCHEDULE_DELAY": "1000",
    # A collector that does not answer holds the end of a session no longer than this.
    "CLAUDE_CODE_OTEL_FLUSH_TIMEOUT_MS": "1000",
    "CLAUDE_CODE_OTEL_SHUTDOWN_TIMEOUT_MS": "1000",
}
_PARENT, _RESOURCE = "TRACEPARENT", "OTEL_RESOURCE_ATTRIBUTES"
_ERROR = re.compile(r'"isApiErrorMessage": ?true')
_ERROR_CODE = re.compile(r'"apiErrorCode": ?"([a-z][a-z0-9_]{0,63})"')
NAMES = frozenset({*_ON, TRACES_ENDPOINT, TRACES_HEADERS, _PARENT, _RESOURCE})


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTelemetry:
    """The telemetry of a run's sessions. `address` takes spans, or is "" if the gateway passes them on."""

    run_id: str
    address: str = ""

    def environment(self, caller: Caller) -> dict[str, str]:
        """Return the variables for a session of this caller."""
        facts = {
            "sq.run.id": self.run_id,
            "sq.role": str(caller.role),
            "sq.task.id": caller.task,
            "sq.attempt": str(caller.attempt),
        }
        return {
            **_ON,
            _PARENT: traceparent(self.run_id, conversation_key(caller.role, caller.task, caller.attempt)),
            _RESOURCE: ",".join(f"{name}={quote(value, safe='')}" for name, value in facts.items()),
            **({TRACES_ENDPOINT: self.address} if self.address else {}),
        }


# Package managers in a sandbox without network fail at once, and do not try again for a minute or more.
OFFLINE = {
    "npm_config_offline": "true",
    "npm_config_logs_max": "0",
    "PIP_RETRIES": "0",
    "UV_OFFLINE": "1",
    "CARGO_NET_OFFLINE": "true",
}

_LARGEST = 1_000_000_000  # bytes of a transcript
log = structlog.get_logger(__name__)
_COMPACTED = '"compact_boundary"'  # in a transcript: the model reads a summary of everything before
SANDBOXES = "sandboxes"  # in a run's folder: the scratch folders of sandboxed processes, while they last


def one_per_processor() -> anyio.CapacityLimiter:
    """Return a limit for starts of processes."""
    return anyio.CapacityLimiter(os.cpu_count() or 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claude:
    """How Claude Code is started in a run.

    `launcher` starts it without a sandbox. `dropped` are variables that it does not get. `folder` holds what
    sessions keep while they last.
    """

    cli: Path
    launcher: Path
    dropped: frozenset[str]
    folder: Path


class Sandboxes(Protocol):
    """Makes the sandboxes of a run's sessions (`agents.make`)."""

    @property
    def hold_sessions(self) -> bool:
        """Whether sessions, or at least their commands, are in a sandbox."""
        ...

    @property
    def open_hosts(self) -> bool:
        """Whether sessions reach the open hosts by sq's proxy."""
        ...

    def walls(self, needs: Needs) -> SandboxAround | None:
        """Return the sandbox around Claude Code itself, or None if sessions have none."""
        ...

    def of_commands(
        self, workspace: Path, environment: Mapping[str, str], temporary: Path | None
    ) -> CommandSandbox | None:
        """Return the limits of Claude Code's own sandbox, for its Bash tool, or None if it has none.

        `temporary` is the folder that a session may write beside its workspace.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """`hidden` are folders that no agent may see: sq's own state. No file tool may write `guarded` paths.

    `sandboxes` makes those of sessions. None: they have none. `starts` is held while a Claude Code
    process starts. A start takes a processor for a while, so that many sessions that begin at once are
    started in turn. `telemetry` None: sessions send no spans. `transport`: as in `SessionStart`.
    `instructions` is the end of every system prompt. `servers` are MCP servers of the project for Workers.
    """

    connection: Connection
    claude: Claude
    settings: Settings
    asker: Asker
    containment: Containment
    hidden: tuple[Path, ...]
    sandboxes: Sandboxes | None = None
    guarded: frozenset[str] = frozenset()
    starts: anyio.CapacityLimiter = field(default_factory=one_per_processor)
    telemetry: SessionTelemetry | None = None
    transport: OpenTransport | None = None
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
        traced = self.telemetry.environment(caller) if self.telemetry else {}
        offline = OFFLINE if self.without_network and not self.open_hosts else {}
        connected = self.connection.session_environment(caller)
        environment = {**offline, **(variables or {}), **connected, **traced}
        if config_dir := self._config_dir(session_id):
            environment["CLAUDE_CONFIG_DIR"] = str(config_dir)
        if temporary:
            environment["TMPDIR"] = str(temporary)
            if not self.settings.worktrees:
                environment["GIT_REFLOG_ACTION"] = REFLOG_NAME
        model = self.models.get(caller.role) or self.models[Role.WORKER]  # an older run names no resolver
        return SessionSpec(
            role=caller.role,
            workspace=workspace,
            model=model,
            system="\n\n".join(filter(None, [system, self.instructions])),
            policy=self._policy(caller.role, workspace, temporary),
            signals=signals,
            session_id=session_id,
            resume=resume,
            cost_before_usd=cost_before_usd,
            environment=environment,
            start=self._start(caller.role, workspace, session_id, environment, temporary),
            admit=self.connection.admission(
                caller, model, tuple(f"{SIGNAL_PREFIX}{signal.name}" for signal in signals)
            ),
            max_turns=self.settings.limits.max_turns,
            idle_limit_s=self.settings.limits.idle_s,
            connect_limit_s=self.settings.limits.connect_s,
        )

    def _policy(self, role: Role, workspace: Path, temporary: Path | None) -> Policy:
        return Policy(
            tools=ROLES[role].tools,
            readable=(workspace,),
            writable=(workspace, temporary) if temporary else (),
            hidden=self.hidden,
            protected=self.settings.protected,
            allowed=self.settings.allowed,
            guarded=self.guarded,
            role=role,
            servers=tuple(self.servers) if role is Role.WORKER else (),
        )

    def _config_dir(self, session_id: str) -> Path | None:
        """Return the CLI's configuration folder for a session. No session reads or writes that of another."""
        shared = self.connection.config_dir
        return shared / (session_id or "new") if shared else None

    def _start(
        self,
        role: Role,
        workspace: Path,
        session_id: str,
        environment: Mapping[str, str],
        temporary: Path | None,
    ) -> SessionStart:
        sandboxes = self.sandboxes
        return SessionStart(
            launcher=self.claude.launcher,
            walls=self._walls(role, workspace, session_id, environment, temporary),
            command_sandbox=sandboxes.of_commands(workspace, environment, temporary) if sandboxes else None,
            transport=self.transport,
            servers=self.servers if role is Role.WORKER else {},
        )

    @property
    def without_network(self) -> bool:
        """Whether the commands of a session reach no network."""
        return self.sandboxes is not None and self.sandboxes.hold_sessions

    @property
    def open_hosts(self) -> bool:
        """Whether the commands of a session reach the open hosts."""
        return self.sandboxes is not None and self.sandboxes.open_hosts

    def _walls(
        self,
        role: Role,
        workspace: Path,
        session_id: str,
        environment: Mapping[str, str],
        temporary: Path | None,
    ) -> SandboxAround | None:
        if self.sandboxes is None:
            return None
        config_dir = self._config_dir(session_id)
        needs = Needs(
            workspace=workspace,
            scratch=self.claude.folder / (session_id or "new"),
            path=environment.get("PATH", ""),
            writes=temporary is not None,
            writable=[folder for folder in (temporary, config_dir) if folder],
            hidden=self.hidden,
            network=Network.GATEWAY,
            gateway=self.connection.gateway_socket,
            keeps_index=role is Role.RESOLVER,
        )
        return self.sandboxes.walls(needs)

    def has_transcript(self, session_id: str, environ: Mapping[str, str]) -> bool:
        """Whether the CLI has kept a conversation of this id, so that it can be resumed."""
        return bool(self._transcripts(session_id, environ))

    def has_heard(self, prompt: str, session_id: str, environ: Mapping[str, str]) -> bool:
        """Whether a conversation holds a prompt word for word, in the part that its model still reads."""
        written = json.dumps(prompt, ensure_ascii=False)[1:-1]
        for text in self._read_transcripts(session_id, environ):
            _, found, later = text.rpartition(written)
            if found and _COMPACTED not in later:
                return True
        return False

    def error_code(self, session_id: str, environ: Mapping[str, str]) -> str:
        """Return the code of the newest error of the API that the CLI noted in a conversation, or "".

        The SDK passes on its status alone.
        """
        for text in self._read_transcripts(session_id, environ):
            newest = next((one for one in reversed(text.splitlines()) if _ERROR.search(one)), "")
            if found := _ERROR_CODE.search(newest):
                return found[1]
        return ""

    def _read_transcripts(self, session_id: str, environ: Mapping[str, str]) -> Iterator[str]:
        for path in self._transcripts(session_id, environ):
            try:
                text = read_inside(path.parents[1], f"{path.parent.name}/{path.name}", largest=_LARGEST)
            except OSError as error:
                log.warning("transcript.not_read", file=str(path), error=str(error))
                continue
            yield text.decode(errors="replace")

    def _transcripts(self, session_id: str, environ: Mapping[str, str]) -> list[Path]:
        folder = self._config_dir(session_id) or config_folder(environ)
        return list((folder / "projects").glob(f"*/{session_id}.jsonl"))
