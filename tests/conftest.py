"""Every test: a home of its own, no credentials, no git configuration but its own."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import left_open
import pytest
from hypothesis import settings

# Each worker collects all tests, which takes a third of the time with compiled ones.
sys.dont_write_bytecode, sys.pycache_prefix = False, str(Path(__file__).parents[1] / ".pytest_cache/bytecode")

settings.register_profile("untimed", deadline=None)  # machines are noisy
settings.load_profile("untimed")

_CREDENTIALS = ("ANTHROPIC_", "CLAUDE", "SQ_", "AWS_", "XDG_", "GIT_")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--sixth`: every sixth of the chosen tests, others for another commit."""
    parser.addoption("--sixth", action="store_true", help="every sixth test, others for another commit")


def pytest_configure(config: pytest.Config) -> None:
    """No test leaves anything open."""
    if not config.pluginmanager.is_registered(left_open):
        config.pluginmanager.register(left_open)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with the tests of the checkout, which take longest: what begins last has one processor alone."""
    items.sort(key=lambda item: item.path.parent != Path(__file__).parent)
    if config.getoption("--sixth"):
        asked = ["git", "-C", str(config.rootpath), "rev-parse", "HEAD"]
        commit = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
        others = [item for place, item in enumerate(items) if place % 6 != int(commit, 16) % 6]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if item not in others]


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


@pytest.fixture(scope="session", params=[1_000, pytest.param(10_000, marks=pytest.mark.slow)])
def hostile(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """Texts that would act where they are not shown as text: each fragment alone, then mixtures."""
    from language.hostile_texts import hostile_texts

    return hostile_texts(request.param)


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
def repository(tmp_path: Path, first_commit: Path) -> Path:
    """A repository with one empty commit on main, and an identity of its own."""
    return Path(shutil.copytree(first_commit, tmp_path / "project"))


@pytest.fixture(scope="session")
def first_commit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository that `repository` is a copy of, which takes git no processes."""
    folder = tmp_path_factory.mktemp("first-commit")
    environ = {name: value for name, value in os.environ.items() if not name.startswith(_CREDENTIALS)}
    environ |= {"HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    for arguments in (
        ("init", "--quiet", "--initial-branch=main"),
        ("config", "user.name", "Owner"),
        ("config", "user.email", "owner@localhost"),
        ("commit", "--quiet", "--allow-empty", "-m", "First commit"),
    ):
        subprocess.run(["git", "-C", str(folder), *arguments], env=environ, check=True)
    return folder
