"""sq's proxy for sandboxes: it ends TLS for registries, looks at the requests, and relays to named hosts.

It is served on a unix socket for as long as a run lasts. Its authority for certificates is the run's own, and
the key of it stays in memory.
"""

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import h11
import structlog
from anyio.abc import ByteStream, SocketAttribute
from anyio.streams.tls import TLSStream

from agents.concurrency import task_group
from agents.gateway.hosts.credentials import Answer, authorization_for
from agents.gateway.hosts.rules import (
    Address,
    HostRefusedError,
    HostUses,
    OpenHosts,
    Pair,
    address_in,
    headers_for_registry,
)
from agents.gateway.hosts.way_out import WayOut
from agents.gateway.hosts.wire import BROKEN, Wire, relay, without_connection
from agents.gateway.places import Place, Places, peer_of

if TYPE_CHECKING:
    import trustme

log = structlog.get_logger(__name__)
_FORBIDDEN, _BAD_GATEWAY, _GOOD = 403, 502, 2  # the last: hundreds
_MOST_READ = 1 << 24  # bytes of an answer to sq itself
_MOST, _EACH = 192, 96  # connections on one socket, and of one sandbox: package managers open up to 64
_IDLE_S = 60.0  # between requests on one connection
_PAUSE_S = 0.1
Serve = Callable[[ByteStream, Place], Awaitable[None]]


class HostsProxy:
    """The proxy for its users: the certificates that tools in a sandbox need, and the uses of hosts."""

    def __init__(
        self, hosts: OpenHosts, way_out: WayOut, authority: "trustme.CA", head_s: float = 10.0
    ) -> None:
        self._hosts, self._way_out, self._authority, self._head_s = hosts, way_out, authority, head_s
        self._contexts: dict[str, ssl.SSLContext] = {}
        self._uses = HostUses()
        self.take_uses = self._uses.take

    @property
    def certificates(self) -> str:
        """All certificates that a tool in a sandbox has to trust, as PEM."""
        return self._way_out.certificates + self._authority.cert_pem.bytes().decode()

    async def serve(self, client: ByteStream, place: Place) -> None:
        """Answer one connection of a sandbox."""
        near = Wire(client, h11.SERVER)
        request = await near.request(self._head_s)
        if request is None:
            return
        named = request.target.decode("latin-1")
        address: Address = (named, 0)
        try:
            address = address_in(named)
            self._hosts.check(request.method, address)
            await (self._tunnel if address in self._hosts.named else self._read)(near, address, place)
        except HostRefusedError as refusal:
            self._uses.refuse(address, str(refusal))
            await near.refuse(_FORBIDDEN, f"{address[0]}: {refusal}")

    async def read(self, host: str, target: str) -> bytes:
        """Return the beginning of what a registry answers to sq itself.

        Raises:
            HostRefusedError: it is not open, or leads elsewhere.
            OSError: there is no answer.
        """
        address = address_in(host)
        self._hosts.check(b"CONNECT", address)
        given = [(b"host", host.encode()), (b"accept", b"application/json")]
        request = h11.Request(method="GET", target=target, headers=given)
        headers = headers_for_registry(b"GET", request.target, given, address, "")
        body, reading = b"", _Reading(self._way_out, address)
        try:
            answer = await reading.ask(request, headers)
            while len(body) < _MOST_READ and isinstance(event := await reading.wire.receive(), h11.Data):
                body += event.data
        except (*BROKEN, h11.ProtocolError) as error:
            raise OSError(f"{host} cannot be read: {error}") from error
        finally:
            await reading.end()
        return body if answer.status_code == HTTPStatus.OK else b""

    async def _tunnel(self, near: Wire, address: Address, place: Place) -> None:
        place.is_silent = False
        self._uses.count(address, requests=1)
        try:
            far = await self._way_out.connect(address, public=False)
        except (*BROKEN, h11.ProtocolError) as error:
            await near.refuse(_BAD_GATEWAY, f"{address[0]} cannot be reached: {error}")
            return
        await near.send(h11.Response(status_code=200, headers=[]))
        await relay(near.stream, far, partial(self._uses.count, address))

    async def _read(self, near: Wire, address: Address, place: Place) -> None:
        """Serve a client that speaks TLS with a registry, as it believes."""
        await near.send(h11.Response(status_code=200, headers=[]))
        context = self._context_for(address[0])
        with anyio.fail_after(self._head_s):
            stream = await TLSStream.wrap(
                near.stream, server_side=True, ssl_context=context, standard_compatible=False
            )
        inside, reading = Wire(stream, h11.SERVER), _Reading(self._way_out, address)
        try:
            within_s = self._head_s
            while request := await inside.request(within_s):
                place.is_silent, within_s = False, _IDLE_S
                given = authorization_for(request.target, self._hosts.registries[address])
                try:
                    headers = headers_for_registry(
                        request.method, request.target, list(request.headers), address, given
                    )
                    self._uses.admit(address, request.target, headers, place.peer)
                    answer = await reading.ask(request, headers)
                    to_ours = Answer(given) if given else None
                    answer = to_ours.head(answer) if to_ours else answer
                except HostRefusedError as refusal:
                    self._uses.refuse(address, str(refusal))
                    await inside.refuse(_FORBIDDEN, f"{address[0]}: {refusal}")
                    return
                except (*BROKEN, h11.ProtocolError) as error:
                    await inside.refuse(_BAD_GATEWAY, f"{address[0]} cannot be reached: {error}")
                    return
                await inside.receive()  # the end of the request, which has no body
                self._uses.count(address, len(request.target), requests=1)
                await self._answer(inside, reading.wire, answer, address, to_ours)
                if not inside.next():
                    return
                place.is_silent = True
        finally:
            with anyio.CancelScope(shield=True):
                await reading.end()

    async def _answer(
        self, near: Wire, far: Wire, answer: h11.Response, address: Address, to_ours: Answer | None
    ) -> None:
        """Answer as the registry does. `to_ours`: it answers to credentials of the user's."""
        headers = without_connection(list(answer.headers))
        await near.send(h11.Response(status_code=answer.status_code, headers=headers, reason=answer.reason))
        is_shown = not to_ours or answer.status_code // 100 == _GOOD
        while isinstance(event := await far.receive(), h11.Data):
            self._uses.count(address, 0, len(event.data))
            data = to_ours.part(bytes(event.data)) if to_ours else bytes(event.data)
            if data and is_shown:
                await near.send(h11.Data(data=data))
        if to_ours and is_shown and (rest := to_ours.part(b"", last=True)):
            await near.send(h11.Data(data=rest))
        await near.send(h11.EndOfMessage())

    def _context_for(self, host: str) -> ssl.SSLContext:
        if host not in self._contexts:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.set_alpn_protocols(["http/1.1"])
            self._authority.issue_cert(host).configure_cert(context)
            self._contexts[host] = context
        return self._contexts[host]


