"""How a model is reached: a key before a login, and neither is an error that says what to do."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agents.access import (
    Credentials,
    KeyConnection,
    LoginConnection,
    RehearsalConnection,
    find_connection,
    is_signed_in,
)
from agents.api_key import ApiKey, read_key
from agents.caller import Caller
from agents.claude_code.executable import find_cli
from agents.sdks import sdk_version
from state.errors import UsageError
from state.roles import Role
from state.settings.presets import model_named

CALLER = Caller(role=Role.WORKER, task="t1", attempt=2, values={"workspace": "/w"})
ROOT = Path(__file__).parents[2]


@pytest.fixture
def cli(tmp_path):
    """Writes a stand-in for the CLI that answers `auth status` by a shell script."""

    def write(script):
        path = tmp_path / "claude"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    return write


SIGNED_IN = "echo '{\"loggedIn\": true}'"


def found(environ, cli):
    return find_connection(
        read_key(environ), {**os.environ, **environ}, cli=cli, config_dir=Path("/run/claude")
    )


def test_a_key_wins_over_a_login(cli):
    connection = found({"ANTHROPIC_API_KEY": "sk-1"}, cli(SIGNED_IN))
    assert connection.credentials is Credentials.API_KEY
    assert connection.api_access(CALLER).key == "sk-1"
    environment = connection.session_environment(CALLER)
    assert environment["ANTHROPIC_API_KEY"] == "sk-1"
    assert environment["CLAUDE_CONFIG_DIR"] == "/run/claude"
    assert "ANTHROPIC_BASE_URL" not in environment


def test_a_bearer_token_is_a_key_too(cli):
    connection = found({"ANTHROPIC_AUTH_TOKEN": "t-1"}, cli(SIGNED_IN))
    assert connection.credentials is Credentials.API_KEY
    assert connection.session_environment(CALLER)["ANTHROPIC_AUTH_TOKEN"] == "t-1"
    assert connection.api_access(CALLER).key == "t-1"


def test_a_login_and_a_rehearsal_are_never_forwarded(cli):
    login = found({"CLAUDE_CODE_OAUTH_TOKEN": "o"}, cli(SIGNED_IN))
    rehearsal = RehearsalConnection(gateway=Addresses(), config_dir=Path("/c"))
    for connection in (login, rehearsal):
        assert connection.admission(CALLER, model_named("haiku"), ("mcp__sq__task_complete",)) is None


def test_a_keys_own_address_is_used_by_both_ways(cli):
    connection = found({"ANTHROPIC_API_KEY": "sk-1", "ANTHROPIC_BASE_URL": "http://proxy"}, cli("exit 1"))
    assert connection.api_access(CALLER).base_url == "http://proxy"
    assert connection.session_environment(CALLER)["ANTHROPIC_BASE_URL"] == "http://proxy"


def test_without_a_key_a_login_is_used_with_the_users_own_configuration(cli):
    connection = found({"CLAUDE_CODE_OAUTH_TOKEN": "o", "CLAUDE_CONFIG_DIR": "/mine"}, cli(SIGNED_IN))
    assert connection.credentials is Credentials.CLI_LOGIN
    assert connection.api_access(CALLER) is None
    assert connection.config_dir is None
    environment = connection.session_environment(CALLER)
    assert (environment["CLAUDE_CODE_OAUTH_TOKEN"], environment["CLAUDE_CONFIG_DIR"]) == ("o", "/mine")


@pytest.mark.parametrize(
    "script",
    ["echo '{\"loggedIn\": false}'", "exit 1", "echo yes", 'echo \'{"loggedIn": "true"}\'', "echo null"],
)
def test_neither_is_an_error_that_names_every_way_out(cli, script):
    path = cli(script)
    with pytest.raises(UsageError, match=rf"ANTHROPIC_API_KEY.*{path} auth login.*sq demo"):
        found({"ANTHROPIC_API_KEY": ""}, path)


def test_a_cli_that_is_not_there_has_nobody_signed_in(tmp_path):
    assert not is_signed_in(tmp_path / "nothing", os.environ)
    assert not is_signed_in(tmp_path, os.environ)


def test_the_real_cli_in_an_empty_home_has_nobody_signed_in():
    assert not is_signed_in(find_cli(), os.environ)


def test_a_key_is_not_shown_by_anything_that_holds_it():
    connection = KeyConnection(key=ApiKey(key="sk-very-secret"), config_dir=Path("/c"))
    login = LoginConnection(kept={"CLAUDE_CODE_OAUTH_TOKEN": "sk-very-secret"})
    shown = f"{connection!r} {connection.api_access(CALLER)!r} {login!r}"
    assert "sk-very-secret" not in shown


class Addresses:
    """Stands for the gateway: says where a caller is."""

    def caller_url(self, role, task, attempt, values):
        return f"http://127.0.0.1:1/run/{role}/{task}/{attempt}?{values['workspace']}"


def test_a_rehearsal_reaches_the_gateway_by_caller_without_a_key_or_retries():
    connection = RehearsalConnection(gateway=Addresses(), config_dir=Path("/c"))
    url = "http://127.0.0.1:1/run/worker/t1/2?/w"
    environment = connection.session_environment(CALLER)
    assert environment["ANTHROPIC_BASE_URL"] == connection.api_access(CALLER).base_url == url
    assert environment["CLAUDE_CODE_MAX_RETRIES"] == "0"
    assert environment["ANTHROPIC_API_KEY"] == connection.api_access(CALLER).key == "rehearsal"
    assert "127.0.0.1" in environment["NO_PROXY"]


def test_every_session_is_quiet():
    for connection in (
        KeyConnection(key=ApiKey(key="k"), config_dir=Path("/c")),
        LoginConnection(),
        RehearsalConnection(gateway=Addresses(), config_dir=Path("/c")),
    ):
        environment = connection.session_environment(CALLER)
        for name in ("DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER", "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"):
            assert environment[name] == "1"
        assert environment["MCP_CONNECTION_NONBLOCKING"] == "false"


def test_the_cli_that_comes_with_the_sdk_is_found():
    cli = find_cli()
    assert "claude_agent_sdk" in cli.parts
    assert os.access(cli, os.X_OK)
    assert sdk_version().count(".") == 2


def test_without_the_sdk_the_error_says_how_to_install_it():
    code = "from agents.claude_code.executable import find_cli\nfind_cli()"
    command = [sys.executable, "-S", "-c", code]  # -S: no installed packages
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "SdkError: claude-agent-sdk is not installed" in done.stderr
    assert "Install it with `" in done.stderr


def test_the_connection_and_the_cli_are_found_without_importing_the_sdk():
    code = "import sys, agents.access as c, agents.claude_code.executable as d; d.find_cli(); print(sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "'agents.access'" in done.stdout
    assert "'claude_agent_sdk'" not in done.stdout
    assert "'anthropic'" not in done.stdout
