"""Hosts: acts against sq's proxy from inside a sandbox, and dependencies that a Worker adds in three languages."""

import json
import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hostile_runs import call, callers_of, make_repository, run_sq, says, write
from language.registry import ACTOR, PACKAGE, REGISTRY, acts, acts_for_actor, many, reached_beside, stand_in

from agents.process.containment import detect_containment
from agents.process.sandbox.choice import Choice, SandboxLevel, why_not_whole
from agents.process.sandbox.needs import Needs, Network
from agents.process.sandbox.policy import SandboxPolicy
from agents.process.tree import run_command
from orchestrator.cli.runs.opened_hosts import reaching_out
from orchestrator.project.readiness.registries import registry_rows
from state.journal.events import DependenciesAdded, HostsUsed, WorkspaceSetUp
from state.journal.store import JournalReader
from state.paths import StateFolder
from state.settings.records import SandboxSettings

pytestmark = [pytest.mark.hostile, pytest.mark.timeout(600)]
# By ecosystem: its program, the files of the base, what the Worker runs, and a check that needs the package.
HONEST = {
    "python": (
        "python3",
        {"requirements.txt": "# none\n"},
        f"echo '{PACKAGE}==1.0' >> requirements.txt && python3 -m venv .venv && .venv/bin/python -m pip install -r requirements.txt",
        f".venv/bin/python -c 'import {PACKAGE}'",
    ),
    "node": (
        "npm",
        {"package.json": json.dumps({"name": "root", "version": "1.0.0"})},
        f"npm install {PACKAGE}@1.0.0",
        f"node -e 'require(\"{PACKAGE}\")'",
    ),
    "rust": (
        "cargo",
        {
            "Cargo.toml": '[package]\nname = "shop"\nversion = "1.0.0"\nedition = "2021"\n',
            "Cargo.lock": 'version = 3\n\n[[package]]\nname = "shop"\nversion = "1.0.0"\n',
            "src/lib.rs": "",
        },
        f"cargo add {PACKAGE}@1.0.0 && cargo check",
        "cargo check --offline",
    ),
}


async def test_no_act_from_a_sandbox_reaches_anything_beside_reading(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    record_property("outside_acts", len(acts()))
    containment = detect_containment()
    if why := why_not_whole(containment, os.environ):
        pytest.skip(why)
    work, run_folder = tmp_path / "work", tmp_path / "run"
    work.mkdir()
    run_folder.mkdir()
    (work / "act.py").write_text(ACTOR)
    (work / "acts.json").write_text(acts_for_actor())
    with stand_in(tmp_path) as found:
        policy = SandboxPolicy(
            choice=Choice(level=SandboxLevel.WHOLE, program=shutil.which("bwrap") or ""),
            environ={**os.environ, **found.environ},
            own_processes=True,
            home=tmp_path / "home",
            programs=(Path(sys.executable),),
        )
        (tmp_path / "home").mkdir()
        async with reaching_out(policy, (REGISTRY,), SandboxSettings(), work, run_folder) as sandbox_policy:
            assert sandbox_policy.outside.hosts is not None
            needs = Needs(
                workspace=work, scratch=tmp_path / "s", path=os.environ["PATH"], network=Network.HOSTS
            )
            port = str(sandbox_policy.outside.hosts.port)
            done = await run_command(
                [sys.executable, "act.py", "acts.json", port],
                cwd=work,
                env=os.environ,
                deadline_s=300,
                containment=containment,
                sandbox=sandbox_policy.plan(needs),
            )
    assert done.exit_code == 0, done.output
    answered = int(done.output.split()[-1])
    assert answered > len(acts()) // 2, "the acts came to the proxy"
    assert reached_beside(found) == []


@pytest.mark.parametrize("ecosystem", HONEST)
def test_a_worker_adds_a_dependency_and_the_checks_have_it_without_a_network(
    ecosystem: str, tmp_path: Path
) -> None:
    program, files, adds, check = HONEST[ecosystem]
    if not shutil.which(program):
        pytest.skip(f"{program} is not installed")
    repository = make_repository(tmp_path / "project")
    for name, text in {**files, ".gitignore": ".env\nnode_modules/\n.venv/\ntarget/\n"}.items():
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(text)
    for command in (["add", "."], ["commit", "--quiet", "-m", "Packages"]):
        subprocess.run(["git", "-C", str(repository), *command], check=True)
    home = tmp_path / "home"
    home.mkdir()
    users = Path(pwd.getpwuid(os.geteuid()).pw_dir)
    work = [
        says(call("Bash", command=f"{{ {adds}; }} > added.txt 2>&1 && echo fine >> added.txt", timeout=200_000)),
        says(call("Bash", command=f"curl -sS https://other.example.test/ >> added.txt 2>&1; {check} && echo works >> added.txt")),
    ]  # fmt: skip
    with stand_in(tmp_path) as found:
        done = run_sq(
            tmp_path,
            callers_of(*work),
            home=home,
            sandbox="whole",
            verify=(f"test ! -e added.txt || {{ cat added.txt; {check}; }}",),
            RUSTUP_HOME=os.environ.get("RUSTUP_HOME", str(users / ".rustup")),
            **found.environ,
        )
    stored = _stored(repository)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}\n{_told(stored)}"
    added = _show(repository, "added.txt")
    assert "fine" in added, added
    assert "works" in added, added
    used = [one for event in stored if isinstance(event, HostsUsed) for one in event.hosts]
    assert [one for one in used if one.received]
    assert [one.host for one in used if one.refusals] == ["other.example.test:443"]
    assert [one for one in found.connected if one.startswith("other")] == []
    assert "other.example.test:443: 1 request(s) refused" in done.stdout
    report = (StateFolder(repository / ".sq").find(None) / "report.html").read_text()
    assert "licence MIT" in report
    assert "1 request(s) refused" in report
    (added_packages,) = [event for event in stored if isinstance(event, DependenciesAdded)]
    assert [(one.name, one.version[:3], one.licence) for one in added_packages.packages] == [
        (PACKAGE, "1.0", "MIT")
    ]


