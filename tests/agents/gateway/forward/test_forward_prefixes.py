"""Of requests with one beginning the first is sent alone, so that the API has it in its cache for the others."""

import json
import time
from contextlib import asynccontextmanager

import anyio
import pytest
from upstreams import HAIKU, Api, answers, forwarding, head, piece

from agents.gateway.forward.prefixes import SharedPrefixes

BILLED = "x-anthropic-billing-header: cc_version=2; cc_entrypoint={};"


def body_of(words="a", *, system="You work.", tools=(), stream=True):
    blocks = [{"type": "text", "text": text} for text in (BILLED.format(words), system)]
    message = {"role": "user", "content": words}
    offered = [{"name": name, "input_schema": {}} for name in tools]
    return json.dumps(
        {
            "model": HAIKU.id,
            "max_tokens": 9,
            "stream": stream,
            "messages": [message],
            "system": blocks if system else None,
            "tools": offered,
        }
    ).encode()


def held(*, but=0):
    """An upstream that begins an answer when `go` is set and ends it when `end` is, `but` the first ones."""
    go, end = anyio.Event(), anyio.Event()

    async def answer(api, scope, receive, send):
        free = len(api.seen) <= but
        await head(send, content_type="text/event-stream")
        if not free:
            await go.wait()
        await piece(send, b'event: message_start\ndata: {"type": "message_start"}\n\n')
        if not free:
            await end.wait()
        await piece(send, b"", more=False)

    return Api(answer), go, end


@asynccontextmanager
async def two_sessions(api):
    async with forwarding(api) as desk:
        with desk.gateway.admit(("worker", "t2", "1"), HAIKU) as other:
            yield desk, {"url": other.url, "token": other.token}


async def seen(api, count):
    while len(api.seen) < count:
        await anyio.sleep(0.005)


async def test_a_sibling_is_sent_when_the_answer_to_the_first_begins_and_not_before():
    api, go, end = held()
    async with two_sessions(api) as (desk, other), anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: desk.post(body=body_of("a")))
        await seen(api, 1)
        tasks.start_soon(lambda: desk.post(body=body_of("b"), **other))
        tasks.start_soon(lambda: desk.post(body=body_of("c", system="You review."), **other))
        await seen(api, 2)
        await anyio.sleep(0.05)
        assert [json.loads(one.body)["messages"][0]["content"] for one in api.seen] == ["a", "c"]
        go.set()
        await seen(api, 3)
        end.set()


@pytest.mark.parametrize("different", [{"system": "You review."}, {"tools": ("Bash",)}, {"system": ""}])
async def test_another_beginning_or_none_waits_for_nobody(different):
    api, go, end = held()
    async with two_sessions(api) as (desk, other), anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: desk.post(body=body_of()))
        await seen(api, 1)
        tasks.start_soon(lambda: desk.post(body=body_of(**different), **other))
        await seen(api, 2)
        go.set()
        end.set()


async def test_what_was_answered_before_is_in_the_cache_and_nobody_waits_for_it():
    api, go, end = held(but=1)
    async with two_sessions(api) as (desk, other), anyio.create_task_group() as tasks:
        await desk.post(body=body_of())
        tasks.start_soon(lambda: desk.post(body=body_of("b")))
        tasks.start_soon(lambda: desk.post(body=body_of("c"), **other))
        await seen(api, 3)
        go.set()
        end.set()


async def test_a_first_request_that_is_refused_holds_nobody_up():
    api = answers(b"{}", status=529)
    async with two_sessions(api) as (desk, other):
        began = time.monotonic()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: desk.post(body=body_of()))
            tasks.start_soon(lambda: desk.post(body=body_of("b"), **other))
        assert len(api.seen) == 2
        assert time.monotonic() - began < 5


async def test_one_whose_session_ends_before_its_answer_holds_nobody_up():
    prefixes = SharedPrefixes(most_wait_s=60)
    order = []

    async def first():
        async with prefixes.turn("p"):
            order.append("first")
            await anyio.sleep_forever()

    async def follows():
        async with prefixes.turn("p"):
            order.append("follows")

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks, anyio.create_task_group() as firsts:
            firsts.start_soon(first)
            await anyio.wait_all_tasks_blocked()
            tasks.start_soon(follows)
            await anyio.wait_all_tasks_blocked()
            assert order == ["first"]
            firsts.cancel_scope.cancel()
    assert order == ["first", "follows"]


async def test_nobody_waits_longer_than_the_bound():
    prefixes = SharedPrefixes(most_wait_s=0.01)
    with anyio.fail_after(5):
        async with prefixes.turn("p"), prefixes.turn("p"), prefixes.turn("p"):
            pass
