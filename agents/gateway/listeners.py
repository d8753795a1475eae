"""The loopback ports of a server: one that answers at once, and others that first refuse for a time."""

import socket
from asyncio import TimerHandle, Transport
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import uvicorn
from anyio.abc import TaskGroup
from starlette.types import ASGIApp, Receive, Scope
from uvicorn.protocols.http.h11_impl import H11Protocol

from agents.concurrency import task_group
from agents.gateway.places import Place, Places, peer_of
from state.loopback import LOOPBACK

_GRACE = 1  # seconds that open requests get when the server ends
_LIMIT = 3  # seconds after which the server is dropped in any case
_MOST, _EACH = 192, 64  # connections of all callers, and of one sandbox
_CLOSING = 0.002  # seconds until connections are looked at again


class FairLine(H11Protocol):
    """A connection that has a place while it is open, and a deadline for each request's beginning."""

    def __init__(self, *about: Any, places: Places, **more: Any) -> None:  # noqa: ANN401  as uvicorn calls it
        super().__init__(*about, **more)
        self._places = places
        self._place: Place | None = None
        self._late: TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Called by the event loop."""
        super().connection_made(transport)
        peer = peer_of(transport.get_extra_info("socket"))
        self._place = self._places.take(peer, transport.abort)
        if self._place is None:
            transport.abort()
        else:
            self._wait()

    def data_received(self, data: bytes) -> None:
        """Called by the event loop."""
        super().data_received(data)
        self._heard()

    def on_response_complete(self) -> None:
        """Called when an answer has gone out."""
        self._wait()
        super().on_response_complete()
        self._heard()  # the next request may have come meanwhile

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by the event loop."""
        super().connection_lost(exc)
        self._unwait()
        if self._place:
            self._places.leave(self._place)

    def _wait(self) -> None:
        self._unwait()
        if self._place:
            self._place.is_silent = True
        self._late = self.loop.call_later(self._places.head_s, self.transport.abort)

    def _heard(self) -> None:
        if self.cycle and not self.cycle.response_complete and self._place:
            self._place.is_silent = False
            self._unwait()

    def _unwait(self) -> None:
        if self._late:
            self._late.cancel()


class ClientLine(FairLine):
    """One client's connection, which an answer may drop. `line_of` finds it."""

    _unattended = False

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Called by the event loop."""
        super().connection_made(transport)
        self.app_state = {**self.app_state, "line": self}

    def drop(self) -> None:
        """Close the connection after the bytes already sent, whether or not the answer was complete."""
        self.transport.close()

    @contextmanager
    def unattended(self) -> Iterator[None]:
        """Drop the connection if the server ends inside the block, instead of waiting for the answer."""
        self._unattended = True
        try:
            yield
        finally:
            self._unattended = False

    def shutdown(self) -> None:
        """Called when the server ends."""
        if self._unattended:
            self.transport.abort()
        else:
            super().shutdown()


def line_of(scope: Scope) -> ClientLine:
    """Return the connection of a request."""
    line: ClientLine = scope["state"]["line"]
    return line


class Listeners:
    """Serves an app on its ports while `listening` lasts."""

    def __init__(self, app: ASGIApp, tasks: TaskGroup, sockets: ExitStack, places: Places) -> None:
        self._app = app
        self._places = places
        self._tasks = tasks
        self._sockets = sockets
        self._ports: list[_Port] = []
        # It queues connections from here on, so the URL can be used at once.
        self.base_url = self._open(socket.create_server((LOOPBACK, 0)), refuse_for=0)

    @property
    def port(self) -> int:
        """The port of `base_url`."""
        return int(self.base_url.rpartition(":")[2])

    def unix(self, path: Path) -> None:
        """Serve on a unix socket at `path` too, for this user alone. Its file is removed at the end."""
        bound = socket.socket(socket.AF_UNIX)
        self._sockets.callback(bound.close)
        bound.bind(str(path))
        self._sockets.callback(path.unlink, missing_ok=True)
        path.chmod(0o600)
        bound.listen()
        self._serve(bound, refuse_for=0)

    def refusing(self, seconds: float) -> str:
        """Return the URL of a new port that refuses connections for `seconds` (inf: always), then serves."""
        bound = socket.socket()  # bound and not listening: connections are refused, and the port stays ours
        bound.bind((LOOPBACK, 0))
        return self._open(bound, refuse_for=seconds)

    def end(self) -> None:
        """End each port, within its limits."""
        for port in self._ports:
            port.end()

    def _open(self, bound: socket.socket, *, refuse_for: float) -> str:
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else the end of an answer waits 40 ms
        self._sockets.callback(bound.close)
        self._serve(bound, refuse_for=refuse_for)
        return f"http://{LOOPBACK}:{bound.getsockname()[1]}"

    def _serve(self, bound: socket.socket, *, refuse_for: float) -> None:
        port = _Port(_config(self._app, self._places), bound)
        self._ports.append(port)
        self._tasks.start_soon(port.serve, refuse_for)


@asynccontextmanager
async def listening(app: ASGIApp, places: Places | None = None) -> AsyncIterator[Listeners]:
    """Serve `app` until the block ends. An exception from the block is raised as it is, not in a group."""
    places = places or Places(most=_MOST, each=_EACH)
    with ExitStack() as sockets:
        async with task_group() as tasks:
            listeners = Listeners(app, tasks, sockets, places)
            try:
                yield listeners
            finally:
                listeners.end()


async def client_gone(receive: Receive) -> None:
    """Wait until the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass


class _Port:
    """A bound socket and the server that listens on it, at once or later."""

    def __init__(self, config: uvicorn.Config, bound: socket.socket) -> None:
        self._bound = bound
        self._server = _Server(config)
        self._ended = anyio.Event()
        self._scope = anyio.CancelScope(shield=True)  # a cancelled run still ends its server in order

    async def serve(self, refuse_for: float) -> None:
        with self._scope:
            with anyio.move_on_after(refuse_for):
                await self._ended.wait()
                return
            await self._server.serve(sockets=[self._bound])

    def end(self) -> None:
        self._ended.set()
        self._server.ended.set()
        self._scope.deadline = anyio.current_time() + _LIMIT


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers (Ctrl-C belongs to the run) and without its waits of 0.1 s."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ended = anyio.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def main_loop(self) -> None:
        while not self.ended.is_set():
            await self.on_tick(0)  # sets the date of the answers
            with anyio.move_on_after(1):
                await self.ended.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        state = self.server_state
        for server in self.servers:
            server.close()
        for bound in sockets or ():
            bound.close()
        for connection in list(state.connections):
            connection.shutdown()
        with anyio.move_on_after(_GRACE):
            while state.connections or state.tasks:  # noqa: ASYNC110  uvicorn has no event for it
                await anyio.sleep(_CLOSING)
        for task in state.tasks:
            task.cancel()


def _config(app: ASGIApp, places: Places) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=partial(ClientLine, places=places),  # type: ignore[arg-type]  # it is called, and no more
        lifespan="off",
        ws="none",
        log_config=None,
        log_level="error",
        access_log=False,
    )