# By tool: its program, the row of its registries, the files of the base without a lock file, and what makes it.
BULK = {
    "uv": (
        "uv",
        "python",
        {
            "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\nrequires-python = ">=3.11"\ndependencies = '
            + json.dumps([f"bulk-{number}==1.0" for number in range(40)])
            + "\n"
        },
        ["uv", "lock"],
        ".venv/bin/python -c 'import bulk_39.m99'",
    ),
    "npm": (
        "npm",
        "node",
        {
            "package.json": json.dumps({
                "name": "shop", "version": "1.0.0", "dependencies": {f"bulk-{number}": "1.0.0" for number in range(40)},
            })
        },
        ["npm", "install", "--package-lock-only", "--no-audit", "--no-fund"],
        "node -e 'require(\"bulk-39/m99\")'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("tool", BULK)
def test_the_set_up_of_a_second_worktree_takes_a_tenth_at_most_and_downloads_nothing(
    tool: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    program, row, files, lock, check = BULK[tool]
    if not shutil.which(program):
        pytest.skip(f"{program} is not installed")
    repository, home = make_repository(tmp_path / "project"), tmp_path / "home"
    home.mkdir()
    for name, text in {**files, ".gitignore": ".env\nnode_modules/\n.venv/\n"}.items():
        (repository / name).write_text(text)
    with stand_in(tmp_path) as found:
        found.more = many(registry_rows().ecosystems[row].hosts[0], 40, 100)
        users = {**found.environ, "npm_config_cafile": str(found.authority)}
        variables = {**os.environ, **users, "HOME": str(home)}
        cold = {"UV_CACHE_DIR": str(tmp_path / "cold"), "npm_config_cache": str(tmp_path / "cold")}
        subprocess.run(lock, cwd=repository, env={**variables, **cold}, check=True, timeout=60)
        for command in (["add", "."], ["commit", "--quiet", "-m", "Packages"]):
            subprocess.run(["git", "-C", str(repository), *command], check=True)
        found.pause_s = 0.05
        found.asked.clear()
        work = [write("notes.txt", "A line of text.\n")]
        done = run_sq(tmp_path, callers_of(*work), home=home, sandbox="whole", verify=(check,), **users)
        downloads = [one.path for one in found.asked]
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    with JournalReader(StateFolder(repository / ".sq").find(None)) as journal:
        stored = journal.read()
    told = [
        ((one.at - before.at).total_seconds(), one.event)
        for before, one in pairwise(stored)
        if isinstance(one.event, WorkspaceSetUp)
    ]
    (first, _), *others = told
    assert others
    files_of = [one for one in downloads if one.endswith((".whl", ".tgz"))]
    share = max(seconds for seconds, _ in others) / first
    record_property("second_set_up_share", round(share, 3))
    assert len(files_of) == len(set(files_of))
    assert share <= 0.1, told


def _stored(repository: Path) -> list[Any]:
    with JournalReader(StateFolder(repository / ".sq").find(None)) as journal:
        return [one.event for one in journal.read()]


def _told(stored: list[Any]) -> str:
    return "\n".join(str(one) for event in stored if isinstance(event, WorkspaceSetUp) for one in event.runs)


def _show(repository: Path, name: str) -> str:
    return subprocess.run(
        ["git", "-C", str(repository), "show", f"main:{name}"], capture_output=True, text=True, check=False
    ).stdout
