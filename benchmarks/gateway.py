"""Measures the forwarding gateway: time added to the first byte, equal bytes, the count of cut streams.

    python -m benchmarks.gateway

The last line is JSON. Times are medians of the time that the gateway adds, over calls that go through it and
calls that do not, by turns.

Cut streams have the cost of an API which bills the input when it begins to answer, and each token that it has
made, those of an event that arrived in part included. `tokens_of` makes tokens as a model's tokenizer does:
it splits words at four letters, numbers at three digits, marks at two, and other scripts at each character.
"""

import hashlib
import json
import random
import re
import statistics
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio
import httpx2

from agents.gateway.forward.callers import CallerSession
from agents.gateway.forward.meter import Meter, Tokens, usd
from agents.gateway.forward.serve import serve_forward
from agents.gateway.forward.upstream import Upstream
from agents.gateway.listeners import listening
from benchmarks.figures import ROOT, print_figures
from state.records.calls import Usage
from state.settings.presets import model_named
from state.settings.records import Model

if TYPE_CHECKING:
    from starlette.types import ASGIApp

MODEL = model_named("opus")
CALLS = 60
CUT = 1_000
SEED = 16
EVENTS = 40  # of the stream that answers
SIZES = {"2kb": 2_000, "200kb": 200_000}  # of a request's body, in bytes
_BLOCK = b"event: content_block_delta\ndata: " + json.dumps({"delta": {"text": "x" * 80}}).encode() + b"\n\n"


