"""Over plain HTTP: each reply goes wrong as its scenario asks, and nobody calls it a problem."""

import json
import logging

import anyio
import httpx2
import pytest
from anthropic import APIStatusError, AsyncAnthropic

CALLER = "worker/t1/1"
PROMPT = [{"role": "user", "content": "go"}]
BOTH = pytest.mark.parametrize("stream", [True, False])


async def post(url, *, stream=False):
    """The whole response to one request."""
    body = {"model": "m", "max_tokens": 9, "messages": PROMPT, **({"stream": True} if stream else {})}
    async with httpx2.AsyncClient(timeout=20) as client:
        return await client.post(f"{url}/v1/messages", json=body)


async def begun(url, *, stream):
    """A response that breaks off, and the body that came before."""
    body = {"model": "m", "max_tokens": 9, "messages": PROMPT, **({"stream": True} if stream else {})}
    data = b""
    async with (
        httpx2.AsyncClient(timeout=20) as client,
        client.stream("POST", f"{url}/v1/messages", json=body) as response,
    ):
        try:
            async for chunk in response.aiter_bytes():
                data += chunk
        except httpx2.RemoteProtocolError:
            return response, data
    pytest.fail(f"it came whole: {data!r}")


def caller(gateway):
    return gateway.caller_url("worker", "t1", 1)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (402, "billing_error"),
        (403, "permission_error"),
        (404, "not_found_error"),
        (413, "request_too_large"),
        (422, "invalid_request_error"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (503, "api_error"),
        (504, "timeout_error"),
        (529, "overloaded_error"),
        (599, "api_error"),
    ],
)
async def test_a_status_comes_with_the_error_type_of_the_api(playing, faults, status, kind):
    async with playing(f"{CALLER}: [{{misbehave: {{status: {status}}}}}]") as gateway:
        async with AsyncAnthropic(base_url=caller(gateway), api_key="x", max_retries=0) as api:
            with pytest.raises(APIStatusError) as caught:
                await api.messages.create(model="m", max_tokens=9, messages=PROMPT)
        assert caught.value.status_code == status
        assert caught.value.type == kind
        assert caught.value.body["error"]["message"] == f"sq rehearsal: status {status}, as the scenario asks"
        assert "retry-after" not in caught.value.response.headers
        assert gateway.problems == []
    assert faults() == [f"status {status}"]


@BOTH
async def test_an_error_may_have_words_of_its_own_and_say_when_to_come_back(playing, stream):
    mapping = "{status: 429, message: Slow down., retry_after: 20}"
    async with playing(f"{CALLER}: [{{misbehave: {mapping}}}]") as gateway:
        response = await post(caller(gateway), stream=stream)
    assert (response.status_code, response.headers["retry-after"]) == (429, "20")
    assert response.json() == {
        "type": "error",
        "error": {"type": "rate_limit_error", "message": "Slow down."},
    }


@BOTH
async def test_an_error_may_carry_the_code_that_the_api_has_beside_its_status(playing, stream):
    mapping = "{status: 429, error_code: enforced_spend_limit_reached}"
    async with playing(f"{CALLER}: [{{misbehave: {mapping}}}]") as gateway:
        response = await post(caller(gateway), stream=stream)
    assert response.json()["error"]["details"] == {"error_code": "enforced_spend_limit_reached"}


@BOTH
@pytest.mark.parametrize("where", ["cut", "cut-in-tool"])
async def test_a_cut_answer_breaks_off_and_shows_its_beginning(playing, faults, where, stream):
    reply = "text: I am about to look., tools: [{name: Bash, input: {command: ls}}]"
    async with playing(f"{CALLER}: [{{{reply}, misbehave: {{stream: {where}}}}}]") as gateway:
        response, data = await begun(caller(gateway), stream=stream)
        assert response.status_code == 200
        assert b"message" in data
        assert (b"tool_use" in data) == (where == "cut-in-tool") or not stream
        assert gateway.problems == []
    assert faults() == [f"stream {where}"]


@BOTH
async def test_a_structured_answer_is_cut_in_the_form_in_which_it_is_given(playing, stream):
    reply = "structured: {verdict: allow}, misbehave: {stream: cut-in-tool}"
    async with playing(f"{CALLER}: [{{{reply}}}]") as gateway:
        await begun(caller(gateway), stream=stream)


