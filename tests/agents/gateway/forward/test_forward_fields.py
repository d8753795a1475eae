"""A request goes on if each of its parts is one that sessions need. Any other part is refused by its name."""

import copy
import json
from pathlib import Path

import anyio
import httpx2
import msgspec
import pytest
from language.changed_requests import COUNTED, MAIN, SINGLE, forbidden, fuzz
from language.tables import table
from upstreams import BODY, answers, forwarding

from agents.gateway.forward import fields

OK = b'{"usage": {"input_tokens": 5, "output_tokens": 7}}'
RECORDED = Path(__file__).parents[2] / "recorded_requests.json"
URL = {"type": "url", "url": "https://example.org/x.png"}


def request(**changes):
    return {**json.loads(BODY), "messages": [{"role": "user", "content": "hi"}], **changes}


def user(*content):
    return request(messages=[{"role": "user", "content": list(content)}])


async def refused(body, *, path="/v1/messages", **headers):
    """The status and the words of a refusal, of which nothing arrived at the API."""
    api = answers(OK)
    async with forwarding(api) as desk:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        answer = await desk.post(path, body=content, headers=headers)
    assert api.seen == []
    assert answer.headers["x-should-retry"] == "false"
    return answer.status_code, answer.json()["error"]["message"]


CASES = {
    **{name: (request(**one["changes"]), one["named"]) for name, one in table(__file__, "requests").items()},
    "a number of 400 digits": (request(max_tokens=10**400), "max_tokens: "),
    "no length": ({"model": "claude-haiku-5-5", "messages": []}, "max_tokens: Field required"),
    "a long name": (request(tools=[{"name": "x" * 300, "input_schema": {}}]), "tools.0.name: "),
    "a second model": (BODY[:-1] + b', "model": "claude-opus-5-5"}', "the key model stands more than once"),
    "a second model, spelt otherwise": (
        BODY[:-1] + b', "mod\\u0065l": "claude-opus-5-5"}',
        "the key model stands more than once",
    ),
    "a doubled key in a schema": (
        BODY[:-1] + b', "tools": [{"name": "a", "input_schema": {"x": {"type": 1, "type": 2}}}]}',
        "the key type stands more than once",
    ),
    "depth": (
        request(tools=[{"name": "a", "input_schema": {"x": json.loads("[" * 99 + "]" * 99)}}]),
        "more than 100 objects and lists in one another",
    ),
    "no number": (BODY.replace(b"1000", b"NaN"), "not a Messages API request"),
    "no finite number": (BODY[:-1] + b', "temperature": 1e999}', "temperature: Number out of range"),
    "a byte order mark": (b"\xef\xbb\xbf" + BODY, "not a Messages API request"),
    "UTF-16": (BODY.decode().encode("utf-16"), "not a Messages API request"),
    "half a character": (user({"type": "text", "text": "\ud800"}), "not a Messages API request"),
    "two requests": (BODY + BODY, "not a Messages API request"),
}


@pytest.mark.parametrize(("body", "named"), CASES.values(), ids=CASES)
async def test_what_a_session_may_not_ask_for_is_refused_by_its_name(body, named):
    status, said = await refused(body)
    assert status == 400
    assert named in said
    assert "Leave out what is named here" in said


@pytest.mark.parametrize(
    ("headers", "named"),
    [
        (
            {"anthropic_beta": "effort-2025-11-24, files-api-2025-04-14"},
            "`files-api-2025-04-14` for the `anthropic-beta`",
        ),
        ({"content_type": "multipart/form-data; boundary=x"}, "content-type multipart/form-data"),
        (
            {"content_type": "application/json; charset=utf-16"},
            "content-type application/json; charset=utf-16",
        ),
        ({"content_encoding": "gzip"}, "content-encoding gzip"),
    ],
)
async def test_a_feature_an_encoding_or_a_type_that_sessions_do_not_need_is_refused_by_its_name(
    headers, named
):
    status, said = await refused(BODY, **headers)
    assert status == 400
    assert named in said


