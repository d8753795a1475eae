"""Folders of `--context` in both sandboxes: sessions read them, write nothing there, and commands of sq have none."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from agents.claude_code.executable import Launch
from agents.make import SessionSandboxes
from agents.process.containment import Containment
from agents.process.sandbox.choice import SandboxLevel
from agents.process.sandbox.needs import Needs
from agents.process.sandbox.plan import Access
from agents.process.sandbox.policy import SandboxPolicy, no_sandbox_policy
from agents.session.sandbox import SandboxWalls


@pytest.fixture
def other(tmp_path: Path) -> Path:
    folder = tmp_path / "other"
    folder.mkdir()
    return folder


def sandboxes(level: SandboxLevel, tmp_path: Path, other: Path) -> SessionSandboxes:
    plain = no_sandbox_policy(os.environ)
    sandbox_policy = replace(
        plain, choice=replace(plain.choice, level=level), context=(other,), home=tmp_path / "home"
    )
    launch = Launch(cli=tmp_path, launcher=tmp_path, dropped=frozenset(), folder=tmp_path)
    return SessionSandboxes(sandbox_policy=sandbox_policy, launch=launch, containment=Containment.SUPERVISOR)


def needs(tmp_path: Path) -> Needs:
    workspace = tmp_path / "workspace"
    workspace.mkdir(exist_ok=True)
    return Needs(workspace=workspace, scratch=tmp_path / "scratch", path="")


def reached(sandbox_policy: SandboxPolicy, of: Needs, folder: Path) -> Access | None:
    return sandbox_policy.plan(of).reaches(folder)


def test_in_the_whole_sandbox_a_session_reads_the_folder_and_a_command_of_sq_does_not_see_it(
    tmp_path: Path, other: Path
) -> None:
    walls = sandboxes(SandboxLevel.WHOLE, tmp_path, other).walls(needs(tmp_path))
    assert isinstance(walls, SandboxWalls)
    assert reached(walls.sandbox_policy, walls.needs, other / "api.py") is Access.READ
    assert reached(walls.sandbox_policy, needs(tmp_path), other / "api.py") is None


def test_in_claude_codes_own_sandbox_commands_read_the_folder_and_may_not_write_there(
    tmp_path: Path, other: Path
) -> None:
    held = sandboxes(SandboxLevel.COMMANDS, tmp_path, other).of_commands(tmp_path, {}, None)
    assert held is not None
    assert other in held.readable
    assert other in held.unwritable
    assert other not in held.writable
