"""Serves the page on one port until it is stopped."""

import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import anyio
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from agents.concurrency import task_group
from orchestrator.views.page.guard import MOST_HEADER_BYTES, Guard, authorities
from orchestrator.views.page.ports import LiveRuns
from orchestrator.views.page.sessions import Sessions
from state.errors import UsageError

LOOPBACK = "127.0.0.1"
_HOME = ("127.0.0.1", "localhost", "[::1]")
_MOST_CONNECTIONS = 128
_GRACE_S = 1
_LIMIT_S = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PageAddress:
    """Where to serve: the address, and the names by which browsers of other machines may call it."""

    host: str = LOOPBACK
    port: int = 0
    allowed: Sequence[str] = ()


class _Line(H11Protocol):
    """One connection. A request that is none is refused without a body, as the guard refuses."""

    def send_400_response(self, msg: str) -> None:
        """Called by uvicorn for a request that breaks the protocol, such as one with two hosts."""
        del msg
        self.transport.write(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        self.transport.close()


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers: Ctrl-C belongs to the command."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def serve(
    app: ASGIApp,
    runs: LiveRuns,
    place: PageAddress,
    sessions: Sessions,
    ready: Callable[[str], object],
    until: anyio.Event,
) -> None:
    """Serve the page until the event is set.

    Args:
        app: the site.
        runs: the runs that it shows. Their streams end first.
        place: where to serve.
        sessions: the token, and the cookies that are accepted.
        ready: called with the address once connections are accepted.
        until: set it to end the server.

    Raises:
        UsageError: the port cannot be used.
    """
    with _bound(place) as bound:
        port = int(bound.getsockname()[1])
        async with task_group() as tasks:
            hosts = authorities([*_HOME, *place.allowed], port)
            guard = Guard(app, hosts, sessions, port)
            server = _Server(_config(guard))

            async def end() -> None:
                await until.wait()
                runs.stop()
                server.should_exit = True
                await anyio.sleep(_LIMIT_S)
                server.force_exit = True

            tasks.start_soon(end)
            name = place.allowed[0] if place.allowed else LOOPBACK
            ready(f"http://{name}:{port}")
            await server.serve(sockets=[bound])
            tasks.cancel_scope.cancel()


@contextmanager
def _bound(place: PageAddress) -> Iterator[socket.socket]:
    """Provide a listening socket. Connections queue from here on."""
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    bound = socket.socket(family)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else the end of an answer waits 40 ms
        try:
            bound.bind((place.host, place.port))
        except OSError as error:
            raise UsageError(
                f"port {place.port} of {place.host} cannot be used: {error.strerror}, so name another with "
                "--port, or 0 for any that is free"
            ) from error
        bound.listen()
        yield bound
    finally:
        bound.close()


def _config(app: Guard) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=_Line,
        lifespan="off",
        ws="none",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=MOST_HEADER_BYTES,
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=_GRACE_S,
    )