@pytest.mark.parametrize("query", ["beta=false", "beta=true&x=1", "model=claude-opus-5-5", "beta=true%00"])
async def test_another_query_is_refused_by_its_name(query):
    status, said = await refused(BODY, path=f"/v1/messages?{query}")
    assert status == 400
    assert query in said


async def test_a_request_without_end_is_refused_before_it_is_kept():
    sent = 0

    async def endless():
        nonlocal sent
        while True:
            sent += 1_000_000
            yield b" " * 1_000_000

    api = answers(OK)
    async with forwarding(api) as desk:
        try:
            answer = await desk.post(body=endless())
            assert answer.status_code == 413
            assert "longer than 32,000,000 bytes" in answer.json()["error"]["message"]
        except httpx2.TransportError:
            pass  # the connection was closed while the client was still sending
    assert sent < 64_000_000
    assert api.seen == []


@pytest.mark.parametrize("asked", [MAIN, SINGLE], ids=["of a session", "single"])
async def test_a_request_with_all_that_claude_code_sends_goes_on_as_it_is(asked):
    api = answers(OK)
    async with forwarding(api) as desk:
        body = json.dumps(asked, indent=1).encode()
        assert (await desk.post("/v1/messages?beta=true", body=body)).status_code == 200
    assert api.seen[0].body == body


async def test_counting_tokens_has_a_smaller_form():
    api = answers(OK)
    async with forwarding(api) as desk:
        counted = json.dumps(COUNTED).encode()
        assert (await desk.post("/v1/messages/count_tokens?beta=true", body=counted)).status_code == 200
    assert api.seen[0].body == counted
    assert "max_tokens: Extra" in (await refused(BODY, path="/v1/messages/count_tokens"))[1]


async def test_headers_that_the_api_does_not_need_stay_here():
    api = answers(OK)
    async with forwarding(api) as desk:
        others = {"x-forwarded-host": "x", "x-http-method-override": "GET", "anthropic-workspace-id": "w"}
        assert (await desk.post(headers=others)).status_code == 200
    assert not others.keys() & {name.decode() for name, _ in api.seen[0].headers}


def test_the_features_of_claude_codes_recorded_requests_are_known():
    recorded = json.loads(RECORDED.read_text())
    for address in ("first party", "other"):
        assert not set(recorded[address]["betas"]) - set(fields._betas())
        assert not set(recorded[address]["body"]) - set(MAIN)


def test_each_field_stands_in_the_published_form_or_is_known_to_be_left_out_there():
    from anthropic.types.beta import MessageCountTokensParams, message_create_params

    published = {
        **message_create_params.MessageCreateParamsBase.__annotations__,
        **message_create_params.MessageCreateParamsStreaming.__annotations__,
    }
    whole = {field.name for field in msgspec.structs.fields(fields._REQUEST)}
    counted = {field.name for field in msgspec.structs.fields(fields._COUNT_REQUEST)}
    assert whole - set(published) == {"temperature", "top_p", "top_k"}  # of models before those that think
    assert not counted - set(MessageCountTokensParams.__annotations__)


def test_of_five_hundred_changed_requests_nothing_forbidden_arrives_and_every_honest_one_does():
    found = anyio.run(fuzz, 500, 2)
    assert (found.leaks, found.errors, found.refused) == ([], [], [])
    assert found.arrived >= 100


def test_the_reader_of_the_fuzz_sees_what_is_forbidden():
    """Without this the line above could not fail."""

    def seen(**changes):
        asked = {**copy.deepcopy(SINGLE), **changes}
        return list(forbidden("/v1/messages", "", [], json.dumps(asked).encode()))

    assert seen() == []
    for change in (
        {"model": "claude-opus-5-5"},
        {"mcp_servers": []},
        {"tools": [{"type": "web_search_20250305", "name": "w"}]},
        {"messages": [{"role": "user", "content": [{"type": "image", "source": URL}]}]},
        {"messages": [{"role": "user", "content": [{"type": "mcp_tool_use"}]}]},
    ):
        assert seen(**change)
    doubled = BODY[:-1] + b', "model": "claude-opus-5-5"}'
    assert list(forbidden("/v1/messages", "", [], doubled)) == ["model claude-opus-5-5"]
