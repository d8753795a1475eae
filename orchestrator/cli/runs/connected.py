"""The way of a run to its model.

The model is asked through the forwarding gateway, with a login, with a key alone, or a rehearsal answers.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from agents.access import Connection, ForwardConnection, RehearsalConnection, find_connection
from agents.api_key import ApiKey
from agents.claude_code.executable import find_cli
from agents.gateway.forward.serve import ForwardGateway, serve_forward
from agents.gateway.forward.upstream import BASE_URL, Traces, Upstream
from agents.gateway.forward.upstream import address_in as base_url_in
from agents.gateway.server import Gateway, serve_scenario
from agents.process.sandbox.needs import GatewaySocket
from orchestrator.cli.runs.request import SCENARIO
from orchestrator.telemetry.conventions import read_headers
from state.journal.events import RunStarted
from state.settings.integrations import Telemetry
from state.settings.records import Settings

LEDGER = "rehearsal.jsonl"
G = TypeVar("G", Gateway, ForwardGateway)


@asynccontextmanager
async def connected(
    started: RunStarted,
    settings: Settings,
    run_folder: Path,
    key: ApiKey | None,
    environ: Mapping[str, str],
    addresses: Mapping[str, str],
) -> AsyncIterator[Connection]:
    """Provide the connection of a run while the block runs.

    With a key it is the forwarding gateway, unless that is off. A rehearsal has its scenario. `addresses` has
    the value of the variable with the headers that a collector of spans wants.
    """
    config_dir = run_folder / "claude"
    config_dir.mkdir(mode=0o700, exist_ok=True)
    if key and settings.gateway and started.rehearsal is None:
        traces = _traces(settings.integrations.telemetry, addresses)
        upstream = Upstream(base_url=base_url_in(environ), headers=key.headers, traces=traces)
        first = upstream.is_first_party if settings.first_party is None else settings.first_party
        async with _served(serve_forward(upstream, run_id=started.run_id)) as (forward, socket):
            yield ForwardConnection(
                doors=forward,
                gateway_socket=socket,
                key=key,
                config_dir=config_dir,
                base_url=environ.get(BASE_URL),
                first_party=first,
                no_proxy=environ.get("NO_PROXY") or environ.get("no_proxy", ""),
            )
        return
    if started.rehearsal is None:
        yield find_connection(key, environ, cli=find_cli(), config_dir=config_dir)
        return
    from agents.gateway.scenario import load_scenario

    scenario = load_scenario(run_folder / SCENARIO)
    serving = serve_scenario(scenario, run_id=started.run_id, ledger=run_folder / LEDGER)
    async with _served(serving) as (gateway, socket):
        yield RehearsalConnection(gateway=gateway, config_dir=config_dir, gateway_socket=socket)


def _traces(telemetry: Telemetry, addresses: Mapping[str, str]) -> Traces | None:
    if not telemetry.otlp:
        return None
    return Traces(url=telemetry.traces_url, headers=read_headers(addresses.get(telemetry.variable, "")))


@asynccontextmanager
async def _served(serving: AbstractAsyncContextManager[G]) -> AsyncIterator[tuple[G, GatewaySocket]]:
    """Serve a gateway, on a unix socket too for sessions without a network."""
    with TemporaryDirectory(prefix="sq-") as sockets:  # of a short name, because a socket's path is limited
        async with serving as gateway:
            path = Path(sockets) / "gateway.sock"
            gateway.listen_on(path)
            yield gateway, GatewaySocket(path=path, port=gateway.port)
