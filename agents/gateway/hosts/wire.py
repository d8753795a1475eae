"""HTTP/1.1 on a stream of bytes, and bytes relayed between two streams."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import anyio
import h11
from anyio.abc import ByteStream

from agents.concurrency import task_group
from agents.gateway.hosts.rules import Pair

_READ = 65_536
_MOST_HEAD = 32_768  # bytes of a request's or an answer's beginning
_SILENT_S = 300.0
BROKEN = (OSError, TimeoutError, anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream)


class Wire:
    """One end of HTTP on a stream: `h11.SERVER` or `h11.CLIENT`."""

    def __init__(self, stream: ByteStream, end: Any) -> None:  # noqa: ANN401  h11 does not export its type
        self.stream = stream
        self._http = h11.Connection(end, max_incomplete_event_size=_MOST_HEAD)

    async def receive(self) -> Any:  # noqa: ANN401  an event of h11
        """Return the next event.

        Raises:
            ProtocolError: what came is no HTTP/1.1.
            TimeoutError: nothing came.
        """
        with anyio.fail_after(_SILENT_S):
            while (event := self._http.next_event()) is h11.NEED_DATA:
                try:
                    self._http.receive_data(await self.stream.receive(_READ))
                except anyio.EndOfStream:
                    self._http.receive_data(b"")
        return event

    async def request(self, within_s: float) -> h11.Request | None:
        """Return the beginning of the next request, None at the end of the connection.

        Raises:
            TimeoutError: it was not there whole within these seconds.
        """
        with anyio.fail_after(within_s):
            event = await self.receive()
        return event if isinstance(event, h11.Request) else None

    async def response(self) -> h11.Response:
        """Return the beginning of the answer."""
        while not isinstance(event := await self.receive(), h11.Response):
            if not isinstance(event, h11.InformationalResponse):
                raise h11.RemoteProtocolError("there is no answer")
        return event

    async def send(self, *events: Any) -> None:  # noqa: ANN401
        """Send events of h11."""
        data = b"".join(self._http.send(event) or b"" for event in events)
        if data:
            with anyio.fail_after(_SILENT_S):
                await self.stream.send(data)

    async def refuse(self, status: int, why: str) -> None:
        """Answer with this status and its reason, and end the connection."""
        headers = [("content-length", "0"), ("connection", "close")]
        reason = f"sq: {why}".encode("ascii", "replace")
        await self.send(h11.Response(status_code=status, headers=headers, reason=reason), h11.EndOfMessage())

    def next(self) -> bool:
        """Begin the next exchange on this connection, if there can be one."""
        if self._http.our_state is h11.DONE and self._http.their_state is h11.DONE:
            self._http.start_next_cycle()
            return True
        return False


_OF_THE_CONNECTION = frozenset(
    {b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-connection", b"te", b"trailer"}
    | {b"transfer-encoding", b"upgrade", b"set-cookie", b"alt-svc", b"proxy-authorization"}
)


def without_connection(headers: Sequence[Pair]) -> list[Pair]:
    """Return the headers that are not about one connection, and none that keeps a state for later ones."""
    return [(name, value) for name, value in headers if name not in _OF_THE_CONNECTION]


async def relay(near: ByteStream, far: ByteStream, count: Callable[[int, int], None]) -> None:
    """Relay bytes both ways until both ends are silent or one breaks. `count` gets those out and those in."""
    async with far, task_group() as tasks:

        async def pump(source: ByteStream, sink: ByteStream, *, is_out: bool) -> None:
            try:
                async for data in source:
                    count(len(data) * is_out, len(data) * (not is_out))
                    await sink.send(data)
                await sink.send_eof()
            except BROKEN:
                tasks.cancel_scope.cancel()

        tasks.start_soon(partial(pump, near, far, is_out=True))
        tasks.start_soon(partial(pump, far, near, is_out=False))
