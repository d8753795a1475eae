"""The proxy of sandboxes: what goes to a registry, where a name may lead, and what is counted."""

import json
import socket
import threading
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
import pytest
from anyio import to_thread
from language.registry import PACKAGE, REGISTRY, acts, reached_beside, stand_in
from language.spoken import spoken

from agents.gateway.hosts.credentials import Credential
from agents.gateway.hosts.proxy import serve_hosts, serve_service
from agents.gateway.hosts.rules import HostRefusedError, HostUses, OpenHosts, headers_for_registry, is_public
from agents.gateway.hosts.way_out import WayOut, proxy_in

OPEN = OpenHosts(registries={(REGISTRY, 443): ()})


@asynccontextmanager
async def opened(folder: Path, environ, hosts=OPEN, **way):
    """The proxy, and the path of its socket."""
    with anyio.fail_after(100):
        async with serve_hosts(hosts, WayOut(environ=environ, **way), folder / "h.sock") as proxy:
            yield proxy, folder / "h.sock"


def asks(path: str, **headers: str) -> tuple[bytes, bytes]:
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return acts()["inside: another host"][
        0
    ], f"GET {path} HTTP/1.1\r\nHost: {REGISTRY}\r\n{lines}\r\n".encode()


async def test_a_package_is_read_through_the_users_proxy_by_name_and_counted(tmp_path: Path) -> None:
    with stand_in(tmp_path) as found:
        async with opened(tmp_path, found.environ) as (proxy, path):
            said = await to_thread.run_sync(
                spoken, path, *asks(f"/{PACKAGE}", Accept="application/json"), proxy.certificates
            )
            uses = proxy.take_uses()
            assert proxy.take_uses() == ()
    head, _, body = said.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 ")
    assert b"kept=1" not in head  # no cookie of the registry's
    assert json.loads(body)["name"] == PACKAGE
    assert found.connected == [f"{REGISTRY}:443"]
    assert found.asked[0].headers == {"host": REGISTRY, "user-agent": "sq", "accept": "application/json"}
    (use,) = uses
    assert (use.host, use.requests, use.received, use.refusals) == (f"{REGISTRY}:443", 1, len(body), 0)


async def test_no_act_of_the_hostile_ones_reaches_anything_beside_reading(tmp_path: Path) -> None:
    with stand_in(tmp_path) as found:
        async with opened(tmp_path, found.environ) as (proxy, path):
            for outer, inner in acts().values():
                try:
                    await to_thread.run_sync(spoken, path, outer, inner)
                except OSError:  # the proxy has ended the connection
                    continue
            uses = proxy.take_uses()
            said = await to_thread.run_sync(spoken, path, *asks(f"/{PACKAGE}"))
    assert reached_beside(found) == []
    assert sum(one.refusals for one in uses) > len(acts()) // 2
    assert "the request inside names another host" in {why for one in uses for why in one.refused}
    assert said.startswith(b"HTTP/1.1 200 "), "the proxy serves on"


async def test_the_users_credentials_are_added_outside_and_those_from_inside_do_not_go_out(
    tmp_path: Path,
) -> None:
    own = Credential(authorization="Bearer the-users", path="/", ecosystem="node")
    hosts = OpenHosts(registries={(REGISTRY, 443): (own,)})
    with stand_in(tmp_path) as found:
        async with opened(tmp_path, found.environ, hosts) as (_, path):
            await to_thread.run_sync(spoken, path, *asks("/x", Authorization="Bearer carried"))
    assert [one.headers["authorization"] for one in found.asked] == ["Bearer the-users"]


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "169.254.169.254", "192.168.0.1", "100.64.0.1", "0.0.0.0", "224.0.0.1", "::1", "fe80::1%eth0",
     "fd00::1", "fec0::1", "64:ff9b:1::a00:1", "::a00:1", "::ffff:0:a00:1", "5f00::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001:0:7f00:1::f5ff:fffe"],
)  # fmt: skip
async def test_a_name_that_leads_to_an_address_that_is_not_public_is_refused(
    tmp_path: Path, address: str
) -> None:
    async def resolve(_host, _port):
        return ["2600::1", address]

    assert not is_public(address)
    async with opened(tmp_path, {}, resolve=resolve) as (proxy, path):
        said = await to_thread.run_sync(spoken, path, *asks("/x"))
        (use,) = proxy.take_uses()
    assert said.startswith(b"HTTP/1.1 403 ")
    assert "an address that is not public" in use.refused[0]


