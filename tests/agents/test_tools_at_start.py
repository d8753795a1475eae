"""A process that does not offer its model the typed tools is ended, and what it replies is not heard (lesson 80)."""

import shlex
from pathlib import Path

import anyio
import pytest
from session_desk import call, desk_with

from agents.claude_code.exchange import SessionStart
from agents.claude_code.executable import find_cli
from agents.claude_code.session import open_session
from agents.session.port import Listener
from state.records.calls import CallEnd, CallResult

LIMIT_S = 60
WITHOUT_TOOLS = {
    "the tool server is too late": ('MCP_TIMEOUT=1 exec {cli} "$@"', "sq: failed"),
    "a rule of Claude Code denies them": ('exec {cli} "$@" --disallowedTools mcp__sq', "sq: connected"),
    "a rule denies one of them": (
        'exec {cli} "$@" --disallowedTools mcp__sq__task_complete',
        "its model mcp__sq__task_complete (",
    ),
}


async def asked(tmp_path: Path, script: str, *replies: dict[str, object]) -> tuple[CallResult, list[object]]:
    """The last exchange of a session with this stand-in for Claude Code, and all that its listener heard."""
    heard: list[object] = []
    listener = Listener(
        on_message=heard.append,
        on_signal=lambda name, _: heard.append(name),
        on_refusal=lambda tool, _: heard.append(tool),
    )
    with anyio.fail_after(LIMIT_S):
        async with desk_with(tmp_path, {"worker/t1/1": list(replies)}) as desk:
            command = desk.command("claude-without-tools", script.format(cli=shlex.quote(str(find_cli()))))
            async with open_session(
                desk.spec(start=SessionStart(launcher=desk.launcher_of(command))), listener
            ) as session:
                exchange = await session.exchange("build it")
                assert session.is_over is (exchange.end is not CallEnd.COMPLETED)
            await desk.nothing_left()
    return exchange, heard


@pytest.mark.parametrize(("script", "said"), WITHOUT_TOOLS.values(), ids=WITHOUT_TOOLS)
async def test_a_process_without_the_typed_tools_is_no_start_and_nothing_of_it_counts(
    tmp_path: Path, script: str, said: str
) -> None:
    write = call("Write", file_path="{workspace}/a.txt", content="x")
    reports = call("mcp__sq__iteration_done", done="a")
    reply = {"text": "TASK_COMPLETE", "tools": [write, reports], "then": "TASK_COMPLETE"}
    exchange, heard = await asked(tmp_path, script, reply)
    assert exchange.end is CallEnd.NOT_STARTED
    assert said in exchange.detail
    assert exchange.text == ""
    assert heard == []
    assert list((tmp_path / "workspace").iterdir()) == []


async def test_a_process_with_its_typed_tools_is_heard(tmp_path: Path) -> None:
    reports = call("mcp__sq__task_complete", summary="Done.")
    exchange, heard = await asked(tmp_path, 'exec {cli} "$@"', {"tools": [reports]})
    assert exchange.end is CallEnd.COMPLETED
    assert "task_complete" in heard