class _Reading:
    """The connection to a registry for one client. It is renewed if the registry has ended it."""

    def __init__(self, way_out: WayOut, address: Address) -> None:
        self._way_out, self._address = way_out, address
        self._open: Wire | None = None

    @property
    def wire(self) -> Wire:
        """The connection of the newest answer."""
        assert self._open is not None  # noqa: S101  there is an answer
        return self._open

    async def ask(self, request: h11.Request, headers: list[Pair]) -> h11.Response:
        """Send a request and return the beginning of its answer."""
        asked = h11.Request(method=request.method, target=request.target, headers=headers)
        if self._open and self._open.next():
            try:
                return await self._asked(self._open, asked)
            except (*BROKEN, h11.ProtocolError):  # ended meanwhile: reading may be repeated
                pass
        await self.end()
        stream = await self._way_out.connect(self._address, public=True)
        self._open = Wire(await self._way_out.secured(stream, self._address[0]), h11.CLIENT)
        return await self._asked(self._open, asked)

    async def _asked(self, wire: Wire, asked: h11.Request) -> h11.Response:
        await wire.send(asked, h11.EndOfMessage())
        return await wire.response()

    async def end(self) -> None:
        """End the connection."""
        if self._open:
            await anyio.aclose_forcefully(self._open.stream)
        self._open = None


@asynccontextmanager
async def serve_hosts(
    hosts: OpenHosts, way_out: WayOut, path: Path, places: Places | None = None
) -> AsyncIterator[HostsProxy]:
    """Serve sandboxes on a unix socket at `path`, for this user alone, while the block runs."""
    import trustme

    authority = trustme.CA(organization_name="sq", organization_unit_name="package registries of one run")
    places = places or Places(most=_MOST, each=_EACH)
    proxy = HostsProxy(hosts, way_out, authority, places.head_s)
    async with _listening(path, proxy.serve, places):
        yield proxy


@asynccontextmanager
async def serve_service(address: Address, path: Path) -> AsyncIterator[None]:
    """Relay from a unix socket at `path`, for this user alone, to a service of the user's."""

    async def serve(client: ByteStream, place: Place) -> None:
        place.is_silent = False
        await relay(client, await anyio.connect_tcp(*address), lambda _sent, _received: None)

    async with _listening(path, serve, Places(most=_MOST, each=_EACH)):
        yield


@asynccontextmanager
async def _listening(path: Path, serve: Serve, places: Places) -> AsyncIterator[None]:
    """Serve connections while the block runs, those that have a place. A broken one ends alone."""

    async def served(client: ByteStream, place: Place | None, scope: anyio.CancelScope) -> None:
        with scope:
            try:
                async with client:
                    if place:
                        await serve(client, place)
            except Exception as error:  # noqa: BLE001  bytes of an agent's, whatever they are
                log.debug("hosts.connection.ended", path=str(path), error=repr(error))
            finally:
                if place:
                    places.leave(place)

    async with await anyio.create_unix_listener(path, mode=0o600) as listener, task_group() as tasks:

        async def accept() -> None:
            while True:
                try:
                    client = await listener.accept()
                except OSError:  # no more files can be opened just now
                    await anyio.sleep(_PAUSE_S)
                    continue
                scope = anyio.CancelScope()
                peer = peer_of(client.extra(SocketAttribute.raw_socket))  # noqa: S610  not of Django
                tasks.start_soon(served, client, places.take(peer, scope.cancel), scope)

        tasks.start_soon(accept)
        try:
            yield
        finally:
            tasks.cancel_scope.cancel()
