"""How a session or a request reaches a model: a key, a CLI login, or the rehearsal gateway.

A key is preferred to a login. A session gets environment variables for the CLI. An `Asker` gets an API
address and key, or asks through the CLI if there is none.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from agents.process.sandbox.plan import GatewaySocket
from state.errors import UsageError
from state.roles import Role

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
class Lane:
    """The sender of a request: the path of a gateway's URL, and a label everywhere else."""

    role: Role
    task: str
    attempt: int
    values: Mapping[str, str] = field(default_factory=dict)


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

    def session_environment(self, lane: Lane) -> dict[str, str]:
        """Return variables for a Claude Code process that works in this lane."""
        ...

    def api_access(self, lane: Lane) -> ApiAccess | None:
        """Return API address and key for this lane, or None if there is only the CLI."""
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
    """The user's API key, in a configuration folder of the run's own."""

    key: str
    config_dir: Path
    base_url: str | None = None
    credentials: Credentials = Credentials.API_KEY
    gateway_socket: GatewaySocket | None = None

    def session_environment(self, lane: Lane) -> dict[str, str]:
        """As `Connection`."""
        del lane
        base = {"ANTHROPIC_BASE_URL": self.base_url} if self.base_url else {}
        return {**QUIET, **base, "ANTHROPIC_API_KEY": self.key, "CLAUDE_CONFIG_DIR": str(self.config_dir)}

    def api_access(self, lane: Lane) -> ApiAccess | None:
        """As `Connection`."""
        del lane
        return ApiAccess(key=self.key, base_url=self.base_url)

    def __repr__(self) -> str:
        return "<KeyConnection>"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginConnection:
    """The user is signed in to the CLI. It uses the user's configuration folder without its settings."""

    kept: Mapping[str, str] = field(default_factory=dict)
    config_dir: Path | None = None
    credentials: Credentials = Credentials.CLI_LOGIN
    gateway_socket: GatewaySocket | None = None

    def session_environment(self, lane: Lane) -> dict[str, str]:
        """As `Connection`."""
        del lane
        return {**QUIET, **self.kept}

    def api_access(self, lane: Lane) -> ApiAccess | None:
        """As `Connection`: a login gives no key."""
        del lane
        return None

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

    def session_environment(self, lane: Lane) -> dict[str, str]:
        """As `Connection`."""
        return {
            **QUIET,
            "ANTHROPIC_BASE_URL": self._url(lane),
            "ANTHROPIC_API_KEY": "rehearsal",
            "CLAUDE_CONFIG_DIR": str(self.config_dir),
            "NO_PROXY": "127.0.0.1,localhost",
            "no_proxy": "127.0.0.1,localhost",
        }

    def api_access(self, lane: Lane) -> ApiAccess | None:
        """As `Connection`."""
        return ApiAccess(key="rehearsal", base_url=self._url(lane))

    def _url(self, lane: Lane) -> str:
        return self.gateway.lane_url(lane.role, lane.task, lane.attempt, lane.values)


def find_credentials(environ: Mapping[str, str], *, cli: Path) -> Credentials:
    """Return the user's credentials: a key first, else a login of the CLI.

    Raises:
        UsageError: neither. The message says how to get one, and how to rehearse without.
    """
    if environ.get("ANTHROPIC_API_KEY"):
        return Credentials.API_KEY
    if is_signed_in(cli, environ):
        return Credentials.CLI_LOGIN
    raise UsageError(
        "no credentials: ANTHROPIC_API_KEY is not set and Claude Code is not signed in. "
        f"Set the key (export ANTHROPIC_API_KEY=…) or sign in (`{cli} auth login`). "
        "To see a run without either: `sq demo`"
    )


def find_connection(environ: Mapping[str, str], *, cli: Path, config_dir: Path) -> Connection:
    """Return the connection that the user's credentials allow.

    Args:
        environ: sq's own environment.
        cli: the Claude Code executable, which reports whether a user is signed in.
        config_dir: a configuration folder of the run's own, used with a key.

    Raises:
        UsageError: as `find_credentials`.
    """
    if find_credentials(environ, cli=cli) is Credentials.API_KEY:
        key, base_url = environ["ANTHROPIC_API_KEY"], environ.get("ANTHROPIC_BASE_URL")
        return KeyConnection(key=key, config_dir=config_dir, base_url=base_url)
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
