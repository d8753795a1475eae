"""Credentials and tokens, measured: which requests and hosts get none, and which get their own.

    python -m benchmarks.credentials

The paths of `tests/agents/gateway/hosts/credentials.yaml` are asked for through sq's own proxy, by TLS, at
a registry on this machine that notes what arrives: `credential_paths_refused` of `credential_paths` came
without the credentials or not at all, and all `credential_paths_honest` with them. Each remote of
`tests/orchestrator/hosting/names_on_a_service.yaml` is that of a real repository, in which sq looks for its
token, and for where git would push: `token_hosts_refused` of `token_hosts`. The last line is JSON.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

import anyio
import yaml
from anyio import to_thread

from agents.gateway.hosts.credentials import Credential
from agents.gateway.hosts.proxy import serve_hosts
from agents.gateway.hosts.rules import OpenHosts
from agents.gateway.hosts.way_out import WayOut
from benchmarks.figures import ROOT, of_tests, print_figures
from benchmarks.rehearsed import commit, git
from orchestrator.hosting.handing_over import as_pusher
from orchestrator.hosting.remote import VARIABLES, AccessToken, api_address, find_remote, take_token
from state.errors import GitError, UsageError

PATHS = ROOT / "tests/agents/gateway/hosts/credentials.yaml"
HOSTS = ROOT / "tests/orchestrator/hosting/names_on_a_service.yaml"
VALUE = "Bearer a-token-of-the-user"


async def paths(folder: Path) -> dict[str, int]:
    """Ask for each path, and return how many were asked with and without the credentials."""
    registry, spoken = of_tests("language.registry"), of_tests("language.spoken").spoken
    refused = honest = 0
    rows = yaml.safe_load(PATHS.read_text("utf-8"))["paths"]
    with registry.stand_in(folder) as found:
        for name, row in rows.items():
            scopes = frozenset(row.get("scopes", ()))
            own = Credential(
                authorization=VALUE, path=row["path"], ecosystem=row.get("ecosystem", name), scopes=scopes
            )
            hosts = OpenHosts(registries={(registry.REGISTRY, 443): (own,)})
            socket = folder / f"{len(name)}-{name[:3]}.sock"
            async with serve_hosts(hosts, WayOut(environ=found.environ), socket):
                for path, is_honest in [
                    *((one, True) for one in row["with"]),
                    *((one, False) for one in row["without"]),
                ]:
                    found.asked.clear()
                    await to_thread.run_sync(_asked, spoken, socket, path, registry.REGISTRY)
                    arrived = any(VALUE in str(one.headers) for one in found.asked)
                    refused += not arrived and not is_honest
                    honest += arrived and is_honest
    return {
        "credential_paths": sum(len(row["without"]) for row in rows.values()),
        "credential_paths_refused": refused,
        "credential_paths_honest": honest - sum(len(row["with"]) for row in rows.values()) == 0,
    }


def _asked(spoken: Any, socket: Path, path: str, host: str) -> None:  # noqa: ANN401  of the tests
    outer = f"CONNECT {host}:443 HTTP/1.1\r\nHost: {host}:443\r\n\r\n".encode()
    try:
        spoken(socket, outer, f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode("latin-1", "replace"))
    except OSError:  # the proxy has ended the connection
        return


async def hosts(repository: Path) -> dict[str, int]:
    """Look for a token at each remote, and return how many got none that is not theirs."""
    tables = yaml.safe_load(HOSTS.read_text("utf-8"))
    refused = honest = 0
    git(repository, "remote", "add", "origin", "none")
    for row in tables["token_hosts"]:
        git(repository, "remote", "set-url", "origin", row["url"])
        refused += await _source(repository, row.get("environ", {})) == ""
    for row in tables["own_hosts"]:
        git(repository, "remote", "set-url", "origin", row["url"])
        honest += await _source(repository, row["environ"]) == row["source"]
    git(repository, "remote", "set-url", "origin", "https://github.com/acme/shop")
    for row in tables["elsewhere"]:
        git(repository, "config", row["key"], row["value"])
        refused += await _source(repository, {}) == ""
        git(repository, "config", "--unset", row["key"])
    return {
        "token_hosts": len(tables["token_hosts"]) + len(tables["elsewhere"]),
        "token_hosts_refused": refused,
        "token_hosts_honest": honest == len(tables["own_hosts"]),
    }


async def _source(repository: Path, environ: dict[str, str]) -> str:
    """Return the variable whose token would go out for the remote of a repository, "" for none."""
    found = {"PATH": "", **{name: f"{name}-value" for name in VARIABLES}, **environ}
    try:
        remote = await find_remote(repository, "main", found)
        address, token = (
            api_address(remote.repository.host, found),
            take_token(remote.repository.host, found),
        )
        await as_pusher(repository, remote, AccessToken(value=token.value, source=address))
    except (UsageError, GitError):
        return ""
    return token.source


def main() -> None:
    """Print the figures, and as the last line all of them as JSON."""
    with tempfile.TemporaryDirectory(prefix="sq-") as name:
        folder = Path(name)
        commit(folder / "repository")
        figures = anyio.run(paths, folder) | anyio.run(hosts, folder / "repository")
    print_figures(figures)
    pairs = (("credential_paths", 40), ("token_hosts", 20))
    well = all(figures[name] == figures[f"{name}_refused"] >= least for name, least in pairs)
    if not (well and figures["credential_paths_honest"] and figures["token_hosts_honest"]):
        sys.exit(1)


if __name__ == "__main__":
    main()
