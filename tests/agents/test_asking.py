"""One contract for every way to ask a model: the Anthropic API by its client and by the light one, and the CLI."""

import contextlib
import json
import os
import signal
import socket
import uuid
from pathlib import Path

import anyio
import pytest
from language.sampled import sampled, slow

from agents.access import KeyConnection, RehearsalConnection
from agents.api_key import ApiKey
from agents.ask.api import ApiAsker
from agents.ask.cli import CliAsker
from agents.ask.light import ask_now
from agents.ask.port import Ask
from agents.caller import Caller
from agents.claude_code.executable import find_cli
from agents.gateway.scenario import load_scenario
from agents.gateway.server import serve_scenario
from agents.process.containment import detect_containment
from agents.process.launcher import write_launcher
from state.errors import UsageError
from state.records.calls import CallEnd, Usage
from state.roles import Role
from state.settings.presets import model_named

SCENARIO = """
scenario: 1
usage: {input_tokens: 1200, output_tokens: 80}
callers:
  developer/answers/1:
    - expect: {prompt_contains: "Which name?", anywhere_contains: You answer questions}
      structured: {name: "getCount", why: "the spec “names” it"}
  developer/talks/1:
    - text: I would call it getCount.
    - text: "{\\"name\\": \\"getCount\\"}, as I said."
"""
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "why": {"type": "string"}},
    "required": ["name", "why"],
    "additionalProperties": False,
}


def ask(task="answers", deadline_s=30.0):
    return Ask(
        caller=Caller(role=Role.DEVELOPER, task=task, attempt=1),
        model=model_named("haiku"),
        system="You answer questions.",
        prompt="Which name? /clear @README.md",
        schema=SCHEMA,
        deadline_s=deadline_s,
    )


class Traces:
    """Finds the processes of one test by a variable that they inherit, in whatever namespace they are."""

    def __init__(self, mark):
        self._mark = f"ASKING_TEST={mark}".encode()

    def alive(self):
        return [
            int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit() and self._mine(entry)
        ]

    def _mine(self, entry):
        try:
            return self._mark in (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            return False

    async def none_left(self):
        """Every process has ended within two seconds."""
        with anyio.move_on_after(2):
            while self.alive():
                await anyio.sleep(0.02)
        return not self.alive()


@pytest.fixture
def traces(monkeypatch):
    mark = str(uuid.uuid4())
    monkeypatch.setenv("ASKING_TEST", mark)
    found = Traces(mark)
    yield found
    for pid in found.alive():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.fixture(scope="session")
def containment():
    return detect_containment({})


class LightAsker:
    """The light transport, which blocks, behind the port."""

    def __init__(self, connection):
        self._connection = connection

    def __repr__(self):
        return f"<LightAsker {self._connection.api_access(ask().caller)}>"

    async def ask(self, ask):
        access = self._connection.api_access(ask.caller)
        return await anyio.to_thread.run_sync(ask_now, ask, access, abandon_on_cancel=True)


@pytest.fixture(params=["api", "light", "cli"])
def asker_of(request, tmp_path, containment, traces):
    """Makes the asker under test for a connection."""

    def make(connection):
        if request.param == "api":
            return ApiAsker(connection)
        if request.param == "light":
            return LightAsker(connection)
        launcher = write_launcher(tmp_path / "launcher", find_cli(), containment)
        workspace = tmp_path / "workspace"
        workspace.mkdir()
        (workspace / "README.md").write_text("not to be read\n")
        return CliAsker(connection, launcher=launcher, workspace=workspace)

    return make


@pytest.fixture
def rehearsed(tmp_path):
    """A gateway that plays the scenario, and the connection to it."""

    @contextlib.asynccontextmanager
    async def serve():
        path = tmp_path / "scenario.yaml"
        path.write_text(SCENARIO)
        scenario, ledger = load_scenario(path), tmp_path / "ledger.jsonl"
        with anyio.fail_after(60):
            async with serve_scenario(scenario, run_id="r-1", ledger=ledger) as gateway:
                yield gateway, RehearsalConnection(gateway=gateway, config_dir=tmp_path / "claude")

    return serve


class OneAddress:
    """Stands for the gateway: every caller is at one address."""

    def __init__(self, url):
        self._url = url

    def caller_url(self, role, task, attempt, values):
        return self._url


def without_retries(url, tmp_path):
    return RehearsalConnection(gateway=OneAddress(url), config_dir=tmp_path / "claude")


@contextlib.asynccontextmanager
async def listening(handle):
    """A server on a loopback port; `handle(stream)` has each connection."""

    async def serve(stream):
        async with stream:
            with contextlib.suppress(anyio.EndOfStream, anyio.BrokenResourceError):  # the client went away
                await handle(stream)

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
    port = listener.extra(anyio.abc.SocketAttribute.local_port)  # noqa: S610  a socket, not Django
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, serve)
        yield f"http://127.0.0.1:{port}"
        tasks.cancel_scope.cancel()


