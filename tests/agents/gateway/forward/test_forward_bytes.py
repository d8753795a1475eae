"""Requests and answers go through byte for byte, as they come, and an end is an end only if the API's was."""

import json
import time

import anyio
import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from upstreams import BODY, CALLER, HAIKU, KEY, Api, answers, cut, forwarding, head, piece, streams

from agents.gateway.forward.serve import serve_forward
from agents.gateway.forward.upstream import Upstream
from agents.gateway.listeners import listening

OK = b'{"usage": {"input_tokens": 5, "output_tokens": 7}}'


requests = st.fixed_dictionaries(
    {
        "text": st.text(max_size=300),
        "spaces": st.sampled_from(["", " ", "\n\t"]),
        "beta": st.sampled_from(["", "effort-2025-11-24", "effort-2025-11-24,context-1m-2025-08-07"]),
        "query": st.sampled_from(["", "beta=true"]),
        "path": st.sampled_from(["/v1/messages", "/v1/messages/count_tokens"]),
    }
)


@settings(max_examples=5)
@given(several=st.lists(requests, min_size=40, max_size=40))
def test_body_query_and_headers_arrive_as_they_were_sent(several):
    """Two hundred requests."""

    async def check(desk, api, text, spaces, beta, query, path):
        most = "" if path.endswith("tokens") else '"max_tokens": 9,'
        said = f'{{"role": "user",{spaces}"content": {json.dumps(text)}}}'
        body = f'{{"model":{spaces}"claude-haiku-5-5", {most} "messages": [{said}]{spaces}}}'.encode()
        sent = {"anthropic-version": "2023-06-01", "user-agent": "claude-cli/2", "x-stainless-os": "Linux"}
        if beta:
            sent["anthropic-beta"] = beta
        await desk.post(f"{path}?{query}" if query else path, body=body, headers=sent)
        seen = api.seen.pop()
        assert (seen.path, seen.query, seen.body) == (f"/an/own/path{path}", query.encode(), body)
        for name in ("anthropic-version", "user-agent", "x-stainless-os", "anthropic-beta"):
            assert seen.header(name) == sent.get(name)
        assert seen.header("content-length") == str(len(body))

    async def check_all():
        api = answers(OK)
        async with forwarding(api, base="/an/own/path/") as desk:
            for one in several:
                await check(desk, api, **one)

    anyio.run(check_all)


async def test_the_headers_at_the_api_are_the_clients_own_but_for_the_connection_and_the_credentials():
    direct, forwarded = answers(OK), answers(OK)
    more = {"x-claude-code-session-id": "s1", "anthropic-dangerous-direct-browser-access": "true"}
    async with listening(direct) as listeners, forwarding(forwarded) as desk:
        await desk.post(headers=more)
        await desk.client.post(
            f"{listeners.base_url}/v1/messages", content=BODY, headers={**more, "x-api-key": KEY}
        )
    ours = {b"host", b"accept-encoding", b"connection"}
    seen = [{name: v for name, v in api.seen[0].headers if name not in ours} for api in (direct, forwarded)]
    assert seen[0] == seen[1]
    assert forwarded.seen[0].header("accept-encoding") == "identity"


@settings(max_examples=5)
@given(
    several=st.lists(
        st.lists(st.binary(min_size=1, max_size=2000), min_size=1, max_size=12), min_size=20, max_size=20
    )
)
def test_any_chunks_of_any_bytes_come_back_the_same(several):
    async def check():
        api = streams()
        async with forwarding(api) as desk:
            for chunks in several:
                api.answer = streams(*chunks).answer
                answer = await desk.post()
                assert answer.content == b"".join(chunks)
                assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"

    anyio.run(check)


async def test_a_chunk_is_passed_on_before_the_next_one_exists():
    go_on = anyio.Event()

    async def answer(api, scope, receive, send):
        await head(send, content_type="text/event-stream")
        await piece(send, b"event: first\n\n")
        await go_on.wait()
        await piece(send, b"event: second\n\n", more=False)

    async with forwarding(Api(answer)) as desk:
        url, headers = f"{desk.session.url}/v1/messages", {"x-api-key": desk.session.token}
        async with desk.client.stream("POST", url, content=BODY, headers=headers) as answer:
            chunks = answer.aiter_raw()
            assert await anext(chunks) == b"event: first\n\n"
            go_on.set()
            assert await anext(chunks) == b"event: second\n\n"
            await chunks.aclose()


async def test_an_answer_whose_length_is_known_keeps_it():
    async with forwarding(answers(OK)) as desk:
        answer = await desk.post(body=BODY.replace(b"true", b"false"))
        assert answer.headers["content-length"] == str(len(OK))
        assert "transfer-encoding" not in answer.headers


