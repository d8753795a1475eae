"""Answers that go wrong on the wire as a reply's `misbehave` asks: first a list of steps, then acted out."""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import assert_never

import anyio
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from agents.gateway import wire
from agents.gateway.call import error_body
from agents.gateway.listeners import client_gone, line_of
from agents.gateway.script import Body, ConnectionFault, Cut, Hang, Misbehave, StopReason

_READ = 0.2  # seconds for the client to read the beginning before a cut, as its reaction depends on that
_NO_JSON = '{"type": "message", "content": [{"type": "te'
_STREAM, _JSON = "text/event-stream", "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """Send the headers. `length` is the length of the body, None for a stream."""

    length: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """Wait. If the client goes away or the server ends meanwhile, the answer ends here."""

    seconds: float = math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """Close the connection."""


Step = Head | Pause | Drop | bytes


def bad_answer(misbehave: Misbehave, said: wire.WireMessage, *, stream: bool) -> Response:
    """Return `said` gone wrong, for a client that asked for a `stream` or for one JSON body."""
    if misbehave.status is not None:
        return _error(misbehave, misbehave.status)
    return _Performance(list(steps(misbehave, said, stream=stream)), media_type=_STREAM if stream else _JSON)


def steps(misbehave: Misbehave, said: wire.WireMessage, *, stream: bool) -> Iterator[Step]:
    """Yield the steps of an answer that is not an error. A list without `Drop` ends in order."""
    if misbehave.body is Body.EMPTY:
        said = replace(said, blocks=(), stop_reason=StopReason.END_TURN)
    chunks = list(wire.events(said)) if stream else [json.dumps(wire.body(said)).encode()]
    head = Head(length=None if stream else len(chunks[0]))
    pause = Pause(seconds=misbehave.seconds or math.inf)
    if misbehave.connection is ConnectionFault.DROPPED:
        yield Drop()
    elif misbehave.body is Body.MALFORMED:
        yield from _malformed(stream=stream)
    elif misbehave.stream:
        yield head
        yield from _beginning(misbehave.stream, said) if stream else [chunks[0][: len(chunks[0]) // 2]]
        yield Pause(seconds=_READ)
        yield Drop()
    elif misbehave.slow:
        yield head
        yield from _slow(misbehave.slow, said, chunks, stream=stream)
    elif misbehave.hang:
        yield from (head, pause) if misbehave.hang is Hang.AFTER_HEADERS else (pause, head)
        yield from chunks
    else:
        yield head
        yield from chunks


class _Performance(Response):
    """Acts out steps. A server that ends does not wait for it."""

    def __init__(self, acts: list[Step], *, media_type: str) -> None:
        super().__init__(media_type=media_type)
        self._acts = acts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        line = line_of(scope)
        with line.unattended():
            for act in self._acts:
                match act:
                    case Head():
                        await send(self._head(act))
                    case Pause():
                        if await _gone(receive, act.seconds):
                            return
                    case Drop():
                        line.drop()
                        await _gone(receive, math.inf)
                        return
                    case bytes():
                        await send({"type": "http.response.body", "body": act, "more_body": True})
                    case _:
                        assert_never(act)
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _head(self, head: Head) -> dict[str, object]:
        headers = [(b"content-type", str(self.media_type).encode())]
        if head.length is not None:
            headers.append((b"content-length", str(head.length).encode()))
        return {"type": "http.response.start", "status": 200, "headers": headers}


async def _gone(receive: Receive, seconds: float) -> bool:
    """Whether the client goes away within `seconds`."""
    with anyio.move_on_after(seconds):
        await client_gone(receive)
        return True
    return False


def _error(misbehave: Misbehave, status: int) -> Response:
    text = misbehave.message or f"sq rehearsal: status {status}, as the scenario asks"
    after = misbehave.retry_after
    headers = {} if after is None else {"retry-after": str(after)}
    return JSONResponse(error_body(text, status, misbehave.error_code), status_code=status, headers=headers)


def _malformed(*, stream: bool) -> Iterator[Step]:
    wrong = f"event: message_start\ndata: {_NO_JSON}\n\n" if stream else _NO_JSON
    yield Head(length=None if stream else len(wrong))
    yield wrong.encode()


def _beginning(cut: Cut, said: wire.WireMessage) -> Iterator[bytes]:
    # The request decides whether a structured answer is text or a call. Without such a block, cut the first.
    kind = wire.ToolBlock if cut is Cut.TOOL else wire.TextBlock
    found = (number for number, block in enumerate(said.blocks) if isinstance(block, kind))
    return wire.events_into(said, next(found, 0))


def _slow(seconds: float, said: wire.WireMessage, chunks: list[bytes], *, stream: bool) -> Iterator[Step]:
    """Yield a pause before each delta. Without streaming, all pauses come before the body."""
    if not stream:
        yield Pause(seconds=seconds * sum(map(wire.is_delta, wire.events(said))))
    for chunk in chunks:
        if stream and wire.is_delta(chunk):
            yield Pause(seconds=seconds)
        yield chunk