class Silence:
    """A server that takes a request and never answers."""

    def __init__(self):
        self.asked = anyio.Event()

    async def __call__(self, stream):
        await stream.receive()
        self.asked.set()
        await anyio.sleep_forever()


def saying(status, kind, body):
    """A server that gives the same answer to every request."""

    async def handle(stream):
        request = b""
        while b"\r\n\r\n" not in request:
            request += await stream.receive()
        head, _, rest = request.partition(b"\r\n\r\n")
        lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        missing = int(lengths[0].split(b":")[1]) - len(rest) if lengths else 0
        while missing > 0:
            missing -= len(await stream.receive())
        headers = f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n"
        await stream.send(f"{headers}connection: close\r\n\r\n".encode() + body)

    return handle


# --- the contract ---------------------------------------------------------------------------------------


async def test_a_structured_answer_arrives_and_its_tokens_and_cost_are_counted(asker_of, rehearsed, traces):
    async with rehearsed() as (gateway, connection):
        reply = await asker_of(connection).ask(ask())
        assert gateway.problems == []
    assert (reply.end, reply.detail) == (CallEnd.COMPLETED, "")
    assert reply.answer == {"name": "getCount", "why": "the spec “names” it"}
    assert reply.usage == Usage(input_tokens=1200, output_tokens=80)
    assert reply.cost_usd == pytest.approx(model_named("haiku").cost(reply.usage))
    assert reply.seconds > 0
    assert await traces.none_left()


async def test_an_asker_can_be_asked_twice(asker_of, rehearsed):
    async with rehearsed() as (_, connection):
        asker = asker_of(connection)
        replies = [await asker.ask(ask()) for _ in range(2)]
    assert [reply.end for reply in replies] == [CallEnd.COMPLETED] * 2
    assert replies[0].cost_usd == pytest.approx(replies[1].cost_usd)


async def test_words_instead_of_a_structured_answer_are_unusable_and_still_cost(asker_of, rehearsed):
    async with rehearsed() as (_, connection):
        reply = await asker_of(connection).ask(ask("talks"))
    assert (reply.end, reply.answer) == (CallEnd.UNUSABLE, None)
    assert "getCount" in reply.detail
    assert reply.cost_usd > 0
    assert reply.usage.input_tokens >= 1200


async def test_an_error_of_the_api_is_a_reply_with_its_status(asker_of, rehearsed, traces):
    async with rehearsed() as (_, connection):
        reply = await asker_of(connection).ask(ask("nobody"))
    assert (reply.end, reply.answer, reply.api_status) == (CallEnd.API_ERROR, None, 400)
    assert "developer/nobody/1 is not in the scenario" in reply.detail
    assert await traces.none_left()


@pytest.mark.parametrize(("status", "error"), [(401, "authentication_error"), (529, "overloaded_error")])
async def test_a_refusal_by_status_is_a_reply_with_that_status(asker_of, tmp_path, status, error):
    body = {"type": "error", "error": {"type": error, "message": "not today"}}
    async with listening(saying(f"{status} No", "application/json", json.dumps(body).encode())) as url:
        with anyio.fail_after(40):
            reply = await asker_of(without_retries(url, tmp_path)).ask(ask())
    assert (reply.end, reply.api_status) == (CallEnd.API_ERROR, status)
    assert "not today" in reply.detail
    assert "{'" not in reply.detail  # a body as Python prints it


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        slow(("application/json", b"{}")),
        ("application/json", b'{"type": "message", "content": null}'),
        slow(("application/json", b"[]")),
        slow(("application/json", b"{cut")),
        ("text/html", b"<html>Please sign in to this network</html>"),
    ],
)
async def test_what_is_no_answer_of_the_api_is_a_reply_that_says_so(asker_of, tmp_path, kind, body):
    async with listening(saying("200 OK", kind, body)) as url:
        with anyio.fail_after(40):
            reply = await asker_of(without_retries(url, tmp_path)).ask(ask())
    assert reply.end in {CallEnd.API_ERROR, CallEnd.UNUSABLE}
    assert reply.answer is None
    assert reply.detail


async def test_a_refused_connection_is_a_reply_that_says_so(asker_of, tmp_path, traces):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    with anyio.fail_after(40):
        reply = await asker_of(without_retries(url, tmp_path)).ask(ask())
    assert reply.end in {CallEnd.API_ERROR, CallEnd.DIED}
    assert (reply.answer, reply.api_status) == (None, None)
    assert reply.detail
    assert await traces.none_left()


