"""The real SDK and the real Claude Code CLI run against a scenario: real tools, real files, a scripted model."""

import json
import os
from uuid import uuid4

import pytest
from claude_agent_sdk import ClaudeSDKClient
from desk import exchange

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


async def test_a_session_writes_a_file_runs_it_and_closes(playing, desk, ledger):
    caller = """
        worker/t1/1:
          - expect: {prompt_contains: Write the counter, tools_offered: [Bash, Write], model: opus}
            text: I write it.
            tools: [{name: Write, input: {file_path: "{workspace}/counter.py", content: "print({1: 41 + 1}[1])"}}]
          - expect: {tool_results_contain: File created}
            tools: [{name: Bash, input: {command: python3 counter.py}}]
            then: It prints 42.
    """
    async with playing(caller) as gateway, ClaudeSDKClient(desk.options(desk.url(gateway))) as client:
        result = await exchange(client, WORK)
        assert gateway.problems == []
        assert (result.is_error, result.result, result.num_turns) == (False, "It prints 42.", 3)
        assert result.usage["input_tokens"] == 3600
    assert (desk.workspace / "counter.py").read_text() == "print({1: 41 + 1}[1])"
    assert [line[1:] for line in ledger()] == [(1, "reply", 0), (2, "reply", 0), (2, "then", 0)]


async def test_a_session_answers_two_prompts_one_after_the_other(playing, desk):
    caller = """
        worker/t1/1:
          - text: First.
          - {expect: {prompt_lacks: Write}, tools: [{name: Bash, input: {command: echo two > two.txt}}]}
          - {expect: {anywhere_contains: [small programs, echo two]}, text: Second.}
    """
    async with playing(caller) as gateway, ClaudeSDKClient(desk.options(desk.url(gateway))) as client:
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


@pytest.mark.slow
async def test_a_session_killed_twice_during_a_call_repeats_it_and_finishes(playing, desk, ledger):
    caller = f"""
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
    async with playing(caller) as gateway:
        url = desk.url(gateway)
        await desk.killed_during_a_call(desk.options(url, session_id=session), WORK)
    async with playing(caller) as gateway:
        again = desk.options(desk.url(gateway), resume=session)
        await desk.killed_during_a_call(again, resumed)
    (desk.workspace / "calm").touch()
    async with playing(caller) as gateway:
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
        assert "caller worker/t1/1" in problem
        assert "'Now the second.'" in problem
    assert len(ledger()) > 2
