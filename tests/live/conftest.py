"""What the live tests share: access to a model, read before each test's environment is emptied."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from language.programs import ran

from orchestrator.cli.runs import run as commands


class Unshown(str):
    """A text that pytest does not print when a test fails: it prints the arguments of each test."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "(not shown)"


_KEY = "ANTHROPIC_API_KEY"
_ACCESS = {name: Unshown(os.environ[name]) for name in (_KEY, "ANTHROPIC_BASE_URL") if os.environ.get(name)}
_WANTED = os.environ.get("SQ_LIVE") == "1"
_HOW = "live tests ask a real model and cost money, see tests/live/README.md"
_SQ = [sys.executable, "-I", "-m", "orchestrator.cli"]
_LONGEST_S = 1500  # of one command; a run with a real model takes minutes

Sq = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(autouse=True)
def access() -> Mapping[str, str]:
    """The variables that reach the model. The test's own environment does not hold them."""
    if not _WANTED:
        pytest.skip(f"SQ_LIVE=1 is not set: {_HOW}")
    if _KEY not in _ACCESS:
        pytest.skip(f"{_KEY} is not set: {_HOW}")
    return _ACCESS


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small Python repository with one commit: a module, its tests and the counter spec."""
    folder = tmp_path / "project"
    commands.make_repository(Path(commands.__file__).parents[1] / "rehearsal", folder)
    return folder


@pytest.fixture
def sq(project: Path, access: Mapping[str, str]) -> Sq:
    """Run `sq` with these arguments in the project, as a process that can reach the model."""

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return ran(
            [*_SQ, *map(str, arguments)], cwd=project, env={**os.environ, **access}, timeout=_LONGEST_S
        )

    return run
