"""Fairness at a door: shares of peers, silent connections, a place of sq's own."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import anyio
import pytest
from anyio import to_thread
from language.registry import REGISTRY
from starlette.types import Receive, Scope, Send

from agents.gateway.hosts.proxy import serve_hosts
from agents.gateway.hosts.rules import OpenHosts
from agents.gateway.hosts.way_out import WayOut
from agents.gateway.listeners import listening as listening_on
from agents.gateway.places import OWN, Place, Places, peer_of


def taken(places: Places, peer: object, dropped: list[object]) -> Place | None:
    return places.take(peer, lambda: dropped.append(peer))


def test_a_peer_with_all_its_places_gives_up_its_oldest_silent_one_and_no_busy_one() -> None:
    dropped: list[object] = []
    places = Places(most=10, each=3)
    first, second, third = (taken(places, "a", dropped) for _ in range(3))
    assert first
    assert second
    assert third
    first.is_silent = False
    assert taken(places, "a", dropped)
    assert dropped == ["a"]
    for one in places._held:
        one.is_silent = False
    assert taken(places, "a", dropped) is None
    assert taken(places, "b", dropped)
    places.leave(first)
    assert taken(places, "a", dropped)


def test_when_all_are_taken_the_peer_with_the_most_gives_way_also_busy_ones() -> None:
    dropped: list[object] = []
    places = Places(most=6, each=6)
    for peer in "aaaabb":
        held = taken(places, peer, dropped)
        assert held
        held.is_silent = False
    assert taken(places, "c", dropped)
    assert taken(places, OWN, dropped)
    assert dropped == ["a", "a"]
    assert taken(places, "a", dropped) is None or dropped[-1] != "b"


def test_the_own_user_has_no_share_and_one_peer_alone_keeps_no_other_out() -> None:
    dropped: list[object] = []
    places = Places(most=20, each=2)
    assert all(taken(places, OWN, dropped) for _ in range(200))
    assert set(dropped) == {OWN}
    assert taken(places, "a", dropped)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_a_user_of_this_machine_is_known_by_the_kernels_list(host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as server:
        try:
            server.bind((host, 0))
        except OSError:
            pytest.skip("there is no such address here")
        server.listen()
        with socket.create_connection(server.getsockname()[:2]):
            near, _ = server.accept()
            with near:
                assert peer_of(near) == OWN


@pytest.fixture
def listening(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        server.listen()
        server.settimeout(20)
        yield server


CONNECTS = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.recv(1)"


def test_a_sandbox_is_known_by_its_network(listening: socket.socket) -> None:
    ways = ([], ["unshare", "--user", "--map-root-user", "--net"])
    if subprocess.run([*ways[1], "true"], check=False, capture_output=True).returncode:
        pytest.skip("networks cannot be made here")
    found = []
    for way in (*ways, ways[1]):
        process = subprocess.Popen([*way, sys.executable, "-c", CONNECTS, listening.getsockname()])
        near, _ = listening.accept()
        with near:
            found.append(peer_of(near))
        process.wait(20)
    assert found[0] == OWN == ("user", os.getuid())
    assert {kind for kind, _ in found[1:]} == {"sandbox"}
    assert found[1] != found[2] or len({*found}) == 2  # an inode may be used again


def test_a_peer_that_is_gone_is_unknown(listening: socket.socket) -> None:
    subprocess.run(
        [sys.executable, "-c", CONNECTS.replace("; s.recv(1)", ""), listening.getsockname()], check=True
    )
    near, _ = listening.accept()
    with near:
        assert peer_of(near) == "unknown"


# Beginnings after which a client says nothing more: nothing, half a line, a head without its end, a drip.
BEGINNINGS = [b"", b"GET", b"GET / HTTP/1.1\r\nHost: a\r\n", b"\x16\x03\x01\x02\x00\x01"]


@contextmanager
def silent(path: Path, count: int, *beginnings: bytes) -> Iterator[list[socket.socket]]:
    """So many connections that say only this, and hold on."""
    with ExitStack() as stack:
        held = []
        for number in range(count):
            line = stack.enter_context(socket.socket(socket.AF_UNIX))
            line.settimeout(20)
            line.connect(str(path))
            with suppress(BrokenPipeError, ConnectionResetError):
                line.sendall(beginnings[number % len(beginnings)])
            held.append(line)
        yield held


def ended(line: socket.socket) -> bool:
    """Whether the other end closes it, whatever it says before."""
    with suppress(ConnectionResetError, BrokenPipeError):
        while line.recv(4096):
            pass
    return True


async def _said(path: Path, data: bytes) -> bytes:
    def ask() -> bytes:
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(20)
            line.connect(str(path))
            line.sendall(data)
            return line.recv(65_536)

    return await to_thread.run_sync(ask)


CONNECT = b"CONNECT other.example.test:443 HTTP/1.1\r\nHost: other.example.test\r\n\r\n"
OPENS = f"CONNECT {REGISTRY}:443 HTTP/1.1\r\nHost: {REGISTRY}\r\n\r\n".encode()


async def test_the_proxy_answers_beside_any_number_of_silent_connections(tmp_path: Path) -> None:
    hosts = OpenHosts(registries={(REGISTRY, 443): ()})
    async with serve_hosts(hosts, WayOut(environ={}), tmp_path / "h"):
        for beginnings in (BEGINNINGS, [OPENS]):  # the last ones have no handshake
            with silent(tmp_path / "h", 230, *beginnings):
                assert b" 403 " in await _said(tmp_path / "h", CONNECT)


@pytest.mark.parametrize("beginning", [*BEGINNINGS, OPENS, OPENS + b"\x16\x03\x01\x02\x00\x01"])
async def test_the_proxy_ends_a_connection_that_does_not_come_to_its_request(
    tmp_path: Path, beginning: bytes
) -> None:
    hosts = OpenHosts(registries={(REGISTRY, 443): ()})
    places = Places(most=8, each=8, head_s=0.2)
    async with serve_hosts(hosts, WayOut(environ={}), tmp_path / "h", places):
        with silent(tmp_path / "h", 1, beginning) as (line,):
            assert await to_thread.run_sync(ended, line)


async def _hello(scope: Scope, receive: Receive, send: Send) -> None:
    del receive
    assert scope["type"] == "http"
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


async def test_the_gateway_answers_beside_silent_connections_and_ends_them(tmp_path: Path) -> None:
    places = Places(most=16, each=16, head_s=0.2)
    async with listening_on(_hello, places) as listeners:
        listeners.unix(tmp_path / "g")
        await anyio.wait_all_tasks_blocked()
        with silent(tmp_path / "g", 40, *BEGINNINGS) as held:
            assert b" 204 " in await _said(tmp_path / "g", GET)
            assert all([await to_thread.run_sync(ended, one) for one in held])


@pytest.mark.parametrize("then", [b"", b"GET", b"G" * 100])
async def test_a_second_request_has_the_same_deadline(tmp_path: Path, then: bytes) -> None:
    async with listening_on(_hello, Places(most=16, each=16, head_s=0.3)) as listeners:
        listeners.unix(tmp_path / "g")
        await anyio.wait_all_tasks_blocked()
        with silent(tmp_path / "g", 1, GET + GET) as (line,):
            said = b""
            while said.count(b" 204 ") < 2:
                said += await to_thread.run_sync(line.recv, 4096)
            line.sendall(then)
            assert await to_thread.run_sync(ended, line)


async def test_a_request_that_is_there_is_answered_however_long_that_takes(tmp_path: Path) -> None:
    places, go_on = Places(most=2, each=2, head_s=0.05), anyio.Event()

    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        await go_on.wait()
        await _hello(scope, receive, send)

    async with listening_on(slow, places) as listeners, anyio.create_task_group() as tasks:
        listeners.unix(tmp_path / "g")
        await anyio.wait_all_tasks_blocked()
        answers: list[bytes] = []

        async def ask() -> None:
            answers.append(await _said(tmp_path / "g", GET))

        tasks.start_soon(ask)
        with silent(tmp_path / "g", 6, b"") as held:
            assert all([await to_thread.run_sync(ended, one) for one in held])
        go_on.set()
    assert b" 204 " in answers[0]
