"""The hosts, registries and services that a run opens to its sandboxes."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from agents.gateway.hosts.proxy import serve_hosts, serve_service
from agents.gateway.hosts.rules import OpenHosts, address_in
from agents.gateway.hosts.way_out import CERTIFICATES, WayOut, proxy_in
from agents.process.sandbox.needs import GatewaySocket, Outside
from agents.process.sandbox.policy import SandboxPolicy
from orchestrator.project.readiness.registries import Registries, registries_of
from state.loopback import LOOPBACK, NAMES
from state.settings.kinds import ANONYMOUS
from state.settings.records import SandboxHeld, SandboxSettings


def registries_to_open(
    folder: Path, settings: SandboxSettings, held: SandboxHeld, environ: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the registries that a run opens: those of its project, unless the settings name others alone."""
    if settings.named_hosts == settings.hosts or not held.commands or has_other_proxy(environ):
        return ()
    from orchestrator.project.readiness.registries import registries_of

    return tuple(registries_of(folder, home=_home(environ), environ=environ).hosts)


def signed_in_at(folder: Path, settings: SandboxSettings, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the addresses of registries that a run asks with the user's credentials."""
    if ANONYMOUS in settings.hosts:
        return ()
    from orchestrator.project.readiness.registries import registries_of

    return registries_of(folder, home=_home(environ), environ=environ).signed_in


def has_other_proxy(environ: Mapping[str, str]) -> bool:
    """Whether the user's proxy is of a kind that sq cannot ask through."""
    proxy = proxy_in(environ)
    return bool(proxy) and not proxy.startswith(("http://", "https://"))


def _home(environ: Mapping[str, str]) -> Path:
    return Path(environ.get("HOME") or Path.home())


_PORT = 17_381  # of the proxy on a sandbox's loopback


@asynccontextmanager
async def reaching_out(
    sandbox_policy: SandboxPolicy,
    registries: tuple[str, ...],
    settings: SandboxSettings,
    project: Path,
    run_folder: Path,
    signed_in: tuple[str, ...] | None = None,
) -> AsyncIterator[SandboxPolicy]:
    """Provide the sandbox policy with the hosts and services that are open, while the block runs.

    `signed_in`: the addresses of registries that are asked with credentials, as the run was told them when it
    began. None: all that the project's files name now.
    """
    environ = sandbox_policy.environ
    named = () if has_other_proxy(environ) else settings.named_hosts
    found = registries_of(project, home=sandbox_policy.home, environ=environ)
    hosts = OpenHosts(
        registries={address_in(one): found.credentials(one, signed_in) for one in registries},
        named=frozenset(address_in(one) for one in named),
    )
    async with AsyncExitStack() as stack:
        sockets = Path(stack.enter_context(TemporaryDirectory(prefix="sq-")))  # of a short name
        services = []
        for number, service in enumerate(settings.services if sandbox_policy.around_commands else ()):
            address, path = address_in(service), sockets / f"{number}.sock"
            await stack.enter_async_context(serve_service(address, path))
            services.append(GatewaySocket(path=path, port=address[1]))
        outside = Outside(services=tuple(services))
        if sandbox_policy.around_commands and (hosts.registries or hosts.named):
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
        yield replace(sandbox_policy, outside=outside)


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
