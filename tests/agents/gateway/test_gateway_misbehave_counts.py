"""A reply goes wrong as often as its scenario asks, whatever server plays it; a caller may refuse connections."""

import json
import socket
from urllib.parse import urlsplit

import anyio
import httpx2
import pytest
from anthropic import APIConnectionError, AsyncAnthropic

from agents.gateway.ledger import Answered, Ledger, LedgerLine, read_ledger

CALLER = "worker/t1/1"
PROMPT = [{"role": "user", "content": "go"}]


async def post(url, *, prompt=PROMPT):
    """The whole response to one request."""
    async with httpx2.AsyncClient(timeout=20) as client:
        return await client.post(
            f"{url}/v1/messages", json={"model": "m", "max_tokens": 9, "messages": prompt}
        )


def caller(gateway):
    return gateway.caller_url("worker", "t1", 1)


async def test_a_reply_goes_wrong_as_often_as_asked_whatever_server_plays_it(playing, ledger, faults):
    callers = f"{CALLER}: [{{text: Third time., misbehave: {{status: 500, times: 2}}}}]"
    for status in (500, 500, 200, 200):
        async with playing(callers) as gateway:
            assert (await post(caller(gateway))).status_code == status
            assert gateway.problems == []
    assert faults() == ["status 500", "status 500", "reply", "reply"]
    assert ledger()[:3] == [(CALLER, 1, "misbehaved", 0)] * 2 + [(CALLER, 1, "reply", 0)]


async def test_each_caller_of_a_pattern_counts_for_itself(playing):
    async with playing("worker/*: [{text: Fine., misbehave: {status: 529, times: 1}}]") as gateway:
        urls = [gateway.caller_url("worker", "t1", number) for number in (1, 2)]
        first = [(await post(url)).status_code for url in urls]
        second = [(await post(url)).status_code for url in urls]
    assert (first, second) == ([529, 529], [200, 200])


async def test_only_the_reply_that_is_due_goes_wrong_and_its_closing_words_never(playing, faults):
    callers = f"""
        {CALLER}:
          - {{text: One.}}
          - {{tools: [{{name: Bash, input: {{command: ls}}}}], then: Two., misbehave: {{status: 500, times: 1}}}}
    """
    more = [*PROMPT, {"role": "assistant", "content": "One."}, {"role": "user", "content": "more"}]
    call = {"type": "tool_use", "id": "toolu_sq_2_1_0", "name": "Bash", "input": {"command": "ls"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_sq_2_1_0", "content": "x"}
    done = [*more, {"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    async with playing(callers) as gateway:
        prompts = [PROMPT, more, more, done]
        answers = [await post(caller(gateway), prompt=prompt) for prompt in prompts]
    assert [answer.status_code for answer in answers] == [200, 500, 200, 200]
    assert faults() == ["reply", "status 500", "reply", "then"]


async def test_a_reply_that_always_fails_is_passed_by_a_prompt_that_it_does_not_fit(playing, faults):
    callers = f"{CALLER}: [{{when: go, misbehave: {{status: 500}}}}, {{text: Fine.}}]"
    async with playing(callers) as gateway:
        assert (await post(caller(gateway))).status_code == 500
        other = [*PROMPT, {"role": "user", "content": "never mind"}]
        assert "Fine." in (await post(caller(gateway), prompt=other)).text
    assert faults() == ["status 500", "reply"]


async def test_an_unmet_expectation_is_a_problem_though_the_reply_goes_wrong(playing, faults):
    callers = f"{CALLER}: [{{expect: {{prompt_contains: pears}}, misbehave: {{status: 500}}}}]"
    async with playing(callers) as gateway:
        assert (await post(caller(gateway))).status_code == 400
        assert "'pears' is not in the prompt" in gateway.problems[0]
    assert faults() == ["problem"]


def test_a_ledger_of_before_is_read_and_goes_on(tmp_path):
    path = tmp_path / "ledger.jsonl"
    old = {
        "caller": CALLER,
        "reply": 1,
        "part": "reply",
        "repeat": 0,
        "stream": True,
        "messages": 2,
        "digest": "d",
    }
    path.write_text(json.dumps(old) + "\n", encoding="utf-8")
    fault = LedgerLine(**{**old, "part": Answered.MISBEHAVED}, misbehaved="status 500")
    with Ledger(path) as ledger:
        assert ledger.misbehaved(CALLER, 1) == 0
        ledger.append(fault)
        assert (ledger.misbehaved(CALLER, 1), ledger.misbehaved(CALLER, 2)) == (1, 0)
    assert [line.misbehaved for line in read_ledger(path)] == [None, "status 500"]
    with Ledger(path) as ledger:
        assert ledger.misbehaved(CALLER, 1) == 1


async def test_a_caller_that_refuses_connections_has_a_port_of_its_own(playing, faults):
    callers = f"{CALLER}: [{{misbehave: {{connection: refused}}}}]\nworker/t2/1: [{{text: Fine.}}]"
    async with playing(callers) as gateway:
        url = caller(gateway)
        assert url == caller(gateway)
        for _ in range(2):
            with pytest.raises(httpx2.ConnectError):
                await post(url)
        assert "Fine." in (await post(gateway.caller_url("worker", "t2", 1))).text
        assert gateway.problems == []
    assert faults() == ["connection refused", "reply"]


async def test_a_caller_that_refuses_connections_for_a_time_is_served_after_it(playing, faults):
    callers = (
        f"{CALLER}: [{{text: At last., misbehave: {{connection: refused, seconds: 0.1}}}}, {{text: And on.}}]"
    )
    async with playing(callers) as gateway:
        url = caller(gateway)
        with pytest.raises(ConnectionRefusedError):  # nothing is awaited before it, so no time is over yet
            socket.create_connection(("127.0.0.1", urlsplit(url).port))
        async with AsyncAnthropic(base_url=url, api_key="x", max_retries=20) as api:
            said = await api.messages.create(model="m", max_tokens=9, messages=PROMPT)
        assert said.content[0].text == "At last."
        assert caller(gateway) == url
    async with playing(callers) as gateway:
        assert "At last." in (await post(caller(gateway))).text
    assert faults() == ["connection refused", "reply", "reply"]


async def test_a_caller_that_refuses_for_good_refuses_after_a_new_start_too(playing, faults):
    callers = f"{CALLER}: [{{misbehave: {{connection: refused}}}}]"
    for _ in range(2):
        async with playing(callers) as gateway, AsyncAnthropic(base_url=caller(gateway), api_key="x") as api:
            with pytest.raises(APIConnectionError):
                await api.with_options(max_retries=0).messages.create(
                    model="m", max_tokens=9, messages=PROMPT
                )
    assert faults() == ["connection refused"] * 2


async def test_a_cancelled_run_ends_a_caller_that_still_refuses(playing):
    with anyio.fail_after(10), anyio.CancelScope() as scope:
        async with playing(f"{CALLER}: [{{misbehave: {{connection: refused}}}}]") as gateway:
            caller(gateway)
            scope.cancel()
            await anyio.sleep_forever()
    assert scope.cancelled_caught
