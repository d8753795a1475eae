"""Claude Code as an agent of the port: the environment, the sandbox and the transcripts of its sessions.

Spans of Claude Code's own are nested below the span of its conversation, and hold no prompt and no answer. It
adds them by its variables for telemetry, of which those that widen it to words are never set. Commands of a
session inherit TRACEPARENT, so that spans of the project's own tests nest too.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

import structlog

from agents.access import Connection
from agents.caller import Caller
from agents.claude_code.cli_settings import CommandSandbox
from agents.claude_code.exchange import ClaudeSpec, OpenTransport, SandboxAround, SessionStart
from agents.claude_code.executable import NAME, Launch
from agents.claude_code.session import open_session
from agents.gateway.call import TRACES_ENDPOINT, TRACES_HEADERS
from agents.login import config_folder
from agents.process.sandbox.needs import Needs, Network
from agents.session.permissions import REFLOG_NAME, SIGNAL_PREFIX
from agents.session.port import Listener, Session, SessionSpec
from state.ids import conversation_key, traceparent
from state.roles import Role
from state.safe_paths import read_inside

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
class ClaudeCode:
    """Claude Code in one run.

    `environ` is that of sq, `hidden` are folders that no agent may see: sq's own state. `sandboxes` makes the
    sandboxes of sessions. None: they have none. `telemetry` None: sessions send no spans. `in_worktrees`:
    sessions do not work in the user's checkout. `transport`: as in `SessionStart`.
    """

    connection: Connection
    launch: Launch
    environ: Mapping[str, str]
    hidden: tuple[Path, ...] = ()
    sandboxes: Sandboxes | None = None
    telemetry: SessionTelemetry | None = None
    in_worktrees: bool = True
    transport: OpenTransport | None = None
    name: str = NAME

    def open(self, spec: SessionSpec, listener: Listener) -> AbstractAsyncContextManager[Session]:
        """As `Agent`."""
        return open_session(self.spec_of(spec), listener)

    def spec_of(self, spec: SessionSpec) -> ClaudeSpec:
        """Return the session with the start and the environment of its process."""
        environment = self.environment_of(spec)
        tools = tuple(f"{SIGNAL_PREFIX}{signal.name}" for signal in spec.signals)
        sandboxes, temporary = self.sandboxes, spec.temporary
        start = SessionStart(
            launcher=self.launch.launcher,
            walls=self._walls(spec, environment),
            command_sandbox=sandboxes.of_commands(spec.workspace, environment, temporary)
            if sandboxes
            else None,
            transport=self.transport,
        )
        return ClaudeSpec(
            **{one.name: getattr(spec, one.name) for one in fields(spec)},
            start=start,
            environment=environment,
            admit=self.connection.admission(spec.caller, spec.model, tools),
        )

    def environment_of(self, spec: SessionSpec) -> dict[str, str]:
        """Return the variables of a session beside those of sq."""
        sealed = self.sandboxes is not None and self.sandboxes.hold_sessions and not self.sandboxes.open_hosts
        environment = {
            **(OFFLINE if sealed else {}),
            **spec.variables,
            **self.connection.session_environment(spec.caller),
            **(self.telemetry.environment(spec.caller) if self.telemetry else {}),
        }
        if config_dir := self._config_dir(spec.session_id):
            environment["CLAUDE_CONFIG_DIR"] = str(config_dir)
        if spec.temporary:
            environment["TMPDIR"] = str(spec.temporary)
            if not self.in_worktrees:
                environment["GIT_REFLOG_ACTION"] = REFLOG_NAME
        return environment

    def _config_dir(self, session_id: str) -> Path | None:
        """Return the CLI's configuration folder for a session. No session reads or writes that of another."""
        shared = self.connection.config_dir
        return shared / (session_id or "new") if shared else None

    def _walls(self, spec: SessionSpec, environment: Mapping[str, str]) -> SandboxAround | None:
        if self.sandboxes is None:
            return None
        config_dir = self._config_dir(spec.session_id)
        needs = Needs(
            workspace=spec.workspace,
            scratch=self.launch.folder / (spec.session_id or "new"),
            path=environment.get("PATH", ""),
            writes=spec.temporary is not None,
            writable=[folder for folder in (spec.temporary, config_dir) if folder],
            hidden=self.hidden,
            network=Network.GATEWAY,
            gateway=self.connection.gateway_socket,
            keeps_index=spec.caller.role is Role.RESOLVER,
        )
        return self.sandboxes.walls(needs)

    def has_transcript(self, session_id: str) -> bool:
        """As `Agent`."""
        return bool(self._transcripts(session_id))

    def has_heard(self, prompt: str, session_id: str) -> bool:
        """As `Agent`."""
        written = json.dumps(prompt, ensure_ascii=False)[1:-1]
        for text in self._read_transcripts(session_id):
            _, found, later = text.rpartition(written)
            if found and _COMPACTED not in later:
                return True
        return False

    def error_code(self, session_id: str) -> str:
        """As `Agent`. The SDK passes on the status of an error alone."""
        for text in self._read_transcripts(session_id):
            newest = next((one for one in reversed(text.splitlines()) if _ERROR.search(one)), "")
            if found := _ERROR_CODE.search(newest):
                return found[1]
        return ""

    def _read_transcripts(self, session_id: str) -> Iterator[str]:
        for path in self._transcripts(session_id):
            try:
                text = read_inside(path.parents[1], f"{path.parent.name}/{path.name}", largest=_LARGEST)
            except OSError as error:
                log.warning("transcript.not_read", file=str(path), error=str(error))
                continue
            yield text.decode(errors="replace")

    def _transcripts(self, session_id: str) -> list[Path]:
        folder = self._config_dir(session_id) or config_folder(self.environ)
        return list((folder / "projects").glob(f"*/{session_id}.jsonl"))
