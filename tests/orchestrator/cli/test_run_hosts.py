"""Hosts and services of a run: the settings, the registries of a project, and what a sandbox then reaches."""

import os
import shutil
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from language.registry import PACKAGE, REGISTRY, stand_in

from agents.process.containment import detect_containment
from agents.process.sandbox.choice import Choice, SandboxLevel, why_not_whole
from agents.process.sandbox.policy import SandboxPolicy
from orchestrator.cli.runs.notes import host_lines
from orchestrator.cli.runs.opened_hosts import reaching_out, registries_to_open, signed_in_at
from orchestrator.project.readiness.registries import Registries, registries_of, registry_rows
from orchestrator.run.commands import ProjectCommands
from orchestrator.run.ports import Reach
from state.errors import UsageError
from state.settings.config import load_config
from state.settings.presets import usual_settings
from state.settings.records import SandboxHeld, SandboxSettings

WHOLE = SandboxHeld(level="whole", commands=True)


def settings_in(folder: Path, text: str) -> SandboxSettings:
    (folder / "sq.toml").write_text(f"[sandbox]\n{text}\n")
    return load_config(folder, {}, rules=()).settings.sandbox


def project(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    return folder


def test_the_setting_says_which_hosts_are_open_and_the_first_lines_name_them(tmp_path: Path) -> None:
    project(tmp_path, package__json="{}")
    node = registry_rows().ecosystems["node"].hosts
    default = SandboxSettings()
    opened = registries_to_open(tmp_path, default, WHOLE, {})
    assert opened == node
    (line,) = host_lines(opened, default, WHOLE, {})
    assert (
        line
        == f"hosts: agents and downloads read packages from {', '.join(node)}, and nothing else goes there"
    )
    assert settings_in(tmp_path, 'hosts = "registries"') == default
    none = settings_in(tmp_path, "hosts = []")
    assert registries_to_open(tmp_path, none, WHOLE, {}) == ()
    assert list(host_lines((), none, WHOLE, {})) == []
    both = settings_in(tmp_path, 'hosts = ["registries", "Nexus.example:8443"]')
    assert registries_to_open(tmp_path, both, WHOLE, {}) == node
    assert "nexus.example:8443" in list(host_lines(node, both, WHOLE, {}))[1]
    assert "also out" in list(host_lines(node, both, WHOLE, {}))[1]
    off = SandboxHeld(level="off", commands=False)
    assert registries_to_open(tmp_path, both, off, {}) == ()
    socks = {"HTTPS_PROXY": "socks5://127.0.0.1:1"}
    assert registries_to_open(tmp_path, default, WHOLE, socks) == ()
    assert "none, because" in next(host_lines((), default, WHOLE, socks))


@pytest.mark.parametrize(
    "text",
    ['hosts = "all"', 'hosts = ["https://a.example/"]', 'hosts = ["*.example.com"]', "hosts = [3]", 'hosts = ["a b"]',
     'services = ["127.0.0.1"]', 'services = ["a:70000"]', 'services = ["a:5432", "b:5432"]', 'services = "a:1"'],
)  # fmt: skip
def test_a_host_or_service_that_is_none_is_said_with_what_is_needed(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match=r"needs .*(HOST:PORT).*; found"):
        settings_in(tmp_path, text)


def test_the_registries_of_a_project_are_those_that_its_files_and_its_user_name(tmp_path: Path) -> None:
    folder, home = tmp_path / "project", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    project(
        folder,
        **{
            "requirements.txt": "--extra-index-url https://extra.example.test/simple\nx\n",
            "uv.lock": '[[package]]\nname = "a"\nsource = { registry = "https://uv.example.test:8443/simple" }\n',
            "package.json": '{"homepage": "https://home.example.test", "funding": {"url": "https://fund.example.test"}}',
            "package-lock.json": '{"resolved": "https://npm.example.test/a.tgz", "url": "https://fund.example.test"}',
            ".npmrc": "registry=https://user:word@npm2.example.test/\n",
            "Cargo.lock": 'source = "registry+https://github.com/somebody/index"\n',
            "Gemfile": "source 'https://127.0.0.1/'\nsource 'https://2130706433/'\nsource 'https://localhost/'\n"
            "source 'https://127.0.0.0x1/'\nsource 'https://a.internal/'\nsource 'http://plain.example.test/'\n",
        },
    )
    (home / ".netrc").write_text("machine extra.example.test login me password word\n")
    (home / ".npmrc").write_text("//npm.example.test/:_authToken=token-of-mine\n")
    environ = {"PIP_INDEX_URL": "https://me:word@pip.example.test/simple"}
    found = registries_of(folder, home=home, environ=environ)
    usual = {
        host for name in ("python", "node", "rust", "ruby") for host in registry_rows().ecosystems[name].hosts
    }
    others = {"extra", "npm", "npm2", "pip"}
    assert {*found.hosts} - usual == {f"{one}.example.test" for one in others} | {"uv.example.test:8443"}
    assert _given(found, "extra.example.test") == [("/simple", "Basic bWU6d29yZA==")]
    assert _given(found, "npm.example.test") == [("/a.tgz", "Bearer token-of-mine")]
    assert _given(found, "npm2.example.test") == [("/", "Basic dXNlcjp3b3Jk")]
    assert _given(found, "pip.example.test") == [("/simple", "Basic bWU6d29yZA==")]
    assert _given(found, "uv.example.test:8443") == []
    assert found.variables["PIP_INDEX_URL"] == "https://pip.example.test/simple"
    assert registries_of(tmp_path / "none", home=home, environ=environ).hosts == {}, (
        "a folder without a project has none"
    )


def _given(found: Registries, host: str) -> list[tuple[str, str]]:
    return [(one.path, one.authorization) for one in found.hosts[host]]


SCOPED = {
    "package.json": '{"dependencies": {"@acme/one": "1", "x": "1", "@two/x": "1"}}',
    ".npmrc": "@three:registry=https://npm.example.test/three/\nregistry=https://npm.example.test/all/\n",
}


def test_npms_tokens_go_to_scopes_and_paths_that_are_named_and_to_no_usual_host_without_a_scope(
    tmp_path: Path,
) -> None:
    folder, home = tmp_path / "project", tmp_path / "home"
    for one in (folder, home):
        one.mkdir()
    project(folder, **SCOPED)
    usual = registry_rows().ecosystems["node"].hosts[0]
    lines = [
        f"//{usual}/:_authToken=usual-token",
        "//npm.example.test/:_authToken=wide-token",
        "//npm.example.test/three/:_authToken=three-token",
    ]
    (home / ".npmrc").write_text("\n".join(lines))
    found = registries_of(folder, home=home, environ={})
    held = {"@acme/one": True, "@two/x": True, "@other/x": False, "x": False, "-/npm/v1/tokens": False}
    assert {path: any(one.fits(f"/{path}") for one in found.hosts[usual]) for path in held} == held
    asked = {
        path: [one.authorization for one in found.hosts["npm.example.test"] if one.fits(path)]
        for path in (
            "/three/@three/x",
            "/three/@acme/x",
            "/three/x",
            "/all/@acme/x",
            "/all/x",
            "/all/@other/x",
            "/x",
        )
    }
    assert asked == {
        "/three/@three/x": ["Bearer three-token"], "/three/@acme/x": [], "/three/x": [], "/all/@acme/x": ["Bearer wide-token"],
        "/all/x": ["Bearer wide-token"], "/all/@other/x": [], "/x": [],
    }  # fmt: skip


def test_many_files_of_a_lock_file_are_asked_for_each_and_bounded(tmp_path: Path) -> None:
    folder, home = tmp_path / "project", tmp_path / "home"
    for one in (folder, home):
        one.mkdir()
    files = "".join(f'"resolved": "https://npm.example.test/{number}.tgz"\n' for number in range(1_000))
    project(folder, **{"package.json": "{}", "package-lock.json": files})
    (home / ".npmrc").write_text("//npm.example.test/:_authToken=mine\n")
    (*_, last) = held = registries_of(folder, home=home, environ={}).hosts["npm.example.test"]
    assert len(held) == 200
    assert not last.fits("/-/whoami")


def test_the_first_lines_name_registries_that_are_asked_with_credentials_and_the_setting_forbids_it(
    tmp_path: Path,
) -> None:
    folder, home = tmp_path / "project", tmp_path / "home"
    for one in (folder, home):
        one.mkdir()
    project(folder, **SCOPED)
    (home / ".npmrc").write_text("//npm.example.test/all/:_authToken=wide-token\n")
    environ = {"HOME": str(home)}
    opened = registries_to_open(folder, SandboxSettings(), WHOLE, environ)
    signed_in = signed_in_at(folder, SandboxSettings(), environ)
    assert signed_in == ("npm.example.test/all/ (@acme @three @two)",)
    line = list(host_lines(opened, SandboxSettings(), WHOLE, environ, signed_in))[1]
    assert "asks npm.example.test/all/ (@acme @three @two) with your credentials" in line
    for text in ('hosts = "anonymous-registries"', 'hosts = ["anonymous-registries", "nexus.example:8443"]'):
        forbidden = settings_in(folder, text)
        assert registries_to_open(folder, forbidden, WHOLE, environ) == opened
        assert signed_in_at(folder, forbidden, environ) == ()
    found = registries_of(folder, home=home, environ=environ)
    assert len(found.credentials("npm.example.test", signed_in)) == 1
    project(
        folder, **{".npmrc": "registry=https://npm.example.test/\n"}
    )  # by an agent, before a run is resumed
    (home / ".npmrc").write_text("//npm.example.test/:_authToken=wide-token\n")
    assert registries_of(folder, home=home, environ=environ).credentials("npm.example.test", signed_in) == ()


def _answers(server: socket.socket, reached: list[str]) -> None:
    while True:
        try:
            client, _ = server.accept()
        except OSError:
            return
        reached.append("reached")
        with client:
            client.sendall(b"served")


@contextmanager
def service() -> Iterator[tuple[int, list[str]]]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        reached: list[str] = []
        thread = threading.Thread(target=_answers, args=(server, reached), daemon=True)
        thread.start()
        yield server.getsockname()[1], reached
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


def commands_in(root: Path, sandbox_policy: SandboxPolicy) -> ProjectCommands:
    return ProjectCommands(
        environ=os.environ,
        folder=root / "run",
        settings=usual_settings("medium", ()),
        containment=detect_containment(),
        sandbox_policy=sandbox_policy,
    )


@pytest.fixture
def policy(tmp_path: Path, home: Path) -> SandboxPolicy:
    if why := why_not_whole(detect_containment(), os.environ):
        pytest.skip(why)
    for name in ("run", "work"):
        (tmp_path / name).mkdir()
    return SandboxPolicy(
        choice=Choice(level=SandboxLevel.WHOLE, program=shutil.which("bwrap") or ""),
        environ=os.environ,
        own_processes=True,
        home=home,
        programs=(Path(sys.executable),),
    )


async def test_a_service_is_reached_at_its_port_by_verification_and_not_by_downloads(
    tmp_path: Path, policy: SandboxPolicy
) -> None:
    with service() as (port, reached):
        settings = SandboxSettings(services=(f"127.0.0.1:{port}",), hosts=())
        ask = (
            f"python3 -c \"import socket; print(socket.create_connection(('127.0.0.1', {port}), 3).recv(9))\""
        )
        async with reaching_out(policy, (), settings, tmp_path / "work", tmp_path / "run") as sandbox_policy:
            commands = commands_in(tmp_path, sandbox_policy)
            sealed = await commands.contained(ask, tmp_path / "work")
            downloads = await commands.contained(ask, tmp_path / "work", reach=Reach.DOWNLOADS)
    assert "served" in sealed.output_tail, sealed
    assert len(reached) == 1, "waiting for the relay is no connection"
    assert downloads.exit_code == 1
    assert "sandbox.hosts" in downloads.walled


async def test_downloads_for_an_agents_files_reach_the_open_hosts_and_no_service_of_the_machine(
    tmp_path: Path, policy: SandboxPolicy
) -> None:
    """As pip does it by a lock file, and as a hostile lock file wants it."""
    with service() as (port, reached), stand_in(tmp_path) as found:
        user = SandboxPolicy(
            choice=policy.choice, environ={**os.environ, **found.environ}, own_processes=True, home=policy.home,
            programs=policy.programs,
        )  # fmt: skip
        async with reaching_out(
            user, (REGISTRY,), SandboxSettings(), tmp_path / "work", tmp_path / "run"
        ) as sandbox_policy:
            commands = commands_in(tmp_path, sandbox_policy)
            download = f"python3 -m pip download --retries 0 --no-deps -d . {PACKAGE} --index-url "
            good, inner, sealed = [
                await commands.contained(f"{download}{url}", tmp_path / "work", reach=reach)
                for url, reach in (
                    (f"https://{REGISTRY}/simple", Reach.DOWNLOADS),
                    (f"http://127.0.0.1:{port}/simple", Reach.DOWNLOADS),
                    (f"https://{REGISTRY}/simple", Reach.SEALED),
                )
            ]
    assert reached == []
    assert good.exit_code == 0, good.output_tail
    assert list((tmp_path / "work").glob(f"{PACKAGE}-*.whl"))
    assert inner.exit_code != 0
    assert sealed.exit_code != 0
    assert {one.host for one in commands.hosts_used()} == {f"{REGISTRY}:443"}
