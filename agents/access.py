"""How a session or a call reaches a model: a key, a CLI login, or the rehearsal gateway.

A key wins over a login. What a session gets is environment variables for the CLI; what `ask` gets is an API
address and key, or none, in which case it asks through the CLI.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from state.errors import UsageError
from state.records import Role

_AUTH_STATUS_DEADLINE_S = 20

OURS = "SQ_AGENT"  # set in every Claude Code that sq starts: the stop gate leaves those alone
# Every session: no telemetry, no updates, no background turns, no tries of the CLI's own (sq retries), and
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
    """Where the right to ask a model comes from."""

    REHEARSAL = "rehearsal"
    API_KEY = "api key"
    CLI_LOGIN = "cli login"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """Whose traffic this is: the path of a gateway's URL, and a label everywhere else."""

    role: Role
    task: str
    attempt: int
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiAccess:
    """What an API client needs. `base_url` None: the real API."""

    key: str = field(repr=False)
    base_url: str | None


class Connection(Protocol):
    """Reaches a model for any lane of a run."""

    @property
    def credentials(self) -> Credentials:
        """Where the right to ask comes from."""
        ...

    def session_environment(self, lane: Lane) -> dict[str, str]:
        """Variables for a Claude Code process that works in this lane."""
        ...

    def api_access(self, lane: Lane) -> ApiAccess | None:
        """API address and key for this lane; None: there is only the CLI."""
        ...

    @property
    def config_dir(self) -> Path | None:
        """The CLI's configuration folder; None: the user's own, because the login is kept there."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyConnection:
    """The user's API key, in a configuration folder of the run's own."""

    key: str
    config_dir: Path
    base_url: str | None = None
    credentials: Credentials = Credentials.API_KEY

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
    """The user is signed in to the CLI: its own configuration folder, settings left out by the session."""

    kept: Mapping[str, str] = field(default_factory=dict)
    config_dir: Path | None = None
    credentials: Credentials = Credentials.CLI_LOGIN

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
    """What a rehearsal needs of the gateway."""

    def lane_url(self, role: str, task: str, attempt: int | str, values: Mapping[str, str] = ...) -> str:
        """The base URL under which this lane's requests are answered."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsalConnection:
    """A scripted model behind a loopback gateway; no key leaves or enters."""

    gateway: LaneAddresses
    config_dir: Path
    credentials: Credentials = Credentials.REHEARSAL

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
    """Which right to ask a model the user has: a key first, else a login of the CLI.

    Raises:
        UsageError: neither; says how to get one, and how to rehearse without.
    """
    if environ.get("ANTHROPIC_API_KEY"):
        return Credentials.API_KEY
    if is_signed_in(cli, environ):
        return Credentials.CLI_LOGIN
    raise UsageError(
        "no credentials: ANTHROPIC_API_KEY is not set and nobody is signed in to Claude Code. "
        f"Set the key (export ANTHROPIC_API_KEY=…) or sign in (`{cli} auth login`). "
        "To see a run without either: `sq demo`"
    )


def find_connection(environ: Mapping[str, str], *, cli: Path, config_dir: Path) -> Connection:
    """The connection that the user's credentials allow.

    Args:
        environ: the environment sq was started with.
        cli: the Claude Code executable, asked whether somebody is signed in.
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
    """Whether the CLI says that somebody is signed in. A CLI that does not answer counts as no."""
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
