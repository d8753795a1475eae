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
from agents.caller import Admit, Caller, CallerPass
from agents.login import OAUTH
from agents.process.sandbox.needs import GatewaySocket
from state.errors import UsageError
from state.settings.records import Model

_AUTH_STATUS_DEADLINE_S = 20
_LOOPBACK = "127.0.0.1,localhost"
_REHEARSED_KEY = "rehearsal"

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """Reaches a model for any caller of a run.

    `credentials` is the source of the right to use a model. `config_dir` is the folder of the CLI's
    configurations, or None for the user's own, which holds the login. `gateway_socket` leads to the model,
    for a session without any other network.
    """

    credentials: Credentials
    config_dir: Path | None = None
    gateway_socket: GatewaySocket | None = None

    def session_environment(self, caller: Caller) -> dict[str, str]:
        """Return variables for a Claude Code process that works for this caller."""
        del caller
        return {**QUIET, **({"CLAUDE_CONFIG_DIR": str(self.config_dir)} if self.config_dir else {})}

    def api_access(self, caller: Caller) -> ApiAccess | None:
        """Return API address and key for this caller, or None if there is only the CLI."""
        del caller
        return None

    def admission(self, caller: Caller, model: Model, tools: tuple[str, ...]) -> Admit | None:
        """Return how a session of this caller gets its pass, or None if it needs none.

        `tools` are the typed tools that the session has to offer its model.
        """
        del caller, model, tools
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyConnection(Connection):
    """The user's API key, in a configuration folder of the run's own. Sessions have the key."""

    key: ApiKey = field(repr=False)
    base_url: str | None = None
    credentials: Credentials = Credentials.API_KEY

    def session_environment(self, caller: Caller) -> dict[str, str]:
        """Return the environment with the key and its address."""
        base = {"ANTHROPIC_BASE_URL": self.base_url} if self.base_url else {}
        return {**super(KeyConnection, self).session_environment(caller), **base, **self.key.variables}

    def api_access(self, caller: Caller) -> ApiAccess | None:
        """Return the key: sq asks the API itself."""
        del caller
        return ApiAccess(key=self.key.value, base_url=self.base_url)


class Doors(Protocol):
    """The part of the forwarding gateway that a connection needs."""

    def admit(
        self, caller: tuple[str, str, str], model: Model, tools: tuple[str, ...], cap_usd: float | None
    ) -> AbstractContextManager[CallerPass]:
        """Provide a pass for one session, good while the block runs."""
        ...


_ONE_MODEL = {"CLAUDE_CODE_DISABLE_REFUSAL_FALLBACK": "1"}  # no request names another one, which is refused
_FIRST_PARTY = {"_CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL": "1", "ENABLE_TOOL_SEARCH": "true"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardConnection(KeyConnection):
    """The user's API key behind the forwarding gateway: sessions get passes, and sq itself asks with the key.

    `first_party`: Claude Code behaves as it does at Anthropic's own address. `no_proxy` is the user's.
    """

    doors: Doors
    first_party: bool = False
    no_proxy: str = ""

    def session_environment(self, caller: Caller) -> dict[str, str]:
        """Return the environment without the key. The pass of a session adds its address and token."""
        here = ",".join(filter(None, (self.no_proxy, _LOOPBACK)))
        first = _FIRST_PARTY if self.first_party else {}
        ours = {**Connection.session_environment(self, caller), **_ONE_MODEL, **first}
        return {**ours, "NO_PROXY": here, "no_proxy": here}

    def admission(self, caller: Caller, model: Model, tools: tuple[str, ...]) -> Admit:
        """Return the way to a pass of the gateway."""
        path = (str(caller.role), caller.task, str(caller.attempt))
        return lambda cap_usd: self.doors.admit(path, model, tools, cap_usd)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginConnection(Connection):
    """The user is signed in to the CLI. It uses the user's configuration folder without its settings."""

    kept: Mapping[str, str] = field(default_factory=dict, repr=False)
    credentials: Credentials = Credentials.CLI_LOGIN

    def session_environment(self, caller: Caller) -> dict[str, str]:
        """Return the environment with the user's variables of the login, which stays in Claude Code."""
        return {**super(LoginConnection, self).session_environment(caller), **self.kept}


class CallerAddresses(Protocol):
    """The part of the gateway that a rehearsal needs."""

    def caller_url(self, role: str, task: str, attempt: int | str, values: Mapping[str, str] = ...) -> str:
        """Return the base URL under which this caller's requests are answered."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsalConnection(Connection):
    """A scripted model behind a loopback gateway. It uses no real key."""

    gateway: CallerAddresses
    credentials: Credentials = Credentials.REHEARSAL

    def session_environment(self, caller: Caller) -> dict[str, str]:
        """Return the environment that leads to the script."""
        return {
            **super(RehearsalConnection, self).session_environment(caller),
            "ANTHROPIC_BASE_URL": self._url(caller),
            "ANTHROPIC_API_KEY": _REHEARSED_KEY,
            "NO_PROXY": _LOOPBACK,
            "no_proxy": _LOOPBACK,
        }

    def api_access(self, caller: Caller) -> ApiAccess | None:
        """Return the address of the script."""
        return ApiAccess(key=_REHEARSED_KEY, base_url=self._url(caller))

    def _url(self, caller: Caller) -> str:
        return self.gateway.caller_url(caller.role, caller.task, caller.attempt, caller.values)


def find_credentials(key: ApiKey | None, environ: Mapping[str, str], *, cli: Path) -> Credentials:
    """Return the user's credentials: a key first, else a login of the CLI or its token.

    Raises:
        UsageError: neither. The message says how to get one, and how to rehearse without.
    """
    if key:
        return Credentials.API_KEY
    if environ.get(OAUTH, "").strip() or is_signed_in(cli, environ):
        return Credentials.CLI_LOGIN
    raise UsageError(
        f"no credentials: {KEY} is not set and Claude Code is not signed in. "
        f"Set the key (export {KEY}=…, or {FILE}=PATH), sign in (`{cli} auth login`) or set {OAUTH}. "
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