async def _api(scope: Any, receive: Any, send: Any) -> None:  # noqa: ANN401  an ASGI app
    del scope
    while (await receive()).get("more_body"):
        pass
    headers = [(b"content-type", b"text/event-stream")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    for _ in range(EVENTS):
        await send({"type": "http.response.body", "body": _BLOCK, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


def _body(size: int) -> bytes:
    head = {"model": MODEL.id, "max_tokens": 1000, "stream": True}
    rest = size - len(json.dumps({**head, "messages": [{"role": "user", "content": ""}]}))
    text = "word " * (rest // 5)
    return json.dumps({**head, "messages": [{"role": "user", "content": text}]}).encode()


async def _asked(client: httpx2.AsyncClient, url: str, token: str, body: bytes) -> tuple[float, str]:
    """Return the milliseconds to the first byte of an answer, and the hash of all its bytes."""
    began, first, digest = time.perf_counter(), 0.0, hashlib.sha256()
    headers = {"x-api-key": token, "content-type": "application/json"}
    async with client.stream("POST", f"{url}/v1/messages", content=body, headers=headers) as answer:
        async for chunk in answer.aiter_raw():
            first = first or time.perf_counter() - began
            digest.update(chunk)
    return first * 1000, digest.hexdigest()


@asynccontextmanager
async def forwarded(
    api: "ASGIApp", model: Model
) -> AsyncIterator[tuple[str, CallerSession, httpx2.AsyncClient]]:
    """Serve `api` behind a gateway. Yields its own address, a caller's pass through the gateway, a client."""
    async with listening(api) as served, httpx2.AsyncClient(trust_env=False, timeout=60) as client:
        upstream = Upstream(base_url=served.base_url, headers={"x-api-key": "benchmark"})
        async with serve_forward(upstream, run_id="benchmark") as gateway:
            with gateway.admit(("worker", "t1", "1"), model) as caller:
                yield served.base_url, caller, client


async def _measured(size: int) -> tuple[float, float, bool]:
    """Return the medians in milliseconds without and with the gateway, and whether all bytes were equal."""
    body, digests = _body(size), set[str]()
    times: dict[bool, list[float]] = {False: [], True: []}
    async with forwarded(_api, MODEL) as (direct, caller, client):
        for number in range(CALLS):
            for through in (False, True):
                url = caller.url if through else direct
                took, digest = await _asked(client, url, caller.token, body)
                digests.add(digest)
                if number > CALLS // 10:  # connections are open then
                    times[through].append(took)
    return statistics.median(times[False]), statistics.median(times[True]), len(digests) == 1


def spend(count: int = CUT, seed: int = SEED) -> tuple[int, float]:
    """Return how many cut streams were settled below the truth, and the 95th percentile of settled to true.

    The second is a ratio of costs.
    """
    random_, ratios = random.Random(seed), []  # noqa: S311  no secret
    for stream in cut_streams(count, seed=seed):
        meter, at = Meter(stream.request, most=128_000, stream=True), 0
        while at < len(stream.bytes):
            size = random_.randint(1, 2_000)
            meter.feed(stream.bytes[at : at + size])
            at += size
        ratios.append(usd(meter.spend().tokens, MODEL) / usd(stream.billed, MODEL))
    below = sum(ratio < 1 - 1e-9 for ratio in ratios)
    return below, statistics.quantiles(ratios, n=20)[-1]


def main() -> int:
    """Print a table and, as the last line, JSON. Returns 1 if bytes differ or a spend is below the truth."""
    found: dict[str, object] = {}
    equal = True
    print(f"{'body':>8} {'direct':>10} {'gateway':>10} {'added':>10}   first byte, ms (medians)")
    for name, size in SIZES.items():
        direct, through, same = anyio.run(_measured, size)
        equal = equal and same
        found[f"gateway_first_byte_ms_{name}"] = round(through - direct, 2)
        print(f"{name:>8} {direct:>10.2f} {through:>10.2f} {through - direct:>10.2f}")
    below, above = spend()
    print(f"{CUT} cut streams: {below} settled below the truth, 95th percentile {above:.3f} of it")
    found |= {"stream_bytes_equal": equal, "spend_below": below, "spend_above_p95": round(above, 4)}
    print_figures(found)
    return 0 if equal and not below else 1


_TOKENS = re.compile(r" ?[A-Za-z]{1,4}|[0-9]{1,3}|\s+|[!-/:-@\[-`{-~]{1,2}|[^\sA-Za-z0-9]")
_SOURCES = ("ARCHITECTURE.md", "CONTRIBUTING.md", "pyproject.toml", "agents/access.py", "docs/guide.md")
_OTHER = "部署脚本在第三行失败了。 Тест не прошёл, größer als erwartet 🙂 0123456789abcdef == [{}] \t\n"


@dataclass
class CutStream:
    """Bytes of an answer up to its cut, and the tokens that were billed. `request` is the body asked with."""

    request: bytes
    bytes: bytes
    billed: Tokens
    whole: bool = False


def tokens_of(text: str) -> list[str]:
    """Return a text as tokens."""
    return _TOKENS.findall(text)


def corpus() -> str:
    """Return the text from which answers are made."""
    return "\n".join((ROOT / name).read_text("utf-8") for name in _SOURCES) + _OTHER * 40


def cut_streams(count: int, *, seed: int) -> Iterator[CutStream]:
    """Yield streams that end at a random byte, one in twenty of them whole."""
    random_ = random.Random(seed)  # noqa: S311  no secret
    text = corpus()
    for _ in range(count):
        yield _cut(random_, text)


def _cut(random_: random.Random, text: str) -> CutStream:
    prompt = random_.randint(8_000, 150_000)  # tokens
    cached = int(prompt * random_.choice((0.0, 0.7, 0.9, 0.97)))
    written = int((prompt - cached) * 0.9)
    begun = {
        "input_tokens": prompt - cached - written,
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": written,
        "output_tokens": 1,
    }
    events = [(_event("message_start", {"message": {"usage": begun}}), 1)]
    for index in range(random_.randint(1, 3)):
        events += _block(random_, text, index)
    end = {"delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": sum(made for _, made in events)}}
    events += [(_event("message_delta", end), 0), (_event("message_stop", {}), 0)]
    whole = b"".join(event for event, _ in events)
    first = len(events[0][0])
    at = len(whole) if random_.random() < 0.05 else random_.randint(first, len(whole))  # noqa: PLR2004
    billed, seen = 0, 0
    for event, made in events:
        if seen < at:
            billed += made
            seen += len(event)
    usage = Usage(
        input_tokens=begun["input_tokens"],
        cache_read_tokens=cached,
        cache_write_tokens=written,
        output_tokens=billed,
    )
    return CutStream(
        request=b"x" * (prompt * 4), bytes=whole[:at], billed=Tokens(usage=usage), whole=at == len(whole)
    )


def _block(random_: random.Random, text: str, index: int) -> Iterator[tuple[bytes, int]]:
    """Yield the events of a block of an answer, each with the tokens that it has."""
    kind, name = random_.choice((("text", "text"), ("tool_use", "partial_json"), ("thinking", "thinking")))
    delta = {"text": "text_delta", "tool_use": "input_json_delta", "thinking": "thinking_delta"}[kind]
    begun = {"type": kind, "name": "Write"} if kind == "tool_use" else {"type": kind, name: ""}
    made = 3 if kind == "tool_use" else 1
    yield _event("content_block_start", {"index": index, "content_block": begun}), made
    at, length = random_.randrange(len(text) - 9_000), int(random_.paretovariate(1.1) * 80)
    said = text[at : at + min(length, 8_000)]
    tokens = tokens_of(json.dumps({"content": said}) if kind == "tool_use" else said)
    while tokens:
        size = random_.randint(1, 12)
        now, tokens = tokens[:size], tokens[size:]
        part = {"type": delta, name: "".join(now)}
        yield _event("content_block_delta", {"index": index, "delta": part}), len(now)
    yield _event("content_block_stop", {"index": index}), 0


def _event(kind: str, data: dict[str, object]) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data}, ensure_ascii=False)}\n\n".encode()


if __name__ == "__main__":
    sys.exit(main())
