"""`kill -9` right after each stored transaction of the demo: nothing stays alive, and resume ends the same.

The whole matrix: `bin/test --crash`. Each transaction is killed once while Claude Code is played, and every second one
with the real one, in one of four ways. A sample of it runs with every other test.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import killed
import pytest
from crashes import WAYS, Bench, MakeBench, Shell, crash_everywhere, environment

from agents.process.containment import Containment
from orchestrator.cli.runs.run import make_repository
from state.settings.sources import user_file

PARTS = 3  # of a matrix, for as many workers
MATERIAL = Path(str(files("orchestrator.cli") / "rehearsal"))


def demo_bench(folder: Path, environ: dict[str, str]) -> Bench:
    make_repository(MATERIAL, folder)
    scenario = MATERIAL / "quality-test.yaml"
    return Bench(folder=folder, scenario=scenario, spec=folder / "quality-test.md", environ=environ)


@pytest.fixture
def bench(tmp_path: Path, home: Path, processes: None) -> Iterator[MakeBench]:
    made: list[Bench] = []

    def make(containment: Containment) -> Bench:
        # Forty-four judge's calls, each like the others, would double the points: they have a test of their own.
        user_file().parent.mkdir(parents=True, exist_ok=True)
        user_file().write_text('[efforts.medium]\npower_steering = "none"\n')
        made.append(demo_bench(tmp_path / f"demo {len(made)}", environment(containment)))
        return made[-1]

    yield make
    for one in made:
        shutil.rmtree(one.folder, ignore_errors=True)


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory, processes: None) -> str:
    """What the demo's work looks like when nothing is killed."""
    home = tmp_path_factory.mktemp("reference-home")
    environ = {**os.environ, "HOME": str(home), "CLAUDE_CONFIG_DIR": str(home / ".claude")}
    folder = tmp_path_factory.mktemp("reference")
    assert demo_bench(folder, environ).begin() == 0
    return subprocess.run(
        ["git", "-C", str(folder), "rev-parse", "main^{tree}"], capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.parametrize(
    ("way", "first"),
    [(WAYS[0], 26), (WAYS[3], 38)],
    ids=["namespaces-alone", "supervisor-group"],
)
def test_a_killed_demo_leaves_nothing_alive_and_resumes_to_the_same_tree(
    bench: MakeBench,
    way: tuple[Containment, str],
    first: int,
    tree: str,
    shell: Shell,
) -> None:
    assert crash_everywhere(bench, way, range(first, first + 1), tree, shell) == 1


@pytest.mark.crash
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("part", range(PARTS))
def test_a_demo_killed_after_any_stored_transaction_resumes_to_the_same_tree(
    bench: MakeBench, part: int, tree: str, shell: Shell
) -> None:
    way = (Containment.SUPERVISOR, killed.ALONE)
    points = range(1 + part, 1000, PARTS)
    assert crash_everywhere(bench, way, points, tree, shell, played=True) > 60 // PARTS


@pytest.mark.crash
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("way", WAYS, ids=[f"{containment}-{how}" for containment, how in WAYS])
def test_a_demo_at_work_with_claude_code_killed_in_any_way_resumes_to_the_same_tree(
    bench: MakeBench, way: tuple[Containment, str], tree: str, shell: Shell
) -> None:
    points = range(1 + 2 * WAYS.index(way), 1000, 2 * len(WAYS))
    assert crash_everywhere(bench, way, points, tree, shell) > 60 // (2 * len(WAYS))
