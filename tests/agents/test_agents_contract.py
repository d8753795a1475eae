"""What every agent owes a run: one suite over Claude Code, its scripted twin, and a program that speaks JSON lines."""

import json
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from language.lines_agent import LinesAgent
from language.scripted_agent import ScriptedAgent
from session_desk import Desk, call, desk_with

from agents.claude_code.agent import ClaudeCode
from agents.claude_code.executable import Launch, find_cli
from agents.make import SessionSandboxes
from agents.process.containment import detect_containment
from agents.process.sandbox.choice import choose_sandbox
from agents.process.sandbox.policy import SandboxPolicy
from agents.session.port import Agent, Listener, SessionSpec, SessionStartError
from state.errors import JournalError
from state.records.calls import CallEnd, CallResult, Message
from state.settings.records import Limits, Sandbox

LIMIT_S = 60
Reply = Mapping[str, Any]
DONE = {"tools": [call("mcp__sq__task_complete", summary="It is built.")]}
HANGS = {"text": "Late.", "misbehave": {"hang": "before-headers"}}
# Plays replies of a scenario as lines.
PLAYER = """#!/usr/bin/env python3
import json, sys, time
REPLIES = json.loads({replies!r})
def say(**line):
    print(json.dumps(line), flush=True)
for _prompt in sys.stdin:
    while REPLIES:
        reply = REPLIES.pop(0)
        if "misbehave" in reply:
            time.sleep(600)
        if "text" in reply:
            say(type="text", text=reply["text"])
        for tool in reply.get("tools", ()):
            say(type="report", name=tool["name"].removeprefix("mcp__sq__"), input=tool["input"])
            json.loads(sys.stdin.readline())
        if "tools" not in reply:
            break
    say(type="done", cost_usd=0.25)
"""


def claude_at(desk: Desk, tmp_path: Path) -> ClaudeCode:
    containment, cli = detect_containment(), find_cli()
    launch = Launch(
        cli=cli, launcher=desk.launcher_of(cli), dropped=frozenset(), folder=tmp_path / "sandboxes"
    )
    choice = choose_sandbox(Sandbox.AUTO, containment=containment, login=False, environ=os.environ)
    sandbox_policy = SandboxPolicy(
        choice=choice, environ=os.environ, own_processes=True, home=tmp_path / "home"
    )
    return ClaudeCode(
        connection=desk.connection("t1"),
        launch=launch,
        environ=os.environ,
        sandboxes=SessionSandboxes(sandbox_policy=sandbox_policy, launch=launch, containment=containment),
    )


def real(desk: Desk, tmp_path: Path, replies: Sequence[Reply]) -> Agent:
    return ClaudeCode(
        connection=desk.connection("t1"), launch=claude_at(desk, tmp_path).launch, environ=os.environ
    )


def scripted(desk: Desk, tmp_path: Path, replies: Sequence[Reply]) -> Agent:
    return ScriptedAgent(claude_at(desk, tmp_path))


def lines(desk: Desk, tmp_path: Path, replies: Sequence[Reply]) -> Agent:
    program = tmp_path / "program" / "player"
    program.parent.mkdir()
    program.write_text(PLAYER.format(replies=json.dumps(replies)))
    program.chmod(0o700)
    return LinesAgent(program=program, claude=claude_at(desk, tmp_path))


AGENTS = {"Claude Code": real, "its scripted twin": scripted, "a program that speaks JSON lines": lines}
Open = Callable[..., AbstractAsyncContextManager[tuple[Agent, SessionSpec]]]


@pytest.fixture(params=AGENTS)
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Provides an agent that says these replies, and a spec for its session."""

    @asynccontextmanager
    async def open_with(*replies: Reply, **changes: Any) -> AsyncIterator[tuple[Agent, SessionSpec]]:
        with anyio.fail_after(LIMIT_S):
            async with desk_with(tmp_path, {"worker/t1/1": replies or [{"text": "Nothing."}]}) as desk:
                yield AGENTS[request.param](desk, tmp_path, replies), desk.asked(**changes)
                await desk.nothing_left()

    return open_with


async def exchanged(agent: Agent, spec: SessionSpec, listener: Listener) -> tuple[CallResult, bool]:
    """One exchange of a session, and whether the session was over then."""
    async with agent.open(spec, listener) as session:
        assert session.session_id == spec.session_id
        return await session.exchange("Build it."), session.is_over


async def test_words_are_heard_and_the_turn_ends_with_them(opened: Open) -> None:
    heard: list[Message] = []
    async with opened({"text": "I looked."}) as (agent, spec):
        result, is_over = await exchanged(agent, spec, Listener(on_message=heard.append))
    assert (result.end, result.text, is_over) == (CallEnd.COMPLETED, "I looked.", False)
    assert [one.text for one in heard] == ["I looked."]
    assert result.cost_usd > 0


async def test_a_report_that_does_not_fit_is_explained_and_the_one_that_fits_ends_the_turn(
    opened: Open,
) -> None:
    reports: list[tuple[str, str]] = []
    unfit = {"tools": [call("mcp__sq__task_complete", summary=3)]}
    async with opened(unfit, DONE) as (agent, spec):
        result, _ = await exchanged(
            agent, spec, Listener(on_signal=lambda name, payload: reports.append((name, payload)))
        )
    assert result.end is CallEnd.COMPLETED
    assert [(name, json.loads(payload)["summary"]) for name, payload in reports] == [
        ("task_complete", "It is built.")
    ]


async def test_a_report_that_is_refused_is_made_once_more(opened: Open) -> None:
    refusals, heard = ["Say which tests you ran."], []

    def on_signal(name: str, _payload: str) -> str | None:
        heard.append(name)
        return refusals.pop() if refusals else None

    async with opened(DONE, DONE) as (agent, spec):
        result, _ = await exchanged(agent, spec, Listener(on_signal=on_signal))
    assert (result.end, heard) == (CallEnd.COMPLETED, ["task_complete"] * 2)


async def test_an_error_of_the_listener_interrupts_the_turn_and_is_raised(opened: Open) -> None:
    def fails(_message: Message) -> None:
        raise JournalError("the disk is full")

    async with opened({"text": "I begin."}, DONE) as (agent, spec):
        with pytest.raises(JournalError, match="disk is full"):
            await exchanged(agent, spec, Listener(on_message=fails))


async def test_a_turn_that_is_left_is_interrupted_and_its_cost_is_known(opened: Open) -> None:
    sessions = []
    async with opened(HANGS) as (agent, spec):
        with anyio.move_on_after(1.5):
            async with agent.open(spec, Listener()) as session:
                sessions.append(session)
                await session.exchange("Build it.")
    cut = sessions[0].cut_off
    assert cut
    assert cut.end is CallEnd.INTERRUPTED


async def test_silence_ends_the_session(opened: Open) -> None:
    async with opened(HANGS, limits=Limits(idle_s=1.0)) as (agent, spec):
        result, is_over = await exchanged(agent, spec, Listener())
    assert (result.end, result.detail, is_over) == (CallEnd.SILENT, "no sign of life for 1 s", True)


async def test_a_conversation_that_nobody_kept_is_not_resumed(opened: Open) -> None:
    async with opened(resume=True) as (agent, spec):
        assert not agent.has_transcript(spec.session_id)
        assert not agent.has_heard("Build it.", spec.session_id)
        assert agent.error_code(spec.session_id) == ""
        with pytest.raises(SessionStartError):
            await exchanged(agent, spec, Listener())


async def test_an_agent_has_a_name(opened: Open) -> None:
    async with opened() as (agent, _):
        assert agent.name