@pytest.mark.parametrize("deadline_s", sampled([0.0, 0.05, 0.3, 2.0], 0.0, 0.3))
async def test_a_deadline_that_has_passed_is_a_reply_and_leaves_no_process(
    asker_of, tmp_path, traces, deadline_s
):
    async with listening(Silence()) as url:
        asker = asker_of(KeyConnection(key=ApiKey(key="k"), base_url=url, config_dir=tmp_path / "claude"))
        with anyio.fail_after(deadline_s + 15):
            reply = await asker.ask(ask(deadline_s=deadline_s))
        assert await traces.none_left()
    assert (reply.end, reply.answer, reply.cost_usd) == (CallEnd.TIMED_OUT, None, 0.0)
    assert "no answer within" in reply.detail


async def test_cancellation_is_not_swallowed_and_leaves_no_process(asker_of, tmp_path, traces):
    silence = Silence()
    replies = []
    async with listening(silence) as url:
        asker = asker_of(KeyConnection(key=ApiKey(key="k"), base_url=url, config_dir=tmp_path / "claude"))

        async def wait():
            replies.append(await asker.ask(ask()))

        with anyio.fail_after(40):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(wait)
                await silence.asked.wait()
                tasks.cancel_scope.cancel()
            assert await traces.none_left()
    assert replies == []


async def test_a_proxy_of_the_users_is_not_asked_for_the_way_to_this_machine(
    asker_of, rehearsed, monkeypatch
):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with rehearsed() as (_, connection):
        reply = await asker_of(connection).ask(ask())
    assert reply.end is CallEnd.COMPLETED


async def test_an_asker_shows_what_it_is_and_no_key(asker_of, tmp_path):
    shown = repr(asker_of(KeyConnection(key=ApiKey(key="sk-very-secret"), config_dir=tmp_path)))
    assert "Asker" in shown
    assert "secret" not in shown


# --- what only one of them does -------------------------------------------------------------------------


async def test_the_api_without_a_key_is_a_usage_error():
    class Login:
        """A connection that has no key."""

        def api_access(self, caller):
            return None

    with pytest.raises(UsageError, match="ANTHROPIC_API_KEY"):
        await ApiAsker(Login()).ask(ask())


@pytest.mark.parametrize("script", ["exit 1", "echo broken >&2; exit 3", "exec cat >/dev/null"])
async def test_a_cli_that_does_not_work_is_a_reply_that_says_what_it_said(
    tmp_path, containment, traces, script
):
    broken = tmp_path / "claude"
    broken.write_text(f"#!/bin/sh\n{script}\n")
    broken.chmod(0o755)
    launcher = write_launcher(tmp_path / "launcher", broken, containment)
    connection = KeyConnection(key=ApiKey(key="k"), config_dir=tmp_path / "config")
    asker = CliAsker(connection, launcher=launcher, workspace=tmp_path)
    with anyio.fail_after(30):
        reply = await asker.ask(ask(deadline_s=5))
    assert reply.end in {CallEnd.DIED, CallEnd.TIMED_OUT}
    assert reply.detail
    if "broken" in script:
        assert "broken" in reply.detail
    assert await traces.none_left()


async def test_a_launcher_or_a_workspace_that_is_not_there_is_a_reply(tmp_path, containment):
    connection = KeyConnection(key=ApiKey(key="k"), config_dir=tmp_path / "config")
    launcher = write_launcher(tmp_path / "launcher", find_cli(), containment)
    nowhere = tmp_path / "nowhere"
    for asker in (
        CliAsker(connection, launcher=nowhere, workspace=tmp_path),
        CliAsker(connection, launcher=launcher, workspace=nowhere),
    ):
        with anyio.fail_after(20):
            reply = await asker.ask(ask())
        assert reply.end is CallEnd.DIED
        assert "nowhere" in reply.detail


async def test_the_cli_keeps_no_transcript_of_what_was_asked(tmp_path, containment, rehearsed):
    launcher = write_launcher(tmp_path / "launcher", find_cli(), containment)
    async with rehearsed() as (_, connection):
        reply = await CliAsker(connection, launcher=launcher, workspace=tmp_path).ask(ask())
    assert reply.end is CallEnd.COMPLETED
    assert not [*(tmp_path / "claude").rglob("*.jsonl")]


@pytest.mark.parametrize(
    ("base_url", "proxy"), [("http://[::1", ""), ("http://localhost.invalid", "socks5://127.0.0.1:9")]
)
async def test_an_address_or_a_proxy_that_cannot_be_used_is_an_error_of_the_api(
    monkeypatch, tmp_path, base_url, proxy
):
    monkeypatch.setenv("ALL_PROXY", proxy)
    connection = KeyConnection(key=ApiKey(key="a-key"), config_dir=tmp_path, base_url=base_url)
    reply = await ApiAsker(connection).ask(ask())
    assert reply.end is CallEnd.API_ERROR
    assert reply.detail
