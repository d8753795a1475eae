"""The hosts and services that the sandboxes of a run reach."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from agents.gateway.hosts.proxy import serve_hosts, serve_service
from agents.gateway.hosts.rules import OpenHosts, address_in
from agents.gateway.hosts.way_out import CERTIFICATES, WayOut
from agents.process.sandbox.needs import GatewaySocket, Outside
from agents.process.sandbox.policy import SandboxPolicy
from orchestrator.cli.runs.notes import has_other_proxy
from orchestrator.project.readiness.registries import Registries, registries_of
from state.settings.kinds import REGISTRIES
from state.settings.records import SandboxSettings

_PORT = 17_381  # of the proxy on a sandbox's loopback
_LOOPBACK = "127.0.0.1,localhost,::1"


@asynccontextmanager
async def reaching_out(
    boundary: SandboxPolicy,
    registries: tuple[str, ...],
    settings: SandboxSettings,
    project: Path,
    run_folder: Path,
) -> AsyncIterator[SandboxPolicy]:
    """Provide the boundary with the hosts and services that are open, while the block runs."""
    environ = boundary.environ
    named = () if has_other_proxy(environ) else (one for one in settings.hosts if one != REGISTRIES)
    found = registries_of(project, home=boundary.home, environ=environ)
    hosts = OpenHosts(
        registries={address_in(one): found.hosts.get(one, "") for one in registries},
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
        **dict.fromkeys(names, f"http://127.0.0.1:{_PORT}"),
        **dict.fromkeys(("NO_PROXY", "no_proxy"), _LOOPBACK),
        **dict.fromkeys(CERTIFICATES, str(certificates)),
    }
