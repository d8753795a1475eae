"""The real API behind the gateway: its address, the credentials, the client, and which headers go through.

Of the client's headers and of the API's those go through that matter to the other side.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from anyio import move_on_after

from state import loopback
from state.errors import UsageError

if TYPE_CHECKING:
    from httpx2 import AsyncClient

BASE_URL, API = "ANTHROPIC_BASE_URL", "https://api.anthropic.com"
_CONNECT_S, _READ_S, _WRITE_S, _CLOSE_S = 10.0, 300.0, 60.0, 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Traces:
    """Where telemetry of sessions goes, and the headers that the receiver wants, such as a credential."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """The API's base URL and the headers with the real credentials. `traces` None: telemetry is off."""

    base_url: str
    headers: Mapping[str, str] = field(repr=False)
    traces: Traces | None = None

    @property
    def is_first_party(self) -> bool:
        """Whether it is Anthropic's own API."""
        return urlsplit(self.base_url).hostname == urlsplit(API).hostname

    def url(self, endpoint: tuple[str, ...], query: bytes) -> str:
        """Return the address of an endpoint, with the query as it was sent."""
        asked = f"?{query.decode('latin-1')}" if query else ""
        return f"{self.base_url.rstrip('/')}/{'/'.join(endpoint)}{asked}"


def address_in(environ: Mapping[str, str]) -> str:
    """Return the address of the API: the user's own one, or Anthropic's.

    Raises:
        UsageError: it is no HTTP address.
    """
    base_url = environ.get(BASE_URL) or API
    found = urlsplit(base_url)
    if found.scheme in {"http", "https"} and found.hostname:
        return base_url
    raise UsageError(
        f'{BASE_URL} is "{base_url}", which is no HTTP address. Set it to one, such as {API}, or unset it'
    )


@asynccontextmanager
async def client_for(upstream: Upstream) -> AsyncIterator[Callable[[], "AsyncClient"]]:
    """Provide a client without limits of connections, redirects, cookies or headers of its own.

    It is made, and its library imported, when it is first asked for.
    """

    @cache
    def made() -> "AsyncClient":
        import httpx2

        here = urlsplit(upstream.base_url).hostname in loopback.NAMES
        client = httpx2.AsyncClient(
            timeout=httpx2.Timeout(connect=_CONNECT_S, read=_READ_S, write=_WRITE_S, pool=None),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=32),
            follow_redirects=False,
            mounts={"http://": None, "all://": None} if here else None,
        )
        client.headers.clear()
        return client

    try:
        yield made
    finally:
        if made.cache_info().currsize:
            with move_on_after(_CLOSE_S, shield=True):
                await made().aclose()


Pair = tuple[bytes, bytes]

_THERE = {
    b"accept",
    b"anthropic-beta",
    b"anthropic-dangerous-direct-browser-access",
    b"anthropic-version",
    b"content-encoding",  # of telemetry: `read_request` refuses it
    b"content-type",
    b"user-agent",
    b"x-app",
    b"x-claude-1p-request-class",
    b"x-client-request-id",
}
_THERE_TOO = (b"x-claude-code-", b"x-stainless-")
_BACK = {
    b"content-encoding",
    b"content-length",
    b"content-type",
    b"request-id",
    b"retry-after",
    b"x-should-retry",
}
_BACK_TOO = b"anthropic-"


def to_upstream(headers: Iterable[Pair], secrets: Mapping[str, str]) -> list[Pair]:
    """Return the client's headers for the API, with the real credentials in place of the caller's token."""
    kept = [(name, value) for name, value in headers if name in _THERE or name.startswith(_THERE_TOO)]
    added = {"accept-encoding": "identity", **secrets}  # a compressed answer could not be counted
    return [*kept, *((name.encode(), value.encode("latin-1")) for name, value in added.items())]


def to_client(headers: Iterable[Pair]) -> list[Pair]:
    """Return the API's headers for the client."""
    return [
        (name.lower(), value)
        for name, value in headers
        if name.lower() in _BACK or name.lower().startswith(_BACK_TOO)
    ]


def token_in(headers: Iterable[Pair]) -> str:
    """Return the caller's token in the client's headers, or "" if there is none."""
    return next(_tokens(headers), "")


def _tokens(headers: Iterable[Pair]) -> Iterator[str]:
    for name, value in headers:
        if name == b"x-api-key":
            yield value.decode("latin-1")
        elif name == b"authorization" and value[:7].lower() == b"bearer ":
            yield value[7:].strip().decode("latin-1")
