"""The first session's process, which starts while the SDK is imported."""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from claude_agent_sdk import ClaudeSDKClient
from language.programs import ran
from session_desk import Desk

from agents.claude_code.callbacks import Callbacks
from agents.claude_code.cli_settings import CommandSandbox
from agents.claude_code.early_start import EarlyProcess, command_of, environment_of, taking
from agents.claude_code.exchange import ClaudeSpec, SessionStart
from agents.claude_code.executable import connect, find_cli
from agents.process.containment import LastWords
from agents.session.port import Listener

ROOT = Path(__file__).parents[2]
# Notes each start of Claude Code with its arguments and its environment.
RECORDING = (
    f"exec {sys.executable} -c 'import json, os, sys; "
    'open(sys.argv[1], "a").write(json.dumps([sys.argv[2:], dict(os.environ)]) + "\\n"); '
    'os.execv(sys.argv[2], sys.argv[2:])\' {starts} {cli} "$@"'
)
FIRST_OF_A_PROCESS = """
import sys
from pathlib import Path

import anyio

from agents.session.port import Listener
from agents.claude_code.session import open_session
from session_desk import desk_with

async def main(folder):
    async with desk_with(folder, {"worker/t1/1": [{"text": "Done."}]}) as desk:
        cli = desk.command("claude", (folder / "script").read_text())
        spec = desk.spec()
        for number in range(2):
            assert number or "claude_agent_sdk" not in sys.modules
            start = spec.start.__class__(launcher=desk.launcher_of(cli))
            async with open_session(desk.spec(start=start), Listener()) as session:
                print((await session.exchange("Work.")).text)

anyio.run(main, Path(sys.argv[1]))
"""


def recorded(folder: Path) -> list[tuple[list[str], dict[str, str]]]:
    return [tuple(json.loads(line)) for line in (folder / "starts").read_text().splitlines()]


def same(environment: Mapping[str, str]) -> dict[str, str]:
    """Without what the shells between set."""
    return {name: value for name, value in environment.items() if name not in {"_", "SHLVL", "OLDPWD"}}


def settings_of_sessions(tmp_path: Path) -> dict[str, dict[str, Any]]:
    walls = CommandSandbox(
        home=tmp_path, unreadable=(tmp_path,), readable=(), writable=(), unwritable=(), secrets=("TOKEN",)
    )
    launcher = tmp_path / "launcher"
    return {
        "new": {},
        "resumed": {"resume": True, "cost_before_usd": 0.5, "max_cost_usd": 1.25},
        "no typed tools": {"signals": ()},
        "servers of the project": {
            "servers": {"docs": {"command": "docs", "args": ["--x"]}},
        },
        "told its tokens, its commands in a sandbox": {
            "task_tokens": 20_000,
            "start": SessionStart(launcher=launcher, command_sandbox=walls),
        },
    }


@pytest.mark.parametrize(
    "case",
    [
        "new",
        "resumed",
        "no typed tools",
        "servers of the project",
        "told its tokens, its commands in a sandbox",
    ],
)
@pytest.mark.parametrize("effort", ["high", None])
async def test_the_early_command_is_the_one_that_the_sdk_makes(
    tmp_path: Path, case: str, effort: str | None
) -> None:
    desk = Desk(tmp_path, None)
    spec = desk.spec(**settings_of_sessions(tmp_path)[case])
    spec = replace(spec, model=replace(spec.model, effort=effort))
    launcher = desk.command("claude", "cat >/dev/null")
    async with await anyio.open_process(["cat"]) as process:
        early = EarlyProcess(command_of(spec, launcher), process)
        transport = taking(early, options_of(spec, launcher))
        assert transport
        await transport.connect()
        assert early.is_taken
        await transport.close()


def options_of(spec: ClaudeSpec, launcher: Path) -> Any:
    callbacks = Callbacks(spec, Listener(), lambda: None)
    return callbacks.options(launcher, stderr=lambda _line: None, environment=dict(spec.environment))


@pytest.mark.late
async def test_with_another_command_the_sdk_starts_its_own_process(tmp_path: Path) -> None:
    desk = Desk(tmp_path, None)
    spec = desk.spec()
    cli = desk.command("claude", RECORDING.format(starts=tmp_path / "starts", cli=find_cli()))
    async with await anyio.open_process(["cat"]) as process:
        early = EarlyProcess([*command_of(spec, cli), "--new"], process)
        options = options_of(spec, cli)
        client = ClaudeSDKClient(options, taking(early, options))
        assert await connect(client, LastWords(), limit_s=60) == ""
        await client.disconnect()
        assert not early.is_taken
        process.kill()
    ((arguments, environment),) = recorded(tmp_path)
    assert arguments[1:] == command_of(spec, cli)[1:]
    assert same(environment) == same({**environment_of(spec.workspace, spec.environment)})


def test_the_first_session_of_a_process_starts_claude_code_once_and_before_the_sdk_is_there(
    tmp_path: Path,
) -> None:
    script = RECORDING.format(starts=tmp_path / "starts", cli=find_cli())
    (tmp_path / "script").write_text(script)
    done = ran(
        [sys.executable, "-c", FIRST_OF_A_PROCESS, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{Path(__file__).parent}"},
        timeout=100,
    )
    assert done.stdout.splitlines() == ["Done.", "Done."], done.stderr
    (first, early), (second, later) = recorded(tmp_path)
    changing = "--session-id="
    assert [one for one in first if not one.startswith(changing)] == [
        one for one in second if not one.startswith(changing)
    ]
    assert same(early) == same(later)
