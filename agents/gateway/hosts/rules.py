"""What goes out of a sandbox: to which hosts, and to a package registry nothing but questions for packages.

A host counts by its name as it is written. So no other spelling, and no address, reaches a registry.
"""

import ipaddress
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field

from agents.gateway.hosts.credentials import Credential
from state.errors import SqError
from state.records.commands import HostUse

Address = tuple[str, int]  # a name in small letters, and a port
Pair = tuple[bytes, bytes]

MOST_TARGET = 2_000  # bytes of a path with its query
MOST_TARGETS, MOST_REQUESTS = 20_000, 200_000  # of all sandboxes of a run, in one process of sq
_MOST_HOSTS, _LONGEST_HOST = 200, 100  # that are counted each, and the characters of a name
_OTHERS = "other hosts"
_HTTPS = 443
_PASSED_ON = frozenset({b"accept", b"accept-encoding", b"range"})
_LONGEST_VALUE = 500  # bytes of such a header
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_UNICAST = ipaddress.IPv6Network("2000::/3")  # all that is assigned for the public internet


class HostRefusedError(SqError):
    """A request does not go out. The message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenHosts:
    """The hosts that are open to the sandboxes of a run.

    `registries` are only read, where these credentials fit with them. `named` are those that the user names:
    everything goes through.
    """

    registries: Mapping[Address, tuple[Credential, ...]] = field(default_factory=dict, repr=False)
    named: frozenset[Address] = frozenset()

    def check(self, method: bytes, address: Address) -> None:
        """Raise `HostRefusedError` if no sandbox may reach this host at this port, or not in this way."""
        if method != b"CONNECT":
            raise HostRefusedError("hosts are reached by HTTPS alone")
        if address not in self.registries and address not in self.named:
            raise HostRefusedError("sandbox.hosts does not open it")


def address_in(text: str, port: int = 443) -> Address:
    """Return the address in `HOST:PORT` or `HOST`. An address of IPv6 stands in brackets.

    Raises:
        HostRefusedError: it is none.
    """
    host, colon, number = text.rpartition(":")
    if not colon or number.endswith("]"):
        host, number = text, str(port)
    if not (number.isascii() and number.isdecimal() and len(number) < 6) or not host or "@" in host:  # noqa: PLR2004
        raise HostRefusedError("this is no name of a host with a port")
    return host.strip("[]").lower(), int(number)


def spelled(address: Address) -> str:
    """Return the form for people."""
    host, port = address
    return f"{host}:{port}" if port else host


def is_public(address: str) -> bool:
    """Whether an address is one of the public internet, with whatever it may embed."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour or (found.teredo[1] if found.teredo else None)
        if found in _NAT64:
            inner = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
        if inner or found not in _UNICAST:
            return inner is not None and is_public(str(inner))
    return found.is_global and not found.is_multicast


def headers_for_registry(
    method: bytes, target: bytes, headers: Iterable[Pair], address: Address, authorization: str
) -> list[Pair]:
    """Return the headers with which a request goes on to a registry. `headers` have names in small letters.

    With `authorization` the answer is asked for whole and unpacked, because it is looked into.

    Raises:
        HostRefusedError: it does more than read, or its address could carry much.
    """
    given, (host, port) = dict(headers), address
    if method not in {b"GET", b"HEAD"}:
        raise HostRefusedError("a registry is only read, by GET and HEAD")
    if given.get(b"content-length", b"0").strip(b"0") or b"transfer-encoding" in given:
        raise HostRefusedError("a request to a registry has no body")
    if b"upgrade" in given:
        raise HostRefusedError("a registry is only read, by HTTP")
    if given.get(b"host", b"").lower().decode("latin-1") not in {host, f"{host}:{port}"}:
        raise HostRefusedError("the request inside names another host")
    if not target.startswith(b"/") or len(target) > MOST_TARGET:
        raise HostRefusedError(f"its path is not one of at most {MOST_TARGET} bytes")
    signed = [(b"accept-encoding", b"identity"), (b"authorization", authorization.encode("latin-1"))]
    passed_on = {b"accept"} if authorization else _PASSED_ON
    kept = [(name, given[name]) for name in sorted(passed_on & given.keys())]
    return [
        (b"host", (host if port == _HTTPS else f"{host}:{port}").encode()),
        (b"user-agent", b"sq"),
        *((name, value) for name, value in kept if len(value) <= _LONGEST_VALUE),
        *(signed if authorization else []),
    ]


class HostUses:
    """Counts the use of hosts, and holds a run to its limits."""

    def __init__(self, *, most_targets: int = MOST_TARGETS) -> None:
        self._most_targets = most_targets
        self._found: dict[str, HostUse] = {}
        self._targets: set[int] = set()
        self._requests = 0
        self._by_peer: dict[Hashable, list[int]] = {}

    def admit(
        self, address: Address, target: bytes, headers: Iterable[Pair] = (), peer: Hashable = None
    ) -> None:
        """Raise `HostRefusedError` if the run has asked for too much, or one peer for half of that."""
        way = hash((address, target, *headers))
        own = self._by_peer.setdefault(peer, [0, 0])
        own[0] += 1
        own[1] += way not in self._targets
        self._requests += 1
        self._targets.add(way)
        if self._requests > MOST_REQUESTS or len(self._targets) > self._most_targets:
            raise HostRefusedError(f"a run asks {MOST_REQUESTS:,} times, in {self._most_targets:,} ways")
        if peer is not None and (own[0] > MOST_REQUESTS // 2 or own[1] > self._most_targets // 2):
            raise HostRefusedError("one sandbox asks half as often as the run may, and in half as many ways")

    def count(self, address: Address, sent: int = 0, received: int = 0, *, requests: int = 0) -> None:
        """Add to the use of a host."""
        self._add(HostUse(host=spelled(address), requests=requests, sent=sent, received=received))

    def refuse(self, address: Address, why: str) -> None:
        """Add a refusal."""
        self._add(HostUse(host=spelled(address), refusals=1, refused=(why,)))

    def take(self) -> tuple[HostUse, ...]:
        """Return the uses since they were taken last."""
        found, self._found = self._found, {}
        return tuple(found.values())

    def _add(self, use: HostUse) -> None:
        name = use.host[:_LONGEST_HOST]
        if name not in self._found and len(self._found) >= _MOST_HOSTS:
            name = _OTHERS
        self._found[name] = self._found.get(name, HostUse(host=name)) + use
