"""What goes wrong on purpose reaches a real session: it says so in its result, and goes on with the next prompt."""

import pytest
from claude_agent_sdk import ClaudeSDKClient
from desk import exchange
from language.sampled import sampled

AT_ONCE = {"CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK": "1"}
IMPATIENT = {**AT_ONCE, "API_TIMEOUT_MS": "2000"}
WRITE = 'tools: [{name: Write, input: {file_path: "{workspace}/a.txt", content: a}}]'


async def outcomes(playing, desk, reply, *, env=AT_ONCE, prompts=("First.", "Second.")):
    """The results of a session in which `reply` answers what holds First, and one word all else."""
    callers = f"worker/t1/1: [{{when: First, {reply}}}, {{text: Fine.}}]"
    async with playing(callers) as gateway:
        options = desk.options(desk.url(gateway), env=env)
        async with ClaudeSDKClient(options) as client:
            found = [await exchange(client, prompt) for prompt in prompts]
        assert gateway.problems == []
    return found


@pytest.mark.parametrize(
    ("status", "requests"),
    sampled([(401, 1), (403, 1), (404, 2), (413, 1), (429, 1), (500, 1), (529, 1)], (404, 2), (429, 1)),
)
async def test_an_error_is_the_result_of_its_exchange_and_the_next_one_works(
    playing, desk, faults, status, requests
):
    failed, fine = await outcomes(playing, desk, f"misbehave: {{status: {status}}}")
    assert (failed.is_error, failed.api_error_status) == (True, status)
    assert (fine.is_error, fine.result) == (False, "Fine.")
    assert faults() == [f"status {status}"] * requests + ["reply"]


async def test_a_refused_request_is_sent_again_and_refused_each_time(playing, desk, faults):
    failed, fine = await outcomes(playing, desk, "misbehave: {status: 400, message: No such thing.}")
    assert (failed.is_error, failed.api_error_status, fine.result) == (True, 400, "Fine.")
    assert "No such thing." in failed.result
    assert len(faults()) > 2
    assert set(faults()[:-1]) == {"status 400"}


@pytest.mark.parametrize(
    "reply",
    sampled(
        [
            "text: It says a few words here., misbehave: {stream: cut}",
            f"{WRITE}, misbehave: {{stream: cut-in-tool}}",
            "misbehave: {body: malformed}",
            "misbehave: {connection: dropped}",
        ],
        f"{WRITE}, misbehave: {{stream: cut-in-tool}}",
        "misbehave: {connection: dropped}",
    ),
)
async def test_an_answer_that_breaks_is_an_error_without_a_status(playing, desk, faults, reply):
    failed, fine = await outcomes(playing, desk, reply)
    assert (failed.is_error, failed.api_error_status, fine.result) == (True, None, "Fine.")
    assert not (desk.workspace / "a.txt").exists()
    assert len(faults()) == 2


async def test_a_hang_lasts_until_the_session_gives_up(playing, desk, faults):
    failed, fine = await outcomes(playing, desk, "misbehave: {hang: before-headers}", env=IMPATIENT)
    assert (failed.is_error, failed.api_error_status, fine.result) == (True, None, "Fine.")
    assert "timed out" in failed.result
    assert faults() == ["hang before-headers", "reply"]


@pytest.mark.parametrize(
    "reply",
    [
        "text: It says a few words here., misbehave: {stream: cut, times: 1}",
        "text: It says a few words here., misbehave: {body: malformed, times: 1}",
    ],
)
async def test_a_session_asks_once_more_without_streaming_and_is_answered(playing, desk, faults, reply):
    first, fine = await outcomes(playing, desk, reply, env={})
    assert (first.is_error, first.result, fine.result) == (False, "It says a few words here.", "Fine.")
    assert faults()[1:] == ["reply", "reply"]


async def test_a_tool_call_that_was_cut_is_made_once_it_is_whole(playing, desk, faults):
    reply = f"text: I write it., {WRITE}, then: Written., misbehave: {{stream: cut-in-tool, times: 1}}"
    first, fine = await outcomes(playing, desk, reply, env={})
    assert (first.is_error, first.result, fine.result) == (False, "Written.", "Fine.")
    assert (desk.workspace / "a.txt").read_text() == "a"
    assert faults() == ["stream cut-in-tool", "reply", "then", "reply"]


async def test_an_empty_answer_is_asked_for_once_more(playing, desk, faults):
    first, fine = await outcomes(playing, desk, "text: Now., misbehave: {body: empty, times: 1}")
    assert (first.is_error, first.result, fine.result) == (False, "Now.", "Fine.")
    assert faults() == ["body empty", "reply", "reply"]


async def test_the_same_prompt_again_is_answered_when_the_fault_is_over(playing, desk, faults):
    reply = f"{WRITE}, then: Written., misbehave: {{status: 529, times: 2}}"
    *failed, written = await outcomes(playing, desk, reply, prompts=["First."] * 3)
    assert [each.api_error_status for each in failed] == [529, 529]
    assert (written.is_error, written.result) == (False, "Written.")
    assert faults() == ["status 529", "status 529", "reply", "then"]


async def test_a_slow_answer_arrives(playing, desk, faults):
    first, _ = await outcomes(playing, desk, "text: It says a few words here., misbehave: {slow: 0.05}")
    assert (first.is_error, first.result) == (False, "It says a few words here.")
    assert faults() == ["slow 0.05", "reply"]


async def test_a_caller_that_refuses_connections_is_an_error_of_each_exchange(playing, desk, faults):
    for failed in await outcomes(playing, desk, "misbehave: {connection: refused}"):
        assert (failed.is_error, failed.api_error_status) == (True, None)
        assert "ECONNREFUSED" in failed.result
    assert faults() == ["connection refused"]
