"""The variables of a session with telemetry, and which connection carries its spans."""

from dataclasses import replace
from pathlib import Path

import pytest

from agents.access import Connection, ForwardConnection, KeyConnection, LoginConnection
from agents.api_key import ApiKey
from agents.backend import Platform
from agents.caller import Caller
from agents.claude_code.agent import NAMES, ClaudeCode, SessionTelemetry
from agents.gateway.forward.callers import Callers
from agents.make import make_platform
from agents.process.containment import Containment
from agents.process.sandbox.policy import no_sandbox_policy
from state.ids import conversation_key, traceparent
from state.roles import Role
from state.settings.integrations import Integrations, Telemetry
from state.settings.presets import model_named, usual_settings

CALLER = Caller(role=Role.WORKER, task="a b", attempt=2)
NEVER = ("OTEL_LOG_", "ENABLE_BETA_TRACING", "BETA_TRACING")


class NoDoors:
    def admit(self, *_: object) -> object:
        raise NotImplementedError


def platform_of(
    folder: Path, connection: Connection, telemetry: Telemetry, environ: dict[str, str] | None = None
):
    folder.mkdir(exist_ok=True)
    settings = replace(usual_settings(), integrations=Integrations(telemetry=telemetry))
    return make_platform(
        connection, cli=Path("/bin/true"), run_folder=folder, containment=Containment.SUPERVISOR,
        settings=settings, sandbox_policy=no_sandbox_policy({}), environ=environ or {}, hidden=(),
    )  # fmt: skip


def claude_of(platform: Platform) -> ClaudeCode:
    agent = platform.agents[Role.WORKER]
    assert isinstance(agent, ClaudeCode)
    return agent


def variables_of(tmp_path: Path, connection: Connection, telemetry: Telemetry) -> dict[str, str]:
    platform = platform_of(tmp_path / "r-1", connection, telemetry)
    spec = platform.session(
        CALLER, workspace=tmp_path, system="", signals=(), session_id="s", resume=False, cost_before_usd=0.0
    )
    return {name: value for name, value in claude_of(platform).environment_of(spec).items() if name in NAMES}


def connections(tmp_path: Path) -> dict[str, Connection]:
    key = ApiKey(key="k")
    return {
        "gateway": ForwardConnection(doors=NoDoors(), key=key, config_dir=tmp_path),  # type: ignore[arg-type]
        "key": KeyConnection(key=key, config_dir=tmp_path),
        "login": LoginConnection(),
    }


@pytest.mark.parametrize("connection", ["gateway", "key", "login"])
def test_without_telemetry_a_session_has_none_of_its_variables(tmp_path: Path, connection: str) -> None:
    assert variables_of(tmp_path, connections(tmp_path)[connection], Telemetry()) == {}


@pytest.mark.parametrize(
    ("connection", "headers", "endpoint"),
    [
        ("gateway", "", None),
        ("gateway", "env:H", None),
        ("key", "", "http://collector:4318/v1/traces"),
        ("login", "", "http://collector:4318/v1/traces"),
        ("key", "env:H", "off"),
        ("login", "env:H", "off"),
    ],
)
def test_a_collector_that_wants_headers_is_reached_by_the_gateway_alone(
    tmp_path: Path, connection: str, headers: str, endpoint: str | None
) -> None:
    telemetry = Telemetry(otlp="http://collector:4318", headers=headers)
    found = variables_of(tmp_path, connections(tmp_path)[connection], telemetry)
    if endpoint == "off":
        assert found == {}
        return
    assert found.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") == endpoint  # the gateway's pass adds its own
    assert "OTEL_EXPORTER_OTLP_TRACES_HEADERS" not in found
    assert found["TRACEPARENT"] == traceparent("r-1", conversation_key("worker", "a b", 2))
    assert found["OTEL_RESOURCE_ATTRIBUTES"] == "sq.run.id=r-1,sq.role=worker,sq.task.id=a%20b,sq.attempt=2"
    assert found["CLAUDE_CODE_ENABLE_TELEMETRY"] == "1"


def test_nothing_that_widens_spans_to_words_is_ever_set() -> None:
    assert [name for name in SessionTelemetry(run_id="r").environment(CALLER) if name.startswith(NEVER)] == []


@pytest.mark.parametrize("on", [True, False])
def test_the_users_own_variables_of_telemetry_do_not_reach_a_session(tmp_path: Path, *, on: bool) -> None:
    users = {
        "OTEL_EXPORTER_OTLP_HEADERS": "authorization=secret",
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://elsewhere",
        "OTEL_LOG_USER_PROMPTS": "1",
        "ENABLE_BETA_TRACING_DETAILED": "1",
        "BETA_TRACING_ENDPOINT": "http://elsewhere",
        "CLAUDE_CODE_ENABLE_TELEMETRY": "1",
        "TRACEPARENT": "00-of-the-user",
    }
    telemetry = Telemetry(otlp="http://collector:4318" if on else "")
    platform = platform_of(tmp_path / "r-1", LoginConnection(), telemetry, users)
    kept = {"CLAUDE_CODE_ENABLE_TELEMETRY", "TRACEPARENT"} if on else {"TRACEPARENT"}
    # Those stay that sq itself sets, or that hold nothing.
    assert claude_of(platform).launch.dropped == set(users) - kept


def test_a_pass_tells_a_session_where_its_spans_go_only_if_telemetry_is_on() -> None:
    terms = "http://127.0.0.1:1", ("worker", "t", "1"), model_named("haiku")
    with Callers("r", traces=True).opened(*terms) as session:
        assert session.environment["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] == f"{session.url}/v1/traces"
        assert session.environment["OTEL_EXPORTER_OTLP_TRACES_HEADERS"] == f"x-api-key={session.token}"
    with Callers("r").opened(*terms) as session:
        assert set(session.environment) == {"ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"}