@BOTH
async def test_a_malformed_body_is_no_json(playing, faults, stream):
    async with playing(f"{CALLER}: [{{misbehave: {{body: malformed}}}}]") as gateway:
        response = await post(caller(gateway), stream=stream)
        assert response.status_code == 200
        words = response.text.partition("data: ")[2] if stream else response.text
        assert words.startswith('{"type"')
        with pytest.raises(json.JSONDecodeError):
            json.loads(words)
        assert gateway.problems == []
    assert faults() == ["body malformed"]


@BOTH
async def test_an_empty_reply_is_a_message_without_content(playing, faults, stream):
    async with playing(f"{CALLER}: [{{misbehave: {{body: empty}}}}]") as gateway:
        async with AsyncAnthropic(base_url=caller(gateway), api_key="x", max_retries=0) as api:
            if stream:
                async with api.messages.stream(model="m", max_tokens=9, messages=PROMPT) as events:
                    said = await events.get_final_message()
            else:
                said = await api.messages.create(model="m", max_tokens=9, messages=PROMPT)
        assert (said.content, said.stop_reason, said.usage.input_tokens) == ([], "end_turn", 1200)
    assert faults() == ["body empty"]


@BOTH
async def test_a_dropped_connection_has_no_headers(playing, faults, caplog, stream):
    async with playing(f"{CALLER}: [{{misbehave: {{connection: dropped}}}}]") as gateway:
        with pytest.raises(httpx2.RemoteProtocolError, match="disconnected"):
            await post(caller(gateway), stream=stream)
        assert gateway.problems == []
    assert faults() == ["connection dropped"]
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


@BOTH
@pytest.mark.parametrize("where", ["before-headers", "after-headers"])
async def test_a_hang_that_ends_gives_the_reply_late(playing, faults, where, stream):
    reply = f"text: Here I am., misbehave: {{hang: {where}, seconds: 0.05}}"
    async with playing(f"{CALLER}: [{{{reply}}}]") as gateway:
        assert "Here I am." in (await post(caller(gateway), stream=stream)).text
    assert faults() == [f"hang {where}"]


@BOTH
@pytest.mark.parametrize("where", ["before-headers", "after-headers"])
async def test_a_server_ends_in_time_though_an_answer_hangs(playing, faults, caplog, where, stream):
    failed = []

    async def hanging(url):
        with pytest.raises(httpx2.TransportError) as caught:
            await post(url, stream=stream)
        failed.append(caught.value)

    callers = f"{CALLER}: [{{misbehave: {{hang: {where}}}}}]"
    with anyio.fail_after(10):
        async with anyio.create_task_group() as clients, playing(callers) as gateway:
            clients.start_soon(hanging, caller(gateway))
            while not faults():
                await anyio.sleep(0.01)
    assert len(failed) == 1
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_a_client_that_gives_up_on_a_hang_is_served_the_next_time(playing, faults):
    callers = f"{CALLER}: [{{text: Now., misbehave: {{hang: after-headers, times: 1}}}}]"
    async with playing(callers) as gateway:
        url = caller(gateway)
        async with httpx2.AsyncClient(timeout=20) as client:
            body = {"model": "m", "max_tokens": 9, "messages": PROMPT, "stream": True}
            async with client.stream("POST", f"{url}/v1/messages", json=body) as response:
                assert response.headers["content-type"] == "text/event-stream"
        assert "Now." in (await post(url)).text
    assert faults() == ["hang after-headers", "reply"]


@BOTH
async def test_a_slow_reply_says_the_same(playing, faults, stream):
    text = "Word by word, in more than one delta, since it is as long as all that. " * 3
    async with playing(f"{CALLER}: [{{text: {json.dumps(text)}, misbehave: {{slow: 0.01}}}}]") as gateway:
        async with AsyncAnthropic(base_url=caller(gateway), api_key="x", max_retries=0) as api:
            if stream:
                async with api.messages.stream(model="m", max_tokens=9, messages=PROMPT) as events:
                    said = await events.get_final_message()
            else:
                said = await api.messages.create(model="m", max_tokens=9, messages=PROMPT)
        assert said.content[0].text == text
    assert faults() == ["slow 0.01"]