async def test_the_address_that_was_looked_at_is_the_one_that_is_connected_to() -> None:
    answers = [["2600::1"], ["127.0.0.1"]]

    async def resolve(_host, _port):
        return answers.pop(0)

    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        way = WayOut(environ={}, resolve=resolve)
        with anyio.move_on_after(1), suppress(OSError):
            await way.connect(("registry.example.test", server.getsockname()[1]), public=True)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert answers == [["127.0.0.1"]]


def test_public_addresses_are_public() -> None:
    assert all(map(is_public, ["1.1.1.1", "2600::1", "::ffff:1.1.1.1", "64:ff9b::101:101"]))


async def test_a_host_that_the_user_names_is_a_tunnel_and_may_be_private(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        threading.Thread(target=_echo, args=(server,), daemon=True).start()
        hosts = OpenHosts(named=frozenset({("localhost", port)}))
        environ = {"HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "example.test, localhost"}
        async with opened(tmp_path, environ, hosts) as (proxy, path):
            said = await to_thread.run_sync(_through_tunnel, path, port)
            while not (uses := proxy.take_uses()) or not uses[0].received:
                await anyio.sleep(0.01)
    assert said == b"anything"
    assert (uses[0].host, uses[0].sent, uses[0].received) == (f"localhost:{port}", 8, 8)


def _through_tunnel(path: Path, port: int) -> bytes:
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(10)
        line.connect(str(path))
        line.sendall(f"CONNECT localhost:{port} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        assert b" 200 " in line.recv(4096)
        line.sendall(b"anything")
        return line.recv(4096)


def _echo(server: socket.socket) -> None:
    client, _ = server.accept()
    with client:
        while data := client.recv(4096):
            client.sendall(data)


async def test_a_service_is_relayed_as_it_is(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_echo, args=(server,), daemon=True).start()
        async with serve_service(("127.0.0.1", server.getsockname()[1]), tmp_path / "s.sock"):
            assert (tmp_path / "s.sock").stat().st_mode & 0o777 == 0o600
            async with await anyio.connect_unix(tmp_path / "s.sock") as line:
                await line.send(b"\0raw")
                assert await line.receive() == b"\0raw"


@pytest.mark.parametrize("other", [(b"/4", []), (b"/3", [(b"accept", b"carried")])])
def test_a_run_asks_in_a_bounded_number_of_ways(other: tuple[bytes, list[tuple[bytes, bytes]]]) -> None:
    uses = HostUses(most_targets=3)
    for number in (1, 2, 3, 3, 1):
        uses.admit((REGISTRY, 443), b"/%d" % number)
    with pytest.raises(HostRefusedError):
        uses.admit((REGISTRY, 443), *other)


def test_one_sandbox_asks_in_half_of_the_ways_so_that_others_can_ask_too() -> None:
    uses = HostUses(most_targets=8)
    for number in range(4):
        uses.admit((REGISTRY, 443), b"/%d" % number, peer="a")
    with pytest.raises(HostRefusedError, match="one sandbox"):
        uses.admit((REGISTRY, 443), b"/other", peer="a")
    uses.admit((REGISTRY, 443), b"/again", peer="b")


def test_hosts_that_were_refused_are_counted_up_to_a_bound() -> None:
    uses = HostUses()
    for number in range(1_000):
        uses.refuse((f"{number}.example.test", 443), "why")
    found = uses.take()
    assert len(found) < 300
    assert sum(one.refusals for one in found) == 1_000


def test_a_long_value_of_a_header_does_not_go_out() -> None:
    given = [(b"host", REGISTRY.encode()), (b"accept", b"x" * 501), (b"range", b"bytes=0-9")]
    kept = headers_for_registry(b"GET", b"/x", given, (REGISTRY, 443), "")
    assert dict(kept).keys() == {b"host", b"user-agent", b"range"}


def test_the_users_proxy_is_found_and_left_out_for_the_names_of_no_proxy() -> None:
    assert proxy_in({"https_proxy": "proxy.example.test:3128"}) == "http://proxy.example.test:3128"
    assert proxy_in({}) == ""
