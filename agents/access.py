"""How a session or a request reaches a model: a key, a CLI login, or the rehearsal gateway.

A key is preferred to a login, and stays in sq: sessions get a pass of the forwarding gateway. A session gets
environment variables for the CLI. An `Asker` gets an API address and key, or asks through the CLI if there is
none.
"""

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from agents.api_key import FILE, KEY, ApiKey
from agents.caller import Admit, Caller, LanePass
from agents.process.sandbox.needs import GatewaySocket
from state.errors import UsageError
from state.settings.records import Model

_AUTH_STATUS_DEADLINE_S = 20

OURS = "SQ_AGENT"  # set in every Claude Code that sq starts: the stop gate ignores those
# For every session: no telemetry, no updates, no background turns, no retries by the CLI (sq retries), and
# no request before the tool servers are connected.
QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
    "CLAUDE_CODE_MAX_RETRIES": "0",
    "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK": "1",
    "MCP_CONNECTION_NONBLOCKING": "false",
    "PYTHONDONTWRITEBYTECODE": "1",
    OURS: "1",
}


class Credentials(StrEnum):
    """The source of the right to use a model."""

    REHEARSAL = "rehearsal"
    API_KEY = "api key"
    CLI_LOGIN = "cli login"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiAccess:
    """The address and key for an API client. If `base_url` is None, it is the real API."""

    key: str = field(repr=False)
    base_url: str | None


class Connection(Protocol):
    """Reaches a model for any lane of a run."""

    @property
    def credentials(self) -> Credentials:
        """The source of the right to use a model."""
        ...

    def session_environment(self, lane: Caller) -> dict[str, str]:
        """Return variables for a Claude Code process that works in this lane."""
        ...

    def api_access(self, lane: Caller) -> ApiAccess | None:
        """Return API address and key for this lane, or None if there is only the CLI."""
        ...

    def admission(self, lane: Caller, model: Model, tools: tuple[str, ...]) -> Admit | None:
        """Return how a session of this lane gets its pass, or None if it needs none.

        `tools` are the typed tools that the session has to offer its model.
        """
        ...

    @property
    def config_dir(self) -> Path | None:
        """The folder of the CLI's configurations, or None for the user's own, which holds the login."""
        ...

    @property
    def gateway_socket(self) -> GatewaySocket | None:
        """The socket that leads to the model, for a session without any other network."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyConnection:
    """The user's API key, in a configuration folder of the run's own, without the gateway."""

    key: ApiKey
    config_dir: Path
    base_url: str | None = None
    credentials: Credentials = Credentials.API_KEY
    gateway_socket: GatewaySocket | None = None

    def session_environment(self, lane: Caller) -> dict[str, str]:
        """As `Connection`."""
        del lane
        base = {"ANTHROPIC_BASE_URL": self.base_url} if self.base_url else {}
        return {**QUIET, **base, **self.key.variables, "CLAUDE_CONFIG_DIR": str(self.config_dir)}

    def api_access(self, lane: Caller) -> ApiAccess | None:
        """As `Connection`."""
        del lane
        return ApiAccess(key=self.key.value, base_url=self.base_url)

    def admission(self, lane: Caller, model: Model, tools: tuple[str, ...]) -> None:
        """As `Connection`: its sessions have the key."""
        del lane, model, tools

    def __repr__(self) -> str:
        return "<KeyConnection>"


class Doors(Protocol):
    """The part of the forwarding gateway that a connection needs."""

    def admit(
        self, lane: tuple[str, str, str], model: Model, tools: tuple[str, ...], cap_usd: float | None
    ) -> AbstractContextManager[LanePass]:
        """Provide a pass for one session, good while the block runs."""
        ...


_FIRST_PARTY = {"_CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL": "1", "ENABLE_TOOL_SEARCH": "true"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardConnection:
    """The user's API key behind the forwarding gateway: sessions get passes, and sq itself asks with the key.

    `first_party`: Claude Code behaves as it does at Anthropic's own address. `no_proxy` is the user's.
    """

    doors: Doors
    key: ApiKey
    config_dir: Path
    base_url: str | None = None
    first_party: bool = False
    no_proxy: str = ""
    credentials: Credentials = Credentials.API_KEY
    gateway_socket: GatewaySocket | None = None

    def session_environment(self, lane: Caller) -> dict[str, str]:
        """As `Connection`. The pass of a session adds its address and token."""
        del lane
        here = ",".join(filter(None, (self.no_proxy, "127.0.0.1,localhost")))
        first = _FIRST_PARTY if self.first_party else {}
        config = {"CLAUDE_CONFIG_DIR": str(self.config_dir)}
        return {**QUIET, **first, **config, "NO_PROXY": here, "no_proxy": here}

    def api_access(self, lane: Caller) -> ApiAccess | None:
        """As `Connection`: sq asks the API itself."""
        del lane
        return ApiAccess(key=self.key.value, base_url=self.base_url)

    def admission(self, lane: Caller, model: Model, tools: tuple[str, ...]) -> Admit:
        """As `Connection`."""
        path = (str(lane.role), lane.task, str(lane.attempt))
        return lambda cap_usd: self.doors.admit(path, model, tools, cap_usd)

    def __repr__(self) -> str:
        return "<ForwardConnection>"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginConnection:
    """The user is signed in to the CLI. It uses the user's configuration folder without its settings."""

    kept: Mapping[str, str] = field(default_factory=dict)
    config_dir: Path | None = None
    credentials: Credentials = Credentials.CLI_LOGIN
    gateway_socket: GatewaySocket | None = None

    def session_environment(self, lane: Caller) -> dict[str, str]:
        """As `Connection`."""
        del lane
        return {**QUIET, **self.kept}

    def api_access(self, lane: Caller) -> ApiAccess | None:
        """As `Connection`: a login gives no key."""
        del lane
        return None

    def admission(self, lane: Caller, model: Model, tools: tuple[str, ...]) -> None:
        """As `Connection`: the login stays in the unmodified Claude Code."""
        del lane, model, tools

    def __repr__(self) -> str:
        return "<LoginConnection>"


