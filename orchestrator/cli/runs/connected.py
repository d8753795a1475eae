"""The ways of a run out of this process: to its model, and for its sandboxes to hosts and services.

The model is asked through the forwarding gateway, with a login, with a key alone, or a rehearsal answers.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from agents.access import Connection, ForwardConnection, RehearsalConnection, find_connection
from agents.api_key import ApiKey
from agents.claude_code.executable import find_cli
from agents.gateway.forward.serve import ForwardGateway, serve_forward
from agents.gateway.forward.upstream import BASE_URL, Traces, Upstream
from agents.gateway.forward.upstream import address_in as base_url_in
from agents.gateway.hosts.proxy import serve_hosts, serve_service
from agents.gateway.hosts.rules import OpenHosts, address_in
from agents.gateway.hosts.way_out import CERTIFICATES, WayOut
from agents.gateway.server import Gateway, serve_scenario
from agents.process.sandbox.needs import GatewaySocket, Outside
from agents.process.sandbox.policy import SandboxPolicy
from orchestrator.cli.runs.notes import has_other_proxy
from orchestrator.cli.runs.request import SCENARIO
from orchestrator.project.readiness.registries import Registries, registries_of
from orchestrator.telemetry.conventions import read_headers
from state.journal.events import RunStarted
from state.loopback import LOOPBACK, NAMES
from state.settings.integrations import Telemetry
from state.settings.records import SandboxSettings, Settings

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
        traces = _traces(settings.outward.telemetry, addresses)
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


_PORT = 17_381  # of the proxy on a sandbox's loopback


@asynccontextmanager
async def reaching_out(
    boundary: SandboxPolicy,
    registries: tuple[str, ...],
    settings: SandboxSettings,
    project: Path,
    run_folder: Path,
    signed_in: tuple[str, ...] | None = None,
) -> AsyncIterator[SandboxPolicy]:
    """Provide the boundary with the hosts and services that are open, while the block runs.

    `signed_in`: the addresses of registries that are asked with credentials, as the run was told them when it
    began. None: all that the project's files name now.
    """
    environ = boundary.environ
    named = () if has_other_proxy(environ) else settings.named_hosts
    found = registries_of(project, home=boundary.home, environ=environ)
    hosts = OpenHosts(
        registries={address_in(one): found.credentials(one, signed_in) for one in registries},
        named=frozenset(address_in(one) for one in named),
    )
    async with AsyncExitStack() as stack:
        sockets = Path(stack.enter_context(TemporaryDirectory(prefix="sq-")))  # of a short name
        services = []
        for number, service in enumerate(settings.services if boundary.around_commands else ()):
            address, path = address_in(service), sockets / f"{number}.sock"
            await stack.enter_async_context(serve_service(address, path))
            services.append(GatewaySocket(path=path, port=address[1]))
        outside = Outside(services=tuple(services))
        if boundary.around_commands and (hosts.registries or hosts.named):
            path, file = sockets / "hosts.sock", run_folder / "certificates.pem"
            proxy = await stack.enter_async_context(serve_hosts(hosts, WayOut(environ=environ), path))
            file.write_text(proxy.certificates)
            outside = replace(
                outside,
                hosts=GatewaySocket(path=path, port=_PORT),
                variables=_variables(file, found),
                of_sessions=found.caches,
                seeds=found.seeds,
                readable=[file],
                take_uses=proxy.take_uses,
                read=proxy.read,
            )
        yield replace(boundary, outside=outside)


def _variables(certificates: Path, found: Registries) -> dict[str, str]:
    """Return the variables that lead tools to the proxy, which they trust."""
    proxies = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY")
    names = [*proxies, *(name.lower() for name in proxies)]
    return {
        **found.variables,
        **dict.fromkeys(names, f"http://{LOOPBACK}:{_PORT}"),
        **dict.fromkeys(("NO_PROXY", "no_proxy"), ",".join(sorted(NAMES))),
        **dict.fromkeys(CERTIFICATES, str(certificates)),
    }
