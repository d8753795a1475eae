"""Doors from inside a sandbox: what a user's credentials at a registry are good for, and who keeps others out."""

import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from language.registry import PACKAGE, REGISTRY, StandIn, stand_in

from agents.process.containment import detect_containment
from agents.process.sandbox.choice import Choice, SandboxLevel, why_not_whole
from agents.process.sandbox.needs import Needs, Network
from agents.process.sandbox.policy import SandboxPolicy
from agents.process.tree import run_command
from orchestrator.cli.runs.opened_hosts import reaching_out
from state.settings.records import SandboxSettings

pytestmark = [pytest.mark.hostile, pytest.mark.timeout(600)]
TOKEN = "npm_Zx81Qr5tUv7wXy9zAb3cDe"
PATHS = (
    f"/acme/{PACKAGE}",
    "/acme/echo",
    "/acme/-/npm/v1/tokens",
    "/-/whoami",
    "/acme/@other/secret",
    "/acme/../other/x",
    "/acme/%2e%2e/other/x",
)
# Ask a registry through the proxy, whose port is the second argument, for each path. Say what came back.
ASKS = """
import os, socket, ssl, sys
for path in sys.argv[2:]:
    plain = socket.create_connection(("127.0.0.1", int(os.environ["HTTPS_PROXY"].rpartition(":")[2])), 30)
    plain.sendall(b"CONNECT HOST:443 HTTP/1.1\\r\\nHost: HOST:443\\r\\n\\r\\n".replace(b"HOST", sys.argv[1].encode()))
    print(plain.recv(4096))
    line = ssl.create_default_context().wrap_socket(plain, server_hostname=sys.argv[1])
    line.sendall(f"GET {path} HTTP/1.1\\r\\nHost: {sys.argv[1]}\\r\\nConnection: close\\r\\n\\r\\n".encode())
    while data := line.recv(65536):
        print(data)
"""
# Hold connections to every door that this sandbox has, by its loopback and by the sockets themselves, and say nothing.
HOLDS = """
import glob, os, socket, sys, time
port, held = int(os.environ["HTTPS_PROXY"].rpartition(":")[2]), []
for number in range(260):
    try:
        if number % 2:
            held.append(socket.create_connection(("127.0.0.1", port), 5))
        else:
            held.append(socket.socket(socket.AF_UNIX))
            held[-1].connect(glob.glob("/run/sq-*.sock")[0])
        held[-1].sendall((b"", b"CONNECT", f"CONNECT {sys.argv[1]}:443 HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n".encode())[number % 3])
    except OSError:
        pass
open("held", "w").close()
time.sleep(60)
"""


@asynccontextmanager
async def sandbox_policy(folder: Path) -> AsyncIterator[tuple[SandboxPolicy, Path, StandIn]]:
    """The boundary of a run whose registry has an index below /acme/ and a token of the user's."""
    if why := why_not_whole(detect_containment(), os.environ):
        pytest.skip(why)
    work, run_folder, home = (folder / name for name in ("work", "run", "home"))
    for one in (work, run_folder, home):
        one.mkdir()
    (work / "package.json").write_text("{}")
    (work / ".npmrc").write_text(f"registry=https://{REGISTRY}/acme/\n")
    (home / ".npmrc").write_text(f"//{REGISTRY}/:_authToken={TOKEN}\n")
    (work / "asks.py").write_text(ASKS)
    (work / "holds.py").write_text(HOLDS)
    with stand_in(folder) as found:
        found.more = {path: f"you sent Bearer {TOKEN}".encode() for path in PATHS[1:]}
        policy = SandboxPolicy(
            choice=Choice(level=SandboxLevel.WHOLE, program=shutil.which("bwrap") or ""),
            environ={**os.environ, **found.environ},
            own_processes=True,
            home=home,
            programs=(Path(sys.executable),),
        )
        async with reaching_out(policy, (REGISTRY,), SandboxSettings(), work, run_folder) as made:
            yield made, work, found


async def ran(made: SandboxPolicy, work: Path, *words: str) -> str:
    """The output of a Python program in a sandbox of its own."""
    scratch = work.parent / f"s-{os.urandom(4).hex()}"
    needs = Needs(workspace=work, scratch=scratch, path=os.environ["PATH"], network=Network.HOSTS)
    done = await run_command(
        [sys.executable, *words],
        cwd=work,
        env=os.environ,
        deadline_s=120,
        containment=detect_containment(),
        sandbox=made.plan(needs),
    )
    return done.output


async def test_the_users_token_asks_for_packages_below_the_index_alone_and_never_comes_in(
    tmp_path: Path,
) -> None:
    async with sandbox_policy(tmp_path) as (made, work, found):
        output = await ran(made, work, "asks.py", REGISTRY, *PATHS)
    asked = {one.path: one.headers.get("authorization") for one in found.asked}
    assert asked == {path: f"Bearer {TOKEN}" if path in PATHS[:2] else None for path in PATHS}
    assert PACKAGE in output or "404" in output
    assert output.count(TOKEN) == len(PATHS) - 2, "the registry repeats it by itself where it was not sent"
    assert f"you sent {'*' * len(f'Bearer {TOKEN}')}" in output


async def test_what_one_sandbox_holds_keeps_no_other_out(tmp_path: Path) -> None:
    async with sandbox_policy(tmp_path) as (made, work, _), anyio.create_task_group() as tasks:
        for _number in range(3):
            tasks.start_soon(ran, made, work, "holds.py", REGISTRY)
        while not (work / "held").exists():
            await anyio.sleep(0.05)
        with anyio.fail_after(30):
            output = await ran(made, work, "asks.py", REGISTRY, PATHS[0])
        assert " 200 " in output
        tasks.cancel_scope.cancel()
