"""The real SDK and the real Claude Code CLI run against a scenario: real tools, real files, a scripted model."""

import json
import os
import signal
from contextlib import aclosing
from pathlib import Path
from uuid import uuid4

import anyio
import pytest
from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    PermissionResultAllow,
    ProcessError,
    ResultMessage,
)

QUIET = {
    "ANTHROPIC_API_KEY": "x",
    "CLAUDE_CODE_MAX_RETRIES": "0",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
}
WORK = "Write the counter.\n\nThen run it."
# Says that it runs, into a pipe, and waits for the file calm (30 seconds at most, since it outlives a killed CLI).
# It says so once the transcript holds its call: the CLI writes that a moment later than it runs the call.
SLOW = """[ -e calm ] || {
  echo >> runs
  call=toolu_sq_2_2_$(($(wc -l < runs) - 1))
  for n in $(seq 200); do grep -rq "$call" "$CLAUDE_CONFIG_DIR/projects" && break; sleep 0.05; done
  echo > started
  for n in $(seq 150); do [ -e calm ] && break; sleep 0.2; done
}"""


async def allow(name, given, context):
    return PermissionResultAllow()


class Desk:
    """A workspace, and sessions that work in it."""

    def __init__(self, folder):
        self.workspace = folder / "workspace"
        self.home = folder / "home"
        self.workspace.mkdir()
        self.home.mkdir()

    def options(self, base_url, **more):
        homes = {"HOME": str(self.home), "CLAUDE_CONFIG_DIR": str(self.home / "claude")}
        return ClaudeAgentOptions(
            cwd=self.workspace,
            setting_sources=[],
            strict_mcp_config=True,
            skills=[],
            tools=["Bash", "Read", "Edit", "Write"],
            system_prompt="You write small programs.",
            permission_mode="default",
            can_use_tool=allow,
            verbatim_prompts=True,
            env={**QUIET, **homes, "ANTHROPIC_BASE_URL": base_url},
            **more,
        )

    def url(self, gateway):
        return gateway.lane_url("worker", "t1", 1, {"workspace": str(self.workspace)})

    async def killed_during_a_call(self, options, prompt):
        """Asks, and ends the CLI with kill -9 once the slow call says that it started."""
        others = _children()
        client = ClaudeSDKClient(options)
        await client.connect()
        try:
            await client.query(prompt)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._kill_once_started, _children() - others)
                with pytest.raises(ProcessError):
                    await drained(client)
        finally:
            await client.disconnect()

    async def _kill_once_started(self, processes):
        pipe = os.open(self.workspace / "started", os.O_RDONLY | os.O_NONBLOCK)
        try:
            await anyio.wait_readable(pipe)
        finally:
            os.close(pipe)
        for process in processes:
            os.kill(process, signal.SIGKILL)


def _children():
    """The processes that this one started."""
    listed = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text(encoding="ascii")
    return {int(child) for child in listed.split()}


async def drained(client):
    return [message async for message in client.receive_messages()]


async def exchange(client, prompt):
    await client.query(prompt)
    async with aclosing(client.receive_response()) as messages:
        return [message async for message in messages if isinstance(message, ResultMessage)][-1]


@pytest.fixture
def desk(tmp_path):
    return Desk(tmp_path)


async def test_a_session_writes_a_file_runs_it_and_closes(playing, desk, ledger):
    lane = """
        worker/t1/1:
          - expect: {prompt_contains: Write the counter, tools_offered: [Bash, Write], model: opus}
            text: I write it.
            tools: [{name: Write, input: {file_path: "{workspace}/counter.py", content: "print({1: 41 + 1}[1])"}}]
          - expect: {tool_results_contain: File created}
            tools: [{name: Bash, input: {command: python3 counter.py}}]
            then: It prints 42.
    """
    async with playing(lane) as gateway, ClaudeSDKClient(desk.options(desk.url(gateway))) as client:
        result = await exchange(client, WORK)
        assert gateway.problems == []
        assert (result.is_error, result.result, result.num_turns) == (False, "It prints 42.", 3)
        assert result.usage["input_tokens"] == 3600
    assert (desk.workspace / "counter.py").read_text() == "print({1: 41 + 1}[1])"
    assert [line[1:] for line in ledger()] == [(1, "reply", 0), (2, "reply", 0), (2, "then", 0)]


