"""The examples as `examples/README.md` has them run: a command line, an exit code, what the repository then holds."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from language.played_sq import PLAYED_SQ
from language.programs import ran

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"


@pytest.fixture
def project(tmp_path: Path, shell: Callable[..., str]) -> Callable[..., Path]:
    """A repository made as the README says: an empty one, or a copy of an example's project with one commit."""

    def make(copied: str | None = None) -> Path:
        folder = tmp_path / "project"
        if copied is None:
            folder.mkdir()
        else:
            shutil.copytree(EXAMPLES / copied, folder, ignore=shutil.ignore_patterns("__pycache__"))
        shell(folder, "git", "init", "--quiet", "--initial-branch=main")
        for setting in ("user.name", "user.email"):
            shell(folder, "git", "config", setting, "owner@localhost")
        if copied is not None:
            shell(folder, "git", "add", "--all")
            shell(folder, "git", "commit", "--quiet", "-m", "As it is")
        return folder

    return make


def play(folder: Path, name: str) -> subprocess.CompletedProcess[str]:
    """Run an example's spec with its scenario."""
    spec, scenario = EXAMPLES / f"{name}.md", EXAMPLES / f"{name}.yaml"
    return ran(
        [*PLAYED_SQ, "--spec", str(spec), "--rehearse", str(scenario)],
        cwd=folder,
        env=dict(os.environ),
        stdin=subprocess.DEVNULL,
        timeout=100,
    )


@pytest.mark.late
def test_the_second_of_two_tasks_is_built_on_the_merged_work_of_the_first(
    project: Callable[..., Path], shell: Callable[..., str]
) -> None:
    folder = project()
    done = play(folder, "two-tasks")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.index("convert: merged") < done.stdout.index("table: the worker builds")
    subjects = shell(folder, "git", "log", "--format=%s").splitlines()
    assert subjects[:2] == ["A table on the command line", "Conversion both ways"]
    assert shell(folder, "git", "status", "--porcelain") == ""
    assert shell(folder, sys.executable, "table.py", "0", "1").split() == [
        *("0", "°C", "32.0", "°F"),
        *("1", "°C", "33.8", "°F"),
    ]


@pytest.mark.slow
def test_a_stuck_task_stops_what_depends_on_it_and_nothing_else(
    project: Callable[..., Path], shell: Callable[..., str]
) -> None:
    folder = project()
    done = play(folder, "stuck")
    assert done.returncode == 3, done.stdout + done.stderr
    assert "task rates is stuck: nothing has changed in the workspace for 4 iterations" in done.stdout
    assert "task convert was not built: it waits for rates" in done.stdout
    [finished] = shell(folder, "git", "branch", "--format=%(refname:short)", "--list", "sq/*").split()
    files = shell(folder, "git", "ls-tree", "--name-only", finished).split()
    assert files == ["money.py", "test_money.py"]
    assert shell(folder, "git", "ls-files") == ""  # the branch moves for complete work only
    assert shell(folder, "git", "branch", "--format=%(refname:short)", "--list", "sq-tasks/*/convert") == ""


@pytest.mark.slow
def test_a_claim_that_breaks_a_test_of_the_project_is_refused_and_the_next_one_holds(
    project: Callable[..., Path], shell: Callable[..., str]
) -> None:
    folder = project("shop")
    done = play(folder, "shop-discount")
    assert done.returncode == 0, done.stdout + done.stderr
    verified = re.findall(r"sq ran `python3 -m unittest discover -s tests`: (passed|failed)", done.stdout)
    assert verified == ["failed", "passed"]
    assert "full - full // 10" in (folder / "cart.py").read_text()
    assert shell(folder, "git", "log", "--format=%s").splitlines() == [
        "A discount for large orders",
        "As it is",
    ]
    shell(folder, sys.executable, "-m", "unittest", "discover", "-s", "tests")


def test_the_readme_of_the_examples_names_every_scenario_with_the_command_that_is_tested_here() -> None:
    readme = (EXAMPLES / "README.md").read_text()
    played = {path.stem for path in EXAMPLES.glob("*.yaml")} - {"quality-test"}
    commands = [shlex.split(line) for line in readme.splitlines() if line.startswith("$sq/bin/sq --spec")]
    assert commands == [
        ["$sq/bin/sq", "--spec", f"$sq/examples/{name}.md", "--rehearse", f"$sq/examples/{name}.yaml"]
        for name in ("two-tasks", "stuck", "shop-discount")
    ]
    assert played == {"two-tasks", "stuck", "shop-discount"}
