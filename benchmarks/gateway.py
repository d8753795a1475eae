"""Measures the forwarding gateway: time added to the first byte, equal bytes, the count of cut streams.

    python -m benchmarks.gateway

The last line is JSON. Times are medians of the time that the gateway adds, over calls that go through it and
calls that do not, by turns.

Cut streams are those of `tests/language/cut_streams.py`.
"""

import hashlib
import json
import statistics
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import httpx2

from agents.gateway.forward.callers import CallerSession
from agents.gateway.forward.serve import serve_forward
from agents.gateway.forward.upstream import Upstream
from agents.gateway.listeners import listening
from benchmarks.figures import of_tests, print_figures
from state.settings.presets import model_named
from state.settings.records import Model

if TYPE_CHECKING:
    from starlette.types import ASGIApp

MODEL = model_named("opus")
CALLS = 60
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
    below, above = of_tests("language.cut_streams").spend()
    print(f"cut streams: {below} settled below the truth, 95th percentile {above:.3f} of it")
    found |= {"stream_bytes_equal": equal, "spend_below": below, "spend_above_p95": round(above, 4)}
    print_figures(found)
    return 0 if equal and not below else 1


if __name__ == "__main__":
    sys.exit(main())
