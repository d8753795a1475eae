"""The budget of a caller: looked at before each call, settled by what the API reports, and held side by side."""

import json

import anyio
import pytest
from upstreams import BODY, Api, answers, forwarding, head, piece, streams

from agents.gateway.call import Refusal
from agents.gateway.forward.callers import Account
from agents.gateway.forward.meter import Tokens, dearest, usd
from state.records.calls import Usage
from state.settings.presets import model_named
from state.settings.records import Model

OPUS = model_named("opus")
START = (
    b'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":10,'
    b'"cache_creation_input_tokens":1000,"cache_read_input_tokens":5000,"output_tokens":1,'
    b'"cache_creation":{"ephemeral_5m_input_tokens":400,"ephemeral_1h_input_tokens":600}}}}\n\n'
)
END = (
    b'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},'
    b'"usage":{"output_tokens":200}}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n'
)
# opus: 10 * 4 + 400 * 5 + 600 * 8 + 5000 * 0.2 + 200 * 20, a million tokens
STREAM_USD = (40 + 2000 + 4800 + 1000 + 4000) / 1e6
OPUS_BODY = BODY.replace(b"haiku", b"opus")


async def test_a_stream_is_settled_by_its_own_usage_with_the_lifetime_of_cache_writes():
    async with forwarding(streams(START, END), model=OPUS) as desk:
        await desk.post(body=OPUS_BODY)
        assert desk.session.spent_usd == pytest.approx(STREAM_USD)
        assert desk.session.partial_calls == 0


async def test_an_answer_in_one_piece_is_settled_by_its_usage():
    body = {
        "usage": {"input_tokens": 1000, "output_tokens": 100, "server_tool_use": {"web_search_requests": 2}}
    }
    async with forwarding(answers(json.dumps(body).encode()), model=OPUS) as desk:
        await desk.post(body=OPUS_BODY.replace(b"true", b"false"))
        assert desk.session.spent_usd == pytest.approx((4000 + 2000) / 1e6 + 0.02)
        assert desk.session.partial_calls == 0


async def test_counting_tokens_is_free():
    async with forwarding(answers(b'{"input_tokens": 9}'), cap_usd=0.0) as desk:
        counted = b'{"model": "claude-haiku-5-5", "messages": []}'
        answer = await desk.post("/v1/messages/count_tokens", body=counted)
        assert answer.json() == {"input_tokens": 9}
        assert desk.session.spent_usd == 0


def test_the_prices_above_a_prompt_length_hold_for_cache_writes_of_an_hour_too():
    haiku = model_named("haiku")
    tokens = Tokens(usage=Usage(cache_write_tokens=200_000), write_1h=100_000)
    assert usd(tokens, haiku) == pytest.approx((100_000 * 0.625 + 100_000 * 2 * 0.50) / 1e6)


def test_an_unknown_model_counts_by_the_dearest():
    unknown = Model(alias="x", id="x", context=1, prices=None)
    assert dearest().alias == "opus"
    tokens = Tokens(usage=Usage(input_tokens=1_000_000))
    assert usd(tokens, unknown) == usd(tokens, OPUS) == 4.0


async def test_a_caller_whose_share_is_used_up_gets_a_402_and_asks_nobody():
    api = streams(START, END)
    async with forwarding(api, model=OPUS, cap_usd=STREAM_USD * 1.5) as desk:
        assert [(await desk.post(body=OPUS_BODY)).status_code for _ in range(2)] == [200, 200]
        answer = await desk.post(body=OPUS_BODY)
        assert answer.status_code == 402
        assert answer.headers["x-should-retry"] == "false"
        assert answer.json()["error"]["type"] == "billing_error"
        assert "sq resume RUN --budget" in desk.session.exhausted == answer.json()["error"]["message"]
        assert desk.session.spent_usd == pytest.approx(2 * STREAM_USD)  # exceeded by one call at most
    assert len(api.seen) == 2


async def test_calls_side_by_side_exceed_the_cap_by_one_call_at_most():
    under_way, most = 0, 0

    async def answer(api, scope, receive, send):
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await head(send, content_type="text/event-stream")
        await piece(send, START)
        await anyio.sleep(0.01)
        under_way -= 1
        await piece(send, END, more=False)

    api = Api(answer)
    statuses = []
    async with forwarding(api, model=OPUS, cap_usd=STREAM_USD * 2.5) as desk:

        async def one():
            statuses.append((await desk.post(body=OPUS_BODY)).status_code)

        async with anyio.create_task_group() as tasks:
            for _ in range(10):
                tasks.start_soon(one)
        assert sorted(statuses) == [200] * 3 + [402] * 7
        assert desk.session.spent_usd == pytest.approx(3 * STREAM_USD)
    assert most == 1  # each may cost more than what would be left beside another


async def test_calls_that_fit_together_are_not_held_up():
    account = Account(10.0)
    async with account.hold(4.0), account.hold(4.0):
        with anyio.move_on_after(0.05) as waited:
            async with account.hold(4.0):
                pass
        assert waited.cancelled_caught
    async with account.hold(40.0):  # alone, while anything is left
        pass


async def test_without_a_cap_nothing_is_held():
    account = Account(None)
    account.spent_usd = 1e9
    async with account.hold(1e9), account.hold(1e9):
        pass


async def test_an_account_at_its_cap_refuses():
    account = Account(1.0)
    account.spent_usd = 1.0
    with pytest.raises(Refusal, match=r"\$1.00, is used up"):
        async with account.hold(0.0):
            pass


async def test_a_client_that_leaves_while_it_waits_for_money_costs_nothing():
    go_on = anyio.Event()

    async def answer(api, scope, receive, send):
        await go_on.wait()
        await head(send, content_type="text/event-stream")
        await piece(send, START + END, more=False)

    api = Api(answer)
    async with forwarding(api, model=OPUS, cap_usd=0.001) as desk, anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: desk.post(body=OPUS_BODY))
        while not api.seen:
            await anyio.sleep(0.01)
        with anyio.move_on_after(0.1):
            await desk.post(body=OPUS_BODY)
        go_on.set()
    assert len(api.seen) == 1
