"""Real sessions through the forwarding gateway, with the rehearsal gateway as the API behind it."""

import json
import shlex
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from session_desk import call, desk_with

from agents.access import Credentials, ForwardConnection
from agents.api_key import ApiKey
from agents.caller import Caller
from agents.claude_code.exchange import ClaudeSpec
from agents.claude_code.session import Session, open_session
from agents.gateway import wire
from agents.gateway.forward.serve import ForwardGateway, serve_forward
from agents.gateway.forward.upstream import Upstream
from agents.gateway.listeners import listening
from agents.gateway.script import StopReason
from agents.session.permissions import SIGNAL_PREFIX
from agents.session.port import Difference, Listener
from state.records.calls import CallEnd, CallResult, Message
from state.roles import Role
from state.settings.presets import models

KEY = "sk-ant-the-real-key"
CALLER = Caller(role=Role.WORKER, task="t1", attempt=1)
DONE = {"tools": [call("mcp__sq__task_complete", summary="Done.")]}
RECORDED = Path(__file__).parent / "recorded_requests.json"


@dataclass
class Bench:
    """A gateway before the rehearsed API, and the requests that the API saw."""

    gateway: ForwardGateway
    spec: ClaudeSpec
    differences: list[Difference] = field(default_factory=list)
    heard: list[Message] = field(default_factory=list)

    @property
    def listener(self) -> Listener:
        return Listener(on_message=self.heard.append, on_difference=self.differences.append)

    @asynccontextmanager
    async def session(self, *, first_party: bool = False, **changes: Any) -> AsyncIterator[Session]:
        connection = ForwardConnection(
            doors=self.gateway,
            key=ApiKey(key=KEY),
            config_dir=Path(self.spec.environment["CLAUDE_CONFIG_DIR"]),
            first_party=first_party,
        )
        tools = changes.pop("tools", tuple(f"{SIGNAL_PREFIX}{one.name}" for one in self.spec.signals))
        cap = changes.pop("cap", "own")
        admit = connection.admission(CALLER, self.spec.model, tools)
        spec = replace(
            self.spec,
            environment={**connection.session_environment(CALLER), **changes.pop("environment", {})},
            admit=admit if cap == "own" else lambda _: admit(cap),
            **changes,
        )
        async with open_session(spec, self.listener) as session:
            yield session

    async def exchange(self, **changes: Any) -> CallResult:
        async with self.session(**changes) as session:
            return await session.exchange("build it")


@asynccontextmanager
async def bench_with(tmp_path: Path, *replies: dict[str, Any]) -> AsyncIterator[Bench]:
    with anyio.fail_after(90):
        async with desk_with(tmp_path, {"worker/t1/1": replies}) as desk:
            spec = desk.spec()
            upstream = Upstream(
                base_url=spec.environment["ANTHROPIC_BASE_URL"], headers=ApiKey(key=KEY).headers
            )
            async with serve_forward(upstream, run_id="r") as gateway:
                yield Bench(gateway, spec)


async def test_a_session_works_with_its_own_token_and_both_count_the_same(tmp_path: Path) -> None:
    env = call("Bash", command="env > environment.txt")
    async with bench_with(tmp_path, {"tools": [env]}, DONE) as bench:
        done = await bench.exchange()
        assert (done.end, bench.differences) == (CallEnd.COMPLETED, [])
        assert done.cost_usd == pytest.approx(2 * 0.0006)
        assert done.usage.requests == 2
        variables = (bench.spec.workspace / "environment.txt").read_text()
        assert "ANTHROPIC_API_KEY=sqk_" in variables
        assert KEY not in variables
        assert f"ANTHROPIC_BASE_URL=http://127.0.0.1:{bench.gateway.port}/r/worker/t1/1" in variables


@pytest.mark.parametrize("alias", ["haiku", "sonnet", "opus"])
async def test_each_kind_of_token_costs_the_same_by_the_gateway_and_by_claude_code(
    tmp_path: Path, alias: str
) -> None:
    usage = {
        "input_tokens": 1_000,
        "output_tokens": 100,
        "cache_read_input_tokens": 90_000,
        "cache_creation_input_tokens": 2_000,
    }
    async with bench_with(tmp_path, {**DONE, "usage": usage}) as bench:
        bench.spec = replace(bench.spec, model=models()[alias])
        done = await bench.exchange()
        assert (done.end, bench.differences) == (CallEnd.COMPLETED, [])
        assert done.usage.cache_read_tokens == 90_000


async def test_a_sessions_token_is_refused_once_it_has_ended(tmp_path: Path) -> None:
    env = call("Bash", command="env > environment.txt")
    async with bench_with(tmp_path, {"tools": [env]}, DONE) as bench:
        async with bench.session() as session:
            await session.exchange("build it")
            lines = (bench.spec.workspace / "environment.txt").read_text().splitlines()
            found = dict(line.split("=", 1) for line in lines if "=" in line)
            url, body = (
                f"{found['ANTHROPIC_BASE_URL']}/v1/messages/count_tokens",
                {"model": "claude-haiku-5-5", "messages": []},
            )
            headers = {"x-api-key": found["ANTHROPIC_API_KEY"]}
            async with httpx2.AsyncClient() as client:
                assert (await client.post(url, json=body, headers=headers)).status_code == 200
        async with httpx2.AsyncClient() as client:
            assert (await client.post(url, json=body, headers=headers)).status_code == 401