class LaneAddresses(Protocol):
    """The part of the gateway that a rehearsal needs."""

    def lane_url(self, role: str, task: str, attempt: int | str, values: Mapping[str, str] = ...) -> str:
        """Return the base URL under which this lane's requests are answered."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsalConnection:
    """A scripted model behind a loopback gateway. It uses no real key."""

    gateway: LaneAddresses
    config_dir: Path
    credentials: Credentials = Credentials.REHEARSAL
    gateway_socket: GatewaySocket | None = None

    def session_environment(self, lane: Caller) -> dict[str, str]:
        """As `Connection`."""
        return {
            **QUIET,
            "ANTHROPIC_BASE_URL": self._url(lane),
            "ANTHROPIC_API_KEY": "rehearsal",
            "CLAUDE_CONFIG_DIR": str(self.config_dir),
            "NO_PROXY": "127.0.0.1,localhost",
            "no_proxy": "127.0.0.1,localhost",
        }

    def api_access(self, lane: Caller) -> ApiAccess | None:
        """As `Connection`."""
        return ApiAccess(key="rehearsal", base_url=self._url(lane))

    def admission(self, lane: Caller, model: Model, tools: tuple[str, ...]) -> None:
        """As `Connection`: a rehearsal has nothing to protect."""
        del lane, model, tools

    def _url(self, lane: Caller) -> str:
        return self.gateway.lane_url(lane.role, lane.task, lane.attempt, lane.values)


def find_credentials(key: ApiKey | None, environ: Mapping[str, str], *, cli: Path) -> Credentials:
    """Return the user's credentials: a key first, else a login of the CLI.

    Raises:
        UsageError: neither. The message says how to get one, and how to rehearse without.
    """
    if key:
        return Credentials.API_KEY
    if is_signed_in(cli, environ):
        return Credentials.CLI_LOGIN
    raise UsageError(
        f"no credentials: {KEY} is not set and Claude Code is not signed in. "
        f"Set the key (export {KEY}=…, or {FILE}=PATH) or sign in (`{cli} auth login`). "
        "To see a run without either: `sq demo`"
    )


def find_connection(
    key: ApiKey | None, environ: Mapping[str, str], *, cli: Path, config_dir: Path
) -> KeyConnection | LoginConnection:
    """Return the connection that the user's credentials allow without the gateway.

    Args:
        key: the user's key, if there is one.
        environ: sq's own environment.
        cli: the Claude Code executable, which reports whether a user is signed in.
        config_dir: a configuration folder of the run's own, used with a key.

    Raises:
        UsageError: as `find_credentials`.
    """
    if key:
        return KeyConnection(key=key, config_dir=config_dir, base_url=environ.get("ANTHROPIC_BASE_URL"))
    find_credentials(key, environ, cli=cli)
    kept = {
        name: value
        for name, value in environ.items()
        if name.startswith(("ANTHROPIC_", "CLAUDE_CODE_OAUTH", "CLAUDE_CODE_USE_", "CLAUDE_CONFIG_DIR"))
    }
    return LoginConnection(kept=kept)


def is_signed_in(cli: Path, environ: Mapping[str, str]) -> bool:
    """Whether the CLI reports that a user is signed in. A CLI that does not answer counts as no."""
    import subprocess

    try:
        status = subprocess.run(
            [cli, "auth", "status"],
            env={**environ, **QUIET},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_AUTH_STATUS_DEADLINE_S,
            check=False,
        )
        return json.loads(status.stdout).get("loggedIn") is True
    except (OSError, ValueError, AttributeError, subprocess.TimeoutExpired):
        return False
