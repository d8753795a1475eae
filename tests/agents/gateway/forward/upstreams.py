"""Upstreams for tests of the forwarding gateway: they keep their requests and answer as a test says."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
import httpx2

from agents.gateway.forward.callers import CallerSession
from agents.gateway.forward.serve import ForwardGateway, serve_forward
from agents.gateway.forward.upstream import Traces, Upstream
from agents.gateway.listeners import line_of, listening
from state.settings.presets import model_named

KEY = "sk-ant-the-real-key-of-the-user"
HAIKU = model_named("haiku")
CALLER = ("worker", "t1", "1")
BODY = b'{"model": "claude-haiku-5-5", "max_tokens": 1000, "stream": true, "messages": []}'


@dataclass
class Seen:
    """One request as it arrived at the upstream."""

    path: str
    query: bytes
    headers: list[tuple[bytes, bytes]]
    body: bytes

    def header(self, name: str) -> str | None:
        return next((v.decode() for n, v in self.headers if n == name.encode()), None)


Answer = Callable[["Api", dict, Callable, Callable], Awaitable[None]]


@dataclass
class Api:
    """An upstream that answers by `answer(api, scope, receive, send)`."""

    answer: Answer
    seen: list[Seen] = field(default_factory=list)
    left: anyio.Event = field(default_factory=anyio.Event)

    async def __call__(self, scope, receive, send):
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        self.seen.append(Seen(scope["path"], scope["query_string"], list(scope["headers"]), body))
        await self.answer(self, scope, receive, send)


async def head(send, status=200, **headers):
    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})


async def piece(send, body, *, more=True):
    await send({"type": "http.response.body", "body": body, "more_body": more})


async def cut(scope, receive):
    """Breaks the connection off."""
    line_of(scope).drop()
    while (await receive())["type"] != "http.disconnect":
        pass


def answers(body, status=200, content_type="application/json", **headers):
    """An upstream that always gives this answer."""

    async def answer(api, scope, receive, send):
        await head(send, status, content_type=content_type, content_length=str(len(body)), **headers)
        await piece(send, body, more=False)

    return Api(answer)


def streams(*chunks, then_cut=False, **headers):
    """An upstream that sends these chunks as a stream, and ends in order or breaks off."""

    async def answer(api, scope, receive, send):
        await head(send, content_type="text/event-stream; charset=utf-8", **headers)
        for chunk in chunks:
            await piece(send, chunk)
            await anyio.sleep(0)
        if then_cut:
            await anyio.sleep(0.05)
            await cut(scope, receive)
        else:
            await piece(send, b"", more=False)

    return Api(answer)


@dataclass
class Desk:
    """An open session of the gateway, and a client that asks with its token."""

    gateway: ForwardGateway
    session: CallerSession
    client: httpx2.AsyncClient

    async def post(self, path="/v1/messages", *, body=BODY, token=None, url=None, headers=None):
        given = {"x-api-key": self.session.token if token is None else token, **(headers or {})}
        return await self.client.post((url or self.session.url) + path, content=body, headers=given)


@asynccontextmanager
async def forwarding(api, *, base="", traces: Traces | None = None, **terms) -> AsyncIterator[Desk]:
    with anyio.fail_after(60):
        async with listening(api) as upstream:
            real = Upstream(base_url=upstream.base_url + base, headers={"x-api-key": KEY}, traces=traces)
            async with (
                serve_forward(real, run_id="run-1") as gateway,
                httpx2.AsyncClient(trust_env=False, timeout=20) as client,
            ):
                with gateway.admit(**{"caller": CALLER, "model": HAIKU, **terms}) as session:
                    yield Desk(gateway, session, client)
