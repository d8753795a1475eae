"""Serves the page on one port until it is stopped, behind a guard.

A page on a loopback port can be reached by every page that the user's browser has open. So the guard checks
the name in `Host`, the origin, the method, the form of the path and the cookie on the raw request, before
routing, and adds the headers of protection.
"""

import re
import socket
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, unquote_to_bytes

import anyio
import uvicorn
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agents.concurrency import task_group
from agents.gateway.listeners import FairLine
from agents.gateway.places import Places
from orchestrator.views.page.runs import Runs
from orchestrator.views.page.sessions import WORD, Sessions
from state.errors import UsageError
from state.loopback import LOOPBACK

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_MOST_BYTES = 100_000  # of a form with one
_METHODS = frozenset({"GET", "HEAD"})
_SITES = frozenset({b"same-origin", b"none"})
_OK, _SEE_OTHER, _FORBIDDEN, _MISDIRECTED, _TOO_LARGE = 200, 303, 403, 421, 431
MOST_HEADER_BYTES = 8192
_NO_PART = frozenset({b"", b".", b".."})
_NEVER = re.compile(rb"[\x00-\x20\x7f/\\]")  # in a decoded part of a path
_HTTP_PORT = 80


def authorities(names: Iterable[str], port: int) -> frozenset[bytes]:
    """Return the values of `Host` that mean this server."""
    held = {f"{name.lower()}:{port}".encode() for name in names}
    return frozenset(held | ({name.lower().encode() for name in names} if port == _HTTP_PORT else set()))


class Guard:
    """Lets a request through if it comes from the page of a user who was given the token."""

    def __init__(
        self, app: ASGIApp, hosts: Collection[bytes], sessions: Sessions, port: int, *, controls: bool = False
    ) -> None:
        """Guard an app.

        Args:
            app: the app behind the guard.
            hosts: the allowed values of `Host`, each a name with its port.
            sessions: the token and the accepted cookies.
            port: names the cookie, since a browser sends cookies to all ports of a host.
            controls: forms of the page itself may be sent to runs.
        """
        self._app = app
        self._hosts = hosts
        self._sessions = sessions
        self.places = Places(most=_MOST, each=_EACH)
        self._cookie = f"sq-{'control' if controls else 'dash'}-{port}"
        self._controls = controls

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            return
        status, headers = self._verdict(scope)
        if status:
            await _refuse(send, status, headers)
        else:
            await self._app(scope, receive, _with_protection(send, controls=self._controls))

    def _verdict(self, scope: Scope) -> tuple[int, dict[str, str]]:
        """Return the status and headers of a refusal or redirection, or 0 to let the request through."""
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        host = _only(headers, b"host")
        if host is None or host.lower() not in self._hosts:
            return _MISDIRECTED, {}
        if sum(len(name) + len(value) for name, value in headers) > MOST_HEADER_BYTES:
            return _TOO_LARGE, {}
        is_allowed = _is_plain(scope) or (self._controls and _is_word(scope))
        token = parse_qs(scope["query_string"].decode("latin-1")).get("t")
        is_ours = _is_ours(headers, host)
        if not (is_allowed and (is_ours or (token and _is_opened(headers)))):
            return _FORBIDDEN, {}
        known = any(self._sessions.accepts(cookie) for cookie in self._cookies(headers))
        if token is None:
            return (0 if known else _FORBIDDEN), {}
        path = scope["raw_path"].decode("ascii")
        clean = {"location": path}
        if known and is_ours:
            return _SEE_OTHER, clean
        fetched_ahead = any(name in {b"purpose", b"sec-purpose"} for name, _ in headers)
        if scope["method"] != "GET" or fetched_ahead or not (cookie := self._sessions.redeem(token[-1])):
            return _FORBIDDEN, {}
        made = {"set-cookie": f"{self._cookie}={cookie}; HttpOnly; SameSite=Strict; Path=/"}
        # After a file's link a redirect would still count as another site's, without the cookie.
        return (_SEE_OTHER, {**clean, **made}) if is_ours else (_OK, {"refresh": f"0;url={path}", **made})

    def _cookies(self, headers: list[tuple[bytes, bytes]]) -> list[str]:
        found = []
        for value in _all(headers, b"cookie"):
            try:
                held = SimpleCookie(value.decode("latin-1"))
            except CookieError:
                continue
            found += [held[self._cookie].value] if self._cookie in held else []
        return found


