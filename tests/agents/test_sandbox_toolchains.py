"""Toolchains in a sandbox: each is shown once, and programs that are installed meanwhile are found."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from agents.process.sandbox.bubblewrap import PROGRAM, bubblewrapped
from agents.process.sandbox.choice import Choice, SandboxLevel
from agents.process.sandbox.needs import Needs
from agents.process.sandbox.plan import SandboxPlan
from agents.process.sandbox.policy import SandboxPolicy
from agents.process.sandbox.toolchains import toolchain_mounts

pytestmark = pytest.mark.skipif(not shutil.which(PROGRAM), reason="bubblewrap is not installed")


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder of PATH outside the system's folders and outside the home."""
    folder = tmp_path / "tools"
    folder.mkdir()
    return folder


def plan(tmp_path: Path, path: str) -> SandboxPlan:
    number = len(list(tmp_path.iterdir()))
    home, workspace = tmp_path / "home", tmp_path / f"work-{number}"
    home.mkdir(exist_ok=True)
    workspace.mkdir()
    choice = Choice(level=SandboxLevel.WHOLE, reason="test", program=shutil.which(PROGRAM) or "")
    policy = SandboxPolicy(choice=choice, environ={}, own_processes=True, home=home)
    return policy.plan(Needs(workspace=workspace, scratch=tmp_path / f"scratch-{number}", path=path))


def link(tools: Path, name: str, target: Path) -> None:
    target.parent.mkdir(exist_ok=True)
    target.write_text(f"#!/bin/sh\necho {name}\n")
    target.chmod(0o755)
    (tools / name).symlink_to(target)


def test_what_the_system_folders_hold_is_not_mounted_once_more(tmp_path: Path) -> None:
    made = plan(tmp_path, os.environ["PATH"])
    assert [mount.target for mount in made.mounts if mount.target.is_relative_to("/usr")] == [Path("/usr")]


def test_a_program_that_a_link_on_path_leads_to_runs_inside_also_when_it_comes_later(
    tmp_path: Path, tools: Path
) -> None:
    path = f"{tools}:/usr/bin:/bin"

    def said(name: str) -> str:
        argv = ["sh", "-c", f"PATH={path} {name}"]
        done = subprocess.run(
            bubblewrapped(argv, plan(tmp_path, path)), capture_output=True, text=True, check=False
        )
        return done.stdout

    link(tools, "first", tmp_path / "one" / "first")
    assert said("first") == "first\n"
    assert said("later") == ""
    link(tools, "later", tmp_path / "two" / "later")
    assert said("later") == "later\n"


def test_an_environment_below_a_hidden_checkout_in_a_system_folder_is_shown_by_itself(tmp_path: Path) -> None:
    programs = Path("/usr/lib/python3/dist-packages")
    if not programs.is_dir():
        pytest.skip("no folder here that could stand for a checkout in a system folder")
    mounts = toolchain_mounts(str(programs), home=tmp_path, never=[programs.parent])
    assert [mount.target for mount in mounts] == [programs]


def test_a_cache_that_its_tool_has_to_write_is_shown_to_those_that_may(tmp_path: Path) -> None:
    """uv writes into its cache before it runs anything, and begins an empty one where it sees none."""
    for name in (".cache/uv", ".npm"):
        (tmp_path / "home" / name).mkdir(parents=True)
    argv = ["sh", "-c", 'mkdir -p "$HOME/.cache/uv/new" && ! touch "$HOME/.npm/new"']
    argv = bubblewrapped(argv, sealed := plan(tmp_path, "/usr/bin:/bin"))
    done = subprocess.run(argv, env={"HOME": str(tmp_path / "home")}, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert tmp_path / "home" / ".npm" in {one.target for one in sealed.mounts}
    assert not (tmp_path / "home/.cache/uv/new").exists()


def test_a_shim_finds_the_versions_that_its_manager_keeps_in_the_home(tmp_path: Path, tools: Path) -> None:
    kept = tmp_path / "home" / ".rustup" / "toolchains"
    kept.mkdir(parents=True)
    (kept / "cargo").write_text("#!/bin/sh\necho of the manager\n")
    (kept / "cargo").chmod(0o755)
    (tmp_path / "home" / ".ssh").mkdir()
    (tools / "rustup").write_text(f'#!/bin/sh\nexec "{kept}/$(basename "$0")"\n')
    (tools / "rustup").chmod(0o755)
    (tools / "cargo").symlink_to("rustup")
    path = f"{tools}:/usr/bin:/bin"
    argv = bubblewrapped(["sh", "-c", f"PATH={path} cargo"], plan(tmp_path, path))
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.stdout == "of the manager\n", done.stderr
    shown = {mount.target for mount in plan(tmp_path, path).mounts}
    assert tmp_path / "home" / ".ssh" not in shown


def test_what_is_named_like_credentials_beside_programs_is_empty_inside(tmp_path: Path) -> None:
    home = tmp_path / "home"
    kept = [
        "tools/.netrc",
        ".nvm/versions/v20/etc/npmrc",
        ".nvm/.env",
        ".pub-cache/credentials.json",
        "venv/pip.conf",
    ]
    programs = [
        "tools/program",
        ".nvm/versions/v20/lib/node_modules/auth.js",
        "venv/bin/token.py",
        ".pub-cache/x/key.dart",
    ]
    for name in (*kept, *programs, "venv/pyvenv.cfg"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("mine\n")
    (home / ".nvm/versions/v20/bin").mkdir()
    path = ":".join(
        [*(str(home / one) for one in ("tools", ".nvm/versions/v20/bin", "venv/bin")), "/usr/bin", "/bin"]
    )
    argv = bubblewrapped(["grep", "-rlF", "mine", str(home)], plan(tmp_path, path))
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    found = {line.removeprefix(f"{home}/") for line in done.stdout.splitlines()}
    assert found == {*programs, "venv/pyvenv.cfg"}, done.stderr