MATTER = {
    "request_id": "req_1",
    "retry_after": "7",
    "anthropic_ratelimit_requests_remaining": "0",
    "anthropic_ratelimit_unified_5h_status": "allowed",
    "anthropic_organization_id": "org",
    "x_should_retry": "false",
}


async def test_the_apis_headers_that_matter_come_back_and_others_do_not():
    api = answers(OK, set_cookie="a=b", x_other="1", **MATTER)
    async with forwarding(api) as desk:
        found = (await desk.post()).headers
    assert {name: found.get(name.replace("_", "-")) for name in MATTER} == MATTER
    assert "set-cookie" not in found
    assert "x-other" not in found


ERROR = (
    b'{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}, "request_id": "r"}'
)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 429, 500, 503, 529])
async def test_an_error_of_the_api_comes_back_as_it_is_and_is_asked_for_once(status):
    api = answers(ERROR, status)
    async with forwarding(api) as desk:
        answer = await desk.post()
        assert (answer.status_code, answer.content) == (status, ERROR)
        assert desk.session.spent_usd == 0
    assert len(api.seen) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed_and_the_error_says_what_to_set(status):
    elsewhere = answers(OK)
    async with listening(elsewhere) as listeners:
        location = f"{listeners.base_url}/v1/messages"
        async with forwarding(answers(b"", status, location=location)) as desk:
            answer = await desk.post()
            assert answer.status_code == 400
            assert "Set ANTHROPIC_BASE_URL to the final address" in answer.json()["error"]["message"]
            assert "location" not in answer.headers
    assert elsewhere.seen == []


async def test_an_api_that_cannot_be_reached_is_an_error_that_says_so():
    upstream = Upstream(base_url="http://127.0.0.1:9", headers={})
    async with serve_forward(upstream, run_id="r") as gateway, httpx2.AsyncClient() as client:
        with gateway.admit(CALLER, HAIKU) as session:
            headers = {"x-api-key": session.token}
            answer = await client.post(f"{session.url}/v1/messages", content=BODY, headers=headers)
            assert session.spent_usd == 0
    assert answer.status_code == 502
    assert "http://127.0.0.1:9/v1/messages cannot be reached" in answer.json()["error"]["message"]


@pytest.mark.parametrize("chunks", [(), (b"event: a\n\n",), (b"x" * 300_000, b"y")])
async def test_an_answer_that_the_api_cuts_off_is_cut_off_for_the_client(chunks):
    async with forwarding(streams(*chunks, then_cut=True)) as desk:
        with pytest.raises(httpx2.RemoteProtocolError, match="incomplete"):
            await desk.post()


async def test_an_answer_of_known_length_that_is_cut_off_is_cut_off_for_the_client():
    async def answer(api, scope, receive, send):
        await head(send, content_type="application/json", content_length="100")
        await piece(send, b'{"half": ')
        await anyio.sleep(0.05)
        await cut(scope, receive)

    async with forwarding(Api(answer)) as desk:
        with pytest.raises(httpx2.RemoteProtocolError):
            await desk.post()


async def test_an_api_that_closes_without_an_answer_is_an_error_and_costs_nothing():
    async def answer(api, scope, receive, send):
        await cut(scope, receive)

    async with forwarding(Api(answer)) as desk:
        answer = await desk.post()
        assert answer.status_code == 502
        assert desk.session.spent_usd == 0


@pytest.mark.parametrize("before_headers", [True, False])
async def test_a_client_that_leaves_ends_its_call_at_the_api(before_headers):
    begun = anyio.Event()

    async def answer(api, scope, receive, send):
        if not before_headers:
            await head(send, content_type="text/event-stream")
            await piece(send, b"event: ping\n\n")
        begun.set()
        while (await receive())["type"] != "http.disconnect":
            pass
        api.left.set()

    api = Api(answer)
    async with forwarding(api) as desk:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(desk.post)
            await begun.wait()
            tasks.cancel_scope.cancel()
        left_at = time.monotonic()
        await api.left.wait()
        assert time.monotonic() - left_at < 5  # the test's own limit, against a call that is never ended
        with anyio.fail_after(5):
            while not desk.session.partial_calls:  # what it may have cost is counted
                await anyio.sleep(0.01)
        assert desk.session.spent_usd > 0


async def test_many_streams_go_through_side_by_side():
    async with (
        forwarding(streams(b"event: a\n\n", b"event: b\n\n")) as desk,
        anyio.create_task_group() as tasks,
    ):

        async def one():
            assert (await desk.post()).content == b"event: a\n\nevent: b\n\n"

        for _ in range(40):
            tasks.start_soon(one)