async def test_a_session_answers_two_prompts_one_after_the_other(playing, desk):
    lane = """
        worker/t1/1:
          - text: First.
          - {expect: {prompt_lacks: Write}, tools: [{name: Bash, input: {command: echo two > two.txt}}]}
          - {expect: {anywhere_contains: [small programs, echo two]}, text: Second.}
    """
    async with playing(lane) as gateway, ClaudeSDKClient(desk.options(desk.url(gateway))) as client:
        assert (await exchange(client, WORK)).result == "First."
        assert (await exchange(client, "Now the second.")).result == "Second."
        assert gateway.problems == []
    assert (desk.workspace / "two.txt").read_text() == "two\n"


async def test_a_structured_answer_arrives_as_the_result_of_its_session(playing, desk):
    schema = {"type": "object", "properties": {"verdict": {"type": "string"}}, "required": ["verdict"]}
    async with playing("worker/t1/1: [{structured: {verdict: allow}}]") as gateway:
        options = desk.options(desk.url(gateway), output_format={"type": "json_schema", "schema": schema})
        async with ClaudeSDKClient(options) as client:
            result = await exchange(client, "Judge.")
            assert result.structured_output == {"verdict": "allow"}
        assert gateway.problems == []


async def test_a_session_killed_twice_during_a_call_repeats_it_and_finishes(playing, desk, ledger):
    lane = f"""
        worker/t1/1:
          - tools: [{{name: Write, input: {{file_path: "{{workspace}}/a.txt", content: a}}}}]
          - expect: {{tool_results_contain: File created}}
            text: Now the slow one.
            tools:
              - {{name: Read, input: {{file_path: "{{workspace}}/a.txt"}}}}
              - {{name: Bash, input: {{command: {json.dumps(SLOW)}}}}}
            then: All done.
          - text: Thank you.
    """
    os.mkfifo(desk.workspace / "started")
    session = str(uuid4())
    resumed = f"Session resumed after a crash. Look before you repeat.\n\n{WORK}"
    async with playing(lane) as gateway:
        url = desk.url(gateway)
        await desk.killed_during_a_call(desk.options(url, session_id=session), WORK)
    async with playing(lane) as gateway:
        again = desk.options(desk.url(gateway), resume=session)
        await desk.killed_during_a_call(again, resumed)
    (desk.workspace / "calm").touch()
    async with playing(lane) as gateway:
        async with ClaudeSDKClient(desk.options(desk.url(gateway), resume=session)) as client:
            assert (await exchange(client, resumed)).result == "All done."
            assert (await exchange(client, resumed)).result == "All done."
            assert (await exchange(client, "Fine.")).result == "Thank you."
        assert gateway.problems == []
    assert [line[1:] for line in ledger()] == [
        (1, "reply", 0),
        (2, "reply", 0),
        (2, "reply", 1),
        (2, "reply", 2),
        (2, "then", 0),
        (2, "then", 1),
        (3, "reply", 0),
    ]


async def test_an_unexpected_request_is_one_problem_and_an_error_of_the_session(playing, desk, ledger):
    async with playing("worker/t1/1: [{text: First.}]") as gateway:
        async with ClaudeSDKClient(desk.options(desk.url(gateway))) as client:
            await exchange(client, WORK)
            result = await exchange(client, "Now the second.")
            assert result.is_error
            assert result.api_error_status == 400
            assert "no reply is left" in result.result
        (problem,) = gateway.problems
        assert "lane worker/t1/1" in problem
        assert "'Now the second.'" in problem
    assert len(ledger()) > 2
