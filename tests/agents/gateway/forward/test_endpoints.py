"""Endpoints other than Anthropic's: their addresses, credentials, names of models, ids and errors go through."""

import json
from dataclasses import dataclass

import anyio
import httpx2
import pytest
from upstreams import CALLER, Api, head, piece

from agents.access import KeyConnection
from agents.api_key import read_key
from agents.ask.api import ApiAsker
from agents.ask.port import Ask
from agents.caller import Caller
from agents.gateway import wire
from agents.gateway.forward.serve import serve_forward
from agents.gateway.forward.upstream import Upstream
from agents.gateway.listeners import listening
from agents.gateway.script import StopReason
from state.records.calls import CallEnd
from state.roles import Role
from state.settings.records import Model

SCHEMA = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
USAGE = {"input_tokens": 5, "output_tokens": 7}


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """A server of the Messages API as its makers describe it."""

    base: str
    model: str
    environ: dict[str, str]
    credential: tuple[str, str]
    answer_id: str
    error: bytes
    words: str


ENDPOINTS = {
    "litellm": Endpoint(
        base="",
        model="team-a/sonnet",
        environ={"ANTHROPIC_AUTH_TOKEN": "sk-virtual"},
        credential=("authorization", "Bearer sk-virtual"),
        answer_id="chatcmpl-4f1",
        error=b'{"error": {"message": "Budget has been exceeded", "type": "None", "param": "None", "code": "400"}}',
        words="Budget has been exceeded",
    ),
    "bedrock": Endpoint(
        base="/anthropic",
        model="us.anthropic.claude-sonnet-5-5-v1:0",
        environ={"ANTHROPIC_AUTH_TOKEN": "bedrock-api-key-1"},
        credential=("authorization", "Bearer bedrock-api-key-1"),
        answer_id="msg_bdrk_01",
        error=b'{"message": "The provided model identifier is invalid."}',
        words="The provided model identifier is invalid",
    ),
    "company": Endpoint(
        base="/llm/proxy/anthropic",
        model="prod-large",
        environ={"ANTHROPIC_API_KEY": "a-key"},
        credential=("x-api-key", "a-key"),
        answer_id="req-77:1",
        error=b'{"type": "error", "error": {"type": "invalid_request_error", "message": "not for you"}}',
        words="not for you",
    ),
}


@pytest.fixture(params=ENDPOINTS.values(), ids=ENDPOINTS)
def endpoint(request):
    return request.param


def served(endpoint):
    """A stand-in that answers as the endpoint does: streams, and errors for a prompt that asks for one."""

    async def answer(api, scope, receive, send):
        asked = json.loads(api.seen[-1].body)
        if "an error" in json.dumps(asked["messages"]):
            await head(send, 400, content_type="application/json", retry_after="7")
            await piece(send, endpoint.error, more=False)
            return
        text = wire.TextBlock(text='{"answer": "yes"}')
        message = wire.WireMessage(
            id=endpoint.answer_id,
            model=asked["model"],
            blocks=(text,),
            stop_reason=StopReason.END_TURN,
            usage=USAGE,
        )
        await head(send, content_type="text/event-stream")
        await piece(send, b"".join(wire.events(message)), more=False)

    return Api(answer)


def arrived_as_the_endpoint_wants_it(endpoint, seen, credential=None):
    name, value = credential or endpoint.credential
    other = {"authorization", "x-api-key"} - {name}
    return (
        seen.path == f"{endpoint.base}/v1/messages"
        and seen.header(name) == value
        and not any(seen.header(one) for one in other)
        and json.loads(seen.body)["model"] == endpoint.model
    )


async def test_a_session_asks_the_endpoint_with_its_credential_and_its_name_of_the_model(endpoint):
    api, model = served(endpoint), Model(alias="own", id=endpoint.model, context=200_000, prices=None)
    async with listening(api) as listeners, httpx2.AsyncClient(trust_env=False) as client:
        real = Upstream(
            base_url=f"{listeners.base_url}{endpoint.base}/", headers=read_key(endpoint.environ).headers
        )
        async with serve_forward(real, run_id="r") as gateway:
            with gateway.admit(CALLER, model) as session:

                async def said(words="hi", model=endpoint.model):
                    body = {
                        "model": model,
                        "max_tokens": 9,
                        "stream": True,
                        "messages": [{"role": "user", "content": words}],
                    }
                    headers = {"x-api-key": session.token}
                    return await client.post(f"{session.url}/v1/messages", json=body, headers=headers)

                assert (
                    await said(model="claude-opus-5-5")
                ).status_code == 403  # before any other was asked for
                assert api.seen == []
                answer = await said()
                assert (answer.status_code, endpoint.answer_id in answer.text) == (200, True)
                assert session.spent_usd > 0
                refused = await said("an error")
                assert (refused.status_code, refused.content) == (400, endpoint.error)
                assert refused.headers["retry-after"] == "7"
    assert len(api.seen) == 2
    assert [seen for seen in api.seen if not arrived_as_the_endpoint_wants_it(endpoint, seen)] == []


async def test_sq_itself_asks_the_endpoint_with_a_bearer_token_and_shows_the_words_of_its_error(
    endpoint, tmp_path
):
    api, model = served(endpoint), Model(alias="own", id=endpoint.model, context=200_000, prices=None)
    async with listening(api) as listeners:
        key = read_key(endpoint.environ)
        connection = KeyConnection(key=key, config_dir=tmp_path, base_url=listeners.base_url + endpoint.base)
        asks = [
            Ask(
                caller=Caller(role=Role.DEVELOPER, task="t1", attempt=1),
                model=model,
                system="You answer.",
                prompt=prompt,
                schema=SCHEMA,
                deadline_s=20,
            )
            for prompt in ("hi", "an error")
        ]
        with anyio.fail_after(40):
            good, bad = [await ApiAsker(connection).ask(one) for one in asks]
    assert (good.end, bad.end) == (CallEnd.COMPLETED, CallEnd.API_ERROR)
    assert endpoint.words in bad.detail
    bearer = ("authorization", f"Bearer {key.value}")
    assert [one for one in api.seen if not arrived_as_the_endpoint_wants_it(endpoint, one, bearer)] == []