async def test_a_first_request_without_the_typed_tools_ends_the_session_as_not_started(
    tmp_path: Path,
) -> None:
    async with bench_with(tmp_path, DONE) as bench:
        done = await bench.exchange(tools=("mcp__sq__no_such_tool",))
        assert done.end is CallEnd.NOT_STARTED
        assert "did not offer its model mcp__sq__no_such_tool" in done.detail
        assert done.cost_usd == 0


async def test_a_share_that_is_used_up_ends_the_exchange_for_its_budget(tmp_path: Path) -> None:
    step = call("Bash", command="true")
    async with bench_with(tmp_path, {"tools": [step]}, {"tools": [step]}, DONE) as bench:
        done = await bench.exchange(cap=0.0005)
        assert done.end is CallEnd.BUDGET
        assert "share of the budget, $0.00, is used up" in done.detail
        assert done.cost_usd == pytest.approx(0.0006)  # one reply more than the cap


async def test_a_call_that_a_command_makes_counts_and_the_difference_is_reported(tmp_path: Path) -> None:
    script = (
        "import json,os,urllib.request as u;"
        "b=json.dumps({'model':'claude-haiku-5-5','max_tokens':9,'messages':[{'role':'user','content':'hi'}]});"
        "r=u.Request(os.environ['ANTHROPIC_BASE_URL']+'/v1/messages',b.encode(),"
        "{'x-api-key':os.environ['ANTHROPIC_API_KEY'],'content-type':'application/json'});u.urlopen(r).read()"
    )
    spends = call("Bash", command=f"{shlex.quote(sys.executable)} -c {shlex.quote(script)}")
    async with bench_with(tmp_path, {"tools": [spends]}, DONE) as bench:
        done = await bench.exchange()
        assert done.end is CallEnd.COMPLETED, (done, bench.heard)
        assert done.cost_usd == pytest.approx(3 * 0.0006)
        [difference] = bench.differences
        assert difference.gateway_usd == pytest.approx(3 * 0.0006)
        assert difference.agent_usd == pytest.approx(2 * 0.0006)
        assert difference.cut == 0


async def test_the_time_that_the_api_names_comes_with_the_failed_exchange(tmp_path: Path) -> None:
    async with bench_with(tmp_path, {"text": "x", "misbehave": {"status": 429, "retry_after": 77}}) as bench:
        done = await bench.exchange()
        assert (done.end, done.api_status) == (CallEnd.API_ERROR, 429)
        assert done.retry_after_s is not None
        assert 60 < done.retry_after_s <= 77


async def test_a_cut_answer_is_a_failed_exchange_and_counts(tmp_path: Path) -> None:
    reply = {"text": "It says some words. " * 40, "misbehave": {"stream": "cut"}}
    async with bench_with(tmp_path, reply) as bench:
        done = await bench.exchange()
        assert done.end is CallEnd.API_ERROR
        assert 0 < done.cost_usd < 0.01


class Recorder:
    """An API that keeps the shape of each request and answers with a report of completion."""

    def __init__(self) -> None:
        self.requests: list[dict[str, list[str]]] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        asked = json.loads(body)
        self.requests.append(_shape({n.decode(): v.decode() for n, v in scope["headers"]}, asked))
        done = wire.ToolBlock(id="toolu_1", name="mcp__sq__task_complete", input={"summary": "Done."})
        usage = {"input_tokens": 1, "output_tokens": 1}
        answer = wire.WireMessage(
            id="msg_1", model=asked["model"], blocks=(done,), stop_reason=StopReason.TOOL_USE, usage=usage
        )
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"".join(wire.events(answer))})


def _shape(headers: dict[str, str], body: dict[str, Any]) -> dict[str, list[str]]:
    """The names of a request's betas, headers and parts."""
    connections_own = {"host", "content-length", "connection", "accept-encoding"}
    return {
        "betas": sorted(headers["anthropic-beta"].split(",")),
        "body": sorted(body),
        "headers": sorted(set(headers) - connections_own),
    }


@pytest.mark.late
@pytest.mark.parametrize("address", ["first party", "other"])
async def test_claude_codes_requests_are_those_that_were_recorded(tmp_path: Path, address: str) -> None:
    """If this fails after an update: compare with requests at Anthropic's own address, then record anew."""
    recorder = Recorder()
    async with desk_with(tmp_path, {}) as desk, listening(recorder) as api:
        upstream = Upstream(base_url=api.base_url, headers=ApiKey(key=KEY).headers)
        async with serve_forward(upstream, run_id="r") as gateway:
            bench = Bench(gateway, desk.spec(base_url="unused"))
            done = await bench.exchange(first_party=address == "first party")
            assert done.end is CallEnd.COMPLETED
    assert recorder.requests == [json.loads(RECORDED.read_text())[address]]


def test_a_connection_by_the_gateway_shows_no_key_and_no_session_gets_it(tmp_path: Path) -> None:
    class NoDoors:
        def admit(self, *_: object) -> Any:
            raise NotImplementedError

    connection = ForwardConnection(
        doors=NoDoors(), key=ApiKey(key=KEY), config_dir=tmp_path, no_proxy="example.org"
    )
    environment = connection.session_environment(CALLER)
    assert KEY not in f"{connection!r} {environment}"
    assert environment["NO_PROXY"] == "example.org,127.0.0.1,localhost"
    # Without it Claude Code asks for an answer of another model after a refusal, which the gateway refuses.
    assert environment["CLAUDE_CODE_DISABLE_REFUSAL_FALLBACK"] == "1"
    assert connection.credentials is Credentials.API_KEY
    access = connection.api_access(CALLER)
    assert access is not None
    assert (access.key, access.base_url) == (KEY, None)
