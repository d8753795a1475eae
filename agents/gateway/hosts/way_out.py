"""The way out of the machine: to an address that was looked at, or by name through the proxy of the user."""

import base64
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

import anyio
import h11
from anyio.abc import ByteStream
from anyio.streams.tls import TLSStream

from agents.gateway.hosts.rules import Address, HostRefusedError, is_public
from agents.gateway.hosts.wire import Wire

# Variables that name a file of certificates, for the tools that read them.
CERTIFICATES = (
    *("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "PIP_CERT", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO"),
    *("CARGO_HTTP_CAINFO", "NODE_EXTRA_CA_CERTS", "npm_config_cafile", "BUNDLE_SSL_CA_CERT"),
    *("COMPOSER_CAFILE", "HEX_CACERTS_PATH", "DENO_CERT", "NIX_SSL_CERT_FILE"),
)
# Where systems keep the certificates that they trust.
_BUNDLES = (
    *("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"),
    *("/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"),
)
_CONNECT_S = 20.0
_PORTS = {"http": 80, "https": 443}
Resolve = Callable[[str, int], Awaitable[list[str]]]


async def resolved(host: str, port: int) -> list[str]:
    """Return the addresses of a name by the machine's resolver."""
    found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(one[4][0]) for one in found))


def proxy_in(environ: Mapping[str, str]) -> str:
    """Return the address of the user's proxy, or ""."""
    names = ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")
    found = next((environ[name] for name in names if environ.get(name)), "")
    return found if "://" in found or not found else f"http://{found}"


def _trusting_context(environ: Mapping[str, str]) -> ssl.SSLContext:
    """Return how servers are recognised: by the system's certificates and the files that the user names."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    for file in {*_BUNDLES, *(environ[name] for name in CERTIFICATES if environ.get(name))}:
        with suppress(OSError, ssl.SSLError):
            context.load_verify_locations(file)
    return context


@dataclass(frozen=True, slots=True, kw_only=True)
class WayOut:
    """Makes connections for sandboxes.

    `environ` is the user's, with the address of their proxy, the names that it is not for, and the files of
    certificates.
    """

    environ: Mapping[str, str] = field(repr=False)
    resolve: Resolve = resolved
    trusted: ssl.SSLContext = field(init=False)

    def __post_init__(self) -> None:
        """Read the certificates once."""
        object.__setattr__(self, "trusted", _trusting_context(self.environ))

    @property
    def certificates(self) -> str:
        """All certificates that it trusts, as PEM."""
        return "".join(map(ssl.DER_cert_to_PEM_cert, self.trusted.get_ca_certs(binary_form=True)))

    async def connect(self, address: Address, *, public: bool) -> ByteStream:
        """Return a connection. With `public` it leads to a public address, or to where the proxy leads it.

        Raises:
            HostRefusedError: the name leads elsewhere, or the proxy refuses it.
            OSError: there is no connection.
        """
        host, port = address
        with anyio.fail_after(_CONNECT_S):
            proxy = proxy_in(self.environ)
            if proxy and not _is_left_out(host, self.environ):
                return await self._through_proxy(proxy, host, port)
            found = await self.resolve(host, port)
            if public and (inner := [one for one in found if not is_public(one)]):
                raise HostRefusedError(f"its name leads to {inner[0]}, an address that is not public")
            for one in found:  # the very addresses that were looked at: another answer changes nothing
                with suppress(OSError):
                    return await anyio.connect_tcp(one, port)
        raise OSError(f"no connection to {host}:{port}")

    async def secured(self, stream: ByteStream, host: str) -> ByteStream:
        """Return TLS on a connection, with a server that shows that it is `host`."""
        async with _closed_on_failure(stream):
            return await TLSStream.wrap(
                stream, hostname=host, ssl_context=self.trusted, standard_compatible=False
            )

    async def _through_proxy(self, proxy: str, host: str, port: int) -> ByteStream:
        at = urlsplit(proxy)
        place = (at.hostname or "", at.port or _PORTS.get(at.scheme, 0))
        stream: ByteStream = await anyio.connect_tcp(*place)
        if at.scheme == "https":
            stream = await self.secured(stream, place[0])
        name = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        headers = [("host", name)]
        if at.username:
            user = f"{unquote(at.username)}:{unquote(at.password or '')}".encode()
            headers.append(("proxy-authorization", f"Basic {base64.b64encode(user).decode()}"))
        wire = Wire(stream, h11.CLIENT)
        async with _closed_on_failure(stream):
            await wire.send(h11.Request(method="CONNECT", target=name, headers=headers))
            answer = await wire.response()
            if answer.status_code // 100 != 2:  # noqa: PLR2004
                raise HostRefusedError(f"the proxy of HTTPS_PROXY answered {answer.status_code} for it")
        return stream


@asynccontextmanager
async def _closed_on_failure(stream: ByteStream) -> AsyncIterator[None]:
    try:
        yield
    except BaseException:
        await anyio.aclose_forcefully(stream)
        raise


def _is_left_out(host: str, environ: Mapping[str, str]) -> bool:
    no_proxy = environ.get("NO_PROXY") or environ.get("no_proxy", "")
    names = [one.strip().lower().lstrip("*").lstrip(".") for one in no_proxy.split(",") if one.strip()]
    return any(not one or host == one or host.endswith(f".{one}") for one in names)
