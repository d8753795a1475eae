"""Every test: a home of its own, no credentials, no git configuration but its own."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import left_open
import pytest
from hypothesis import settings

settings.register_profile("untimed", deadline=None)  # machines are noisy
settings.load_profile("untimed")

_CREDENTIALS = ("ANTHROPIC_", "CLAUDE", "SQ_", "AWS_", "XDG_", "GIT_")


def pytest_configure(config: pytest.Config) -> None:
    """No test leaves anything open."""
    if not config.pluginmanager.is_registered(left_open):
        config.pluginmanager.register(left_open)


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty HOME and CLAUDE_CONFIG_DIR; nothing of the real ones is seen."""
    folder = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(_CREDENTIALS):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(folder / ".claude"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return folder


@pytest.fixture
def shell() -> Callable[..., str]:
    """Run a command in a folder and return what it printed; a failure fails the test."""

    def run(folder: Path, *command: str, **environment: str) -> str:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.stderr}{done.stdout}"
        return done.stdout.strip()

    return run


@pytest.fixture
def repository(tmp_path: Path, shell: Callable[..., str]) -> Path:
    """A repository with one empty commit on main, and an identity of its own."""
    folder = tmp_path / "project"
    folder.mkdir()
    shell(folder, "git", "init", "--quiet", "--initial-branch=main")
    shell(folder, "git", "config", "user.name", "Owner")
    shell(folder, "git", "config", "user.email", "owner@localhost")
    shell(folder, "git", "commit", "--quiet", "--allow-empty", "-m", "First commit")
    return folder