def _is_plain(scope: Scope) -> bool:
    """Whether a request reads, has no body, and its path has one spelling alone."""
    headers = scope["headers"]
    if scope["method"] not in _METHODS or _all(headers, b"transfer-encoding"):
        return False
    if any(length != b"0" for length in _all(headers, b"content-length")):
        return False
    return _has_one_spelling(scope["raw_path"])


def _is_word(scope: Scope) -> bool:
    """Whether a request is a form for a run, small, and a browser says which page it comes from."""
    headers = scope["headers"]
    length, kind = _only(headers, b"content-length"), _only(headers, b"content-type")
    path: bytes = scope["raw_path"]
    return (
        scope["method"] == "POST"
        and not _all(headers, b"transfer-encoding")
        and length is not None
        and length.isdigit()
        and int(length) <= _MOST_BYTES
        and kind == b"application/x-www-form-urlencoded"
        and _only(headers, b"origin") is not None
        and path.endswith(f"/{WORD}".encode())
        and _has_one_spelling(path)
    )


def _has_one_spelling(path: bytes) -> bool:
    if not path.startswith(b"/") or not path.isascii():
        return False
    parts = [unquote_to_bytes(part) for part in path[1:].split(b"/")]
    return path == b"/" or not any(part in _NO_PART or _NEVER.search(part) for part in parts)


def _is_ours(headers: list[tuple[bytes, bytes]], host: bytes) -> bool:
    """Whether the browser says that a page of this server asks, or the user."""
    origins, sites = _all(headers, b"origin"), _all(headers, b"sec-fetch-site")
    return all(origin.lower() == b"http://" + host.lower() for origin in origins) and all(
        site in _SITES for site in sites
    )


def _is_opened(headers: list[tuple[bytes, bytes]]) -> bool:
    """Whether the browser says that it was led here as a whole, as by the file of `sq dash --open`."""
    signs = {b"sec-fetch-site": b"cross-site", b"sec-fetch-mode": b"navigate", b"sec-fetch-dest": b"document"}
    return not _all(headers, b"origin") and all(
        _only(headers, name) == value for name, value in signs.items()
    )


def _all(headers: list[tuple[bytes, bytes]], name: bytes) -> list[bytes]:
    return [value for key, value in headers if key == name]


def _only(headers: list[tuple[bytes, bytes]], name: bytes) -> bytes | None:
    found = _all(headers, name)
    return found[0] if len(found) == 1 else None


async def _refuse(send: Send, status: int, headers: dict[str, str]) -> None:
    """Answer without a body."""
    held = {**_HEADERS, "content-security-policy": POLICY, **headers, "content-length": "0"}
    raw = [(name.encode(), value.encode("latin-1")) for name, value in held.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": b""})


def _with_protection(send: Send, *, controls: bool) -> Send:
    """Add the headers of protection to an answer. A stricter policy of its own for scripts stays.

    With `controls`, forms may be sent to this server, and browsers say from where, which they do not without
    a referrer.
    """
    policy = POLICY.replace("form-action 'none'", "form-action 'self'") if controls else POLICY
    held = {**_HEADERS, **({"referrer-policy": "same-origin"} if controls else {})}

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in held.items():
                headers[name] = value
            headers.setdefault("content-security-policy", policy)
        await send(message)

    return sending


_HOME = ("127.0.0.1", "localhost", "[::1]")
_MOST, _EACH = 128, 32  # connections, and those of another user or another machine
_GRACE_S = 1
_LIMIT_S = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PageAddress:
    """Where to serve: the address, and the names by which browsers of other machines may call it."""

    host: str = LOOPBACK
    port: int = 0
    allowed: Sequence[str] = ()


class _Line(FairLine):
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
    runs: Runs,
    place: PageAddress,
    sessions: Sessions,
    ready: Callable[[str], object],
    until: anyio.Event,
    *,
    controls: bool = False,
) -> None:
    """Serve the page until the event is set.

    Args:
        app: the site.
        runs: the runs that it shows. Their streams end first.
        place: where to serve.
        sessions: the token, and the cookies that are accepted.
        ready: called with the address once connections are accepted.
        until: set it to end the server.
        controls: forms of the page may be sent to runs.

    Raises:
        UsageError: the port cannot be used.
    """
    with _bound(place) as bound:
        port = int(bound.getsockname()[1])
        async with task_group() as tasks:
            hosts = authorities([*_HOME, *place.allowed], port)
            guard = Guard(app, hosts, sessions, port, controls=controls)
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
        http=partial(_Line, places=app.places),  # type: ignore[arg-type]  # it is called, and no more
        lifespan="off",
        ws="none",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=MOST_HEADER_BYTES,
        timeout_graceful_shutdown=_GRACE_S,
    )
