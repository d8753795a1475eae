"""A session's token is good for its caller, its model and its life, and for nothing else."""

import json

import anyio
import pytest
from upstreams import BODY, CALLER, HAIKU, KEY, answers, forwarding

from agents.gateway.forward.upstream import Traces, address_in
from state.errors import UsageError
from state.settings.records import Model

OK = b'{"usage": {"input_tokens": 5, "output_tokens": 7}}'
WRONG = "sqk_wrong"
BODY_OF = b'{"model": "%s", "messages": []}'
WITH_LENGTH = b', "max_tokens": 9}'


def error_of(response):
    body = response.json()
    assert body["type"] == "error"
    assert response.headers["x-should-retry"] == "false"
    return response.status_code, body["error"]["type"], body["error"]["message"]


async def test_the_api_sees_the_real_key_and_never_the_token():
    api = answers(OK)
    async with forwarding(api) as desk:
        for headers in ({}, {"authorization": f"Bearer {desk.session.token}"}, {"cookie": "a=b"}):
            assert (await desk.post(headers=headers)).status_code == 200
        assert desk.session.token.startswith("sqk_")
        for seen in api.seen:
            assert seen.header("x-api-key") == KEY
            assert seen.header("authorization") is seen.header("cookie") is None
            assert desk.session.token.encode() not in b"".join(value for _, value in seen.headers)
            assert dict(seen.headers)[b"host"] != desk.session.url.split("/")[2].encode()


async def test_a_bearer_token_is_taken_as_the_callers_too():
    async with forwarding(answers(OK)) as desk:
        bearer = {"authorization": f"Bearer {desk.session.token}"}
        assert (
            await desk.client.post(f"{desk.session.url}/v1/messages", content=BODY, headers=bearer)
        ).is_success


@pytest.mark.parametrize("token", ["", "sqk_wrong", KEY, "ä"])
async def test_a_wrong_token_is_refused_with_401_and_asks_nobody(token):
    api = answers(OK)
    async with forwarding(api) as desk:
        status, kind, message = error_of(await desk.post(token=token.encode("latin-1")))
        assert (status, kind) == (401, "authentication_error")
        assert "ends with it" in message
    assert api.seen == []


async def test_after_the_end_of_its_session_a_token_is_refused_with_401():
    api = answers(OK)
    async with forwarding(api) as desk:
        with desk.gateway.admit(CALLER, HAIKU) as other:
            assert (await desk.post(token=other.token)).status_code == 200
        assert (await desk.post(token=other.token)).status_code == 401
        assert (await desk.post()).status_code == 200  # another session of the same caller goes on
    assert len(api.seen) == 2


async def test_two_sessions_of_one_caller_have_tokens_of_their_own():
    async with forwarding(answers(OK)) as desk:
        with desk.gateway.admit(CALLER, HAIKU) as other:
            assert other.url == desk.session.url
            assert other.token != desk.session.token


@pytest.mark.parametrize(
    "path",
    [
        "/v1/models",
        "/v1/messages/batches",
        "/v1/messages/",
        "/v1/files",
        "/v1/messages/../../v1/models",
        "/v1/organizations/usage",
        "/v1/traces",  # telemetry is off
        "/",
    ],
)
async def test_another_path_is_refused_with_404(path):
    api = answers(OK)
    async with forwarding(api) as desk:
        status, kind, message = error_of(await desk.post(path))
        assert (status, kind) == (404, "not_found_error")
        assert "Use that base URL" in message
    assert api.seen == []


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"])
async def test_another_method_is_refused_with_404(method):
    api = answers(OK)
    async with forwarding(api) as desk:
        url, headers = f"{desk.session.url}/v1/messages", {"x-api-key": desk.session.token}
        assert (await desk.client.request(method, url, headers=headers)).status_code == 404
    assert api.seen == []


async def test_the_caller_of_another_session_is_refused_with_404():
    api = answers(OK)
    async with forwarding(api) as desk:
        for caller in (("worker", "t2", "1"), ("worker", "t1", "2"), ("reviewer", "t1", "1")):
            with desk.gateway.admit(caller, HAIKU) as other:
                assert error_of(await desk.post(url=other.url))[0] == 404
                assert error_of(await desk.post(token=other.token))[0] == 404
        wrong_run = desk.session.url.replace("run-1", "run-2")
        assert error_of(await desk.post(url=wrong_run))[0] == 404
    assert api.seen == []


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/messages/count_tokens?beta=true"])
@pytest.mark.parametrize("model", [b"claude-opus-5-5", b"claude-haiku-5-5[1m]", b"haiku", b""])
async def test_another_model_is_refused_with_403(path, model):
    api = answers(OK)
    async with forwarding(api) as desk:
        body = BODY_OF % model
        body = body if "count" in path else body[:-1] + WITH_LENGTH
        status, kind, message = error_of(await desk.post(path, body=body))
        assert (status, kind) == (403, "permission_error")
        assert "claude-haiku-5-5" in message
    assert api.seen == []


async def test_an_alias_that_claude_code_resolves_is_held_to_the_first_model_asked_for():
    async with forwarding(
        answers(OK), model=Model(alias="fable", id="fable", context=1, prices=None)
    ) as desk:
        asked = [BODY_OF[:-1] % model + WITH_LENGTH for model in (b"claude-fable-5-2", b"claude-opus-5-5")]
        assert [(await desk.post(body=asked[n])).status_code for n in (0, 0, 1)] == [200, 200, 403]


@pytest.mark.parametrize("body", [b"", b"nothing", b"[]", b'"text"', b"\xff", b"[" * 100_000])
async def test_a_body_that_is_no_request_is_refused_with_400(body):
    api = answers(OK)
    async with forwarding(api) as desk:
        status, kind, message = error_of(await desk.post(body=body))
        assert (status, kind) == (400, "invalid_request_error")
        assert "Send a JSON object" in message
    assert api.seen == []


async def test_a_first_request_without_the_typed_tools_ends_its_session_and_asks_nobody():
    api = answers(OK)
    wanted = ("mcp__sq__task_complete", "mcp__sq__task_stuck")

    def offering(*names):
        tools = [{"name": name, "input_schema": {}} for name in names]
        return json.dumps({**json.loads(BODY), "tools": tools}).encode()

    without, whole = offering("Bash", "mcp__sq__task_stuck"), offering(*wanted)
    async with forwarding(api, tools=wanted) as desk:
        status, kind, message = error_of(await desk.post(body=without))
        assert (status, kind) == (403, "permission_error")
        assert "mcp__sq__task_complete" in message
        assert desk.session.lacking == "mcp__sq__task_complete"
        assert error_of(await desk.post(body=whole))[0] == 403  # it is over
    assert api.seen == []
    async with forwarding(api, tools=wanted) as desk:
        agents = {"x-claude-code-agent-id": "a1"}
        assert (await desk.post(body=whole)).status_code == 200
        assert (await desk.post(body=without)).status_code == 200  # only the first request is looked at
        assert (await desk.post(body=without, headers=agents)).status_code == 200
        assert desk.session.lacking == ""


async def test_a_sub_agents_request_needs_no_typed_tools():
    async with forwarding(answers(OK), tools=("mcp__sq__task_complete",)) as desk:
        assert (await desk.post(headers={"x-claude-code-agent-id": "a1"})).status_code == 200


async def test_a_socket_serves_the_same_callers_and_its_token_is_checked_there_too(tmp_path):
    import httpx2

    api, socket = answers(OK), tmp_path / "gateway.sock"
    async with forwarding(api) as desk:
        desk.gateway.listen_on(socket)
        assert socket.stat().st_mode & 0o777 == 0o600
        transport = httpx2.AsyncHTTPTransport(uds=str(socket))
        async with httpx2.AsyncClient(transport=transport) as client:
            path = "/" + desk.session.url.split("/", 3)[3] + "/v1/messages"
            for token, status in ((desk.session.token, 200), ("sqk_wrong", 401)):
                answer = await client.post(f"http://sq{path}", content=BODY, headers={"x-api-key": token})
                assert answer.status_code == status
            with desk.gateway.admit(("worker", "t2", "1"), HAIKU) as other:
                answer = await client.post(
                    f"http://sq{path}", content=BODY, headers={"x-api-key": other.token}
                )
                assert answer.status_code == 404
    assert not socket.exists()
    assert len(api.seen) == 1


async def test_telemetry_goes_to_its_receiver_where_it_is_on():
    api, receiver = answers(OK), answers(b"{}")
    from agents.gateway.listeners import listening

    async with listening(receiver) as listeners:
        traces = Traces(url=f"{listeners.base_url}/otlp/v1/traces", headers={"x-receiver": "secret"})
        async with forwarding(api, traces=traces) as desk:
            answer = await desk.post(
                "/v1/traces", body=b"\x0a\x00", headers={"content-type": "application/x-protobuf"}
            )
            assert answer.status_code == 200
            assert (await desk.post("/v1/traces", token=WRONG)).status_code == 401
    [seen] = receiver.seen
    assert (seen.path, seen.body, seen.header("x-receiver")) == ("/otlp/v1/traces", b"\x0a\x00", "secret")
    assert seen.header("x-api-key") is None
    assert seen.header("content-type") == "application/x-protobuf"
    assert api.seen == []


async def test_a_call_under_way_is_cut_off_at_the_end_of_its_session():
    from upstreams import Api, head, piece

    begun = anyio.Event()

    async def answer(api, scope, receive, send):
        await head(send, content_type="text/event-stream")
        await piece(send, b"event: ping\n\n")
        begun.set()
        while (await receive())["type"] != "http.disconnect":
            pass
        api.left.set()

    api = Api(answer)
    async with forwarding(api) as desk, anyio.create_task_group() as tasks:
        with desk.gateway.admit(CALLER, HAIKU) as other:
            failed = []

            async def ask():
                import httpx2

                try:
                    await desk.post(token=other.token)
                except httpx2.RemoteProtocolError as error:
                    failed.append(error)

            tasks.start_soon(ask)
            await begun.wait()
        await api.left.wait()
    assert len(failed) == 1


@pytest.mark.parametrize("address", ["api.anthropic.com", "ftp://x", "http://", "/path"])
def test_an_upstream_that_is_no_http_address_is_refused_with_what_to_set(address):
    with pytest.raises(UsageError, match=r"ANTHROPIC_BASE_URL is .*Set it to one"):
        address_in({"ANTHROPIC_BASE_URL": address})
