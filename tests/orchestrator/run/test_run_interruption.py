"""Ctrl-C and SIGTERM: the state is saved, nothing stays alive, and the run goes on later."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from language.played_sq import PLAYED_SQ
from language.scripted import SPEC, call, whole_run

from state.errors import UsageError
from state.journal.fold.fold import fold
from state.journal.store import JournalReader
from state.paths import StateFolder
from state.settings.sources import user_file

BASE = [sys.executable, "-I", "-m", "orchestrator.cli"]


@pytest.fixture
def working(
    request: pytest.FixtureRequest, repository: Path, tmp_path: Path
) -> Iterator[subprocess.Popen[str]]:
    """An sq whose Worker has just started a command that takes a minute. It asks no judge."""
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_text('[efforts.medium]\npower_steering = "none"\n')
    sq = BASE if request.node.get_closest_marker("claude") else PLAYED_SQ
    callers: dict[str, Any] = dict(whole_run())
    slow = {
        "tools": [
            call(
                "Bash",
                command="test -e done || { touch done; exec python3 -c 'import time; time.sleep(60)'; }",
            )
        ]
    }
    callers["worker/notes/1"] = [slow, *callers["worker/notes/1"]]
    scenario, spec = tmp_path / "scenario.yaml", tmp_path / "spec.md"
    scenario.write_text(yaml.safe_dump({"scenario": 1, "description": "slow", "callers": callers}))
    spec.write_text(SPEC)
    command = [*sq, "--spec", str(spec), "--plain", "--rehearse", str(scenario), "--verify", "true"]
    process = subprocess.Popen(
        command,
        cwd=repository,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    wait_until_it_runs(repository)
    yield process
    if process.poll() is None:
        process.kill()
        process.communicate()


def wait_until_it_runs(repository: Path) -> None:
    """Until the command has left its mark in the workspace: from then on it sleeps."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        time.sleep(0.05)
        try:
            with JournalReader(StateFolder(repository / ".sq").find(None)) as journal:
                task = fold(journal.read()).tasks.get("notes")
        except UsageError:
            continue
        if task and task.place.worktree and (Path(task.place.worktree) / "done").exists():
            return
    raise AssertionError("the worker's command never ran")


def processes_below(run_folder: Path) -> list[str]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"CLAUDE_CONFIG_DIR={run_folder}".encode() in (process / "environ").read_bytes():
                found.append(process.name)
        except OSError:
            continue
    return found


@pytest.mark.late
@pytest.mark.claude
@pytest.mark.parametrize(
    "number",
    [
        signal.SIGINT,
        *(pytest.param(number, marks=pytest.mark.slow) for number in (signal.SIGTERM, signal.SIGHUP)),
    ],
)
def test_one_signal_saves_the_state_exits_130_and_tells_how_to_go_on(
    working: subprocess.Popen[str], repository: Path, number: signal.Signals
) -> None:
    os.killpg(working.pid, number)  # as a terminal does: to everything in the foreground
    output, _ = working.communicate(timeout=30)
    run_folder = StateFolder(repository / ".sq").find(None)
    assert working.returncode == 130, output
    assert f"sq resume {run_folder.name}" in output
    assert "Traceback" not in output
    assert processes_below(run_folder) == []
    assert '"state": "interrupted"' in (run_folder / "summary.json").read_text("utf-8")

    resumed = subprocess.run(
        [*BASE, "resume", "--plain"], cwd=repository, capture_output=True, text=True, check=False, timeout=60
    )
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert (repository / "notes.txt").exists()
    assert '"state": "complete"' in (run_folder / "summary.json").read_text("utf-8")
    logged = [json.loads(line) for line in (run_folder / "sq.log").read_text().splitlines()]
    assert {line["run_id"] for line in logged} == {run_folder.name}
    [again] = [line for line in logged if line["event"] == "call.resume"]
    assert (again["task_id"], again["attempt"]) == ("notes", 1)
    assert all("task_id" not in line for line in logged if line["event"] == "phase.start")


@pytest.mark.claude
@pytest.mark.late
def test_a_second_signal_ends_at_once_and_leaves_nothing(
    working: subprocess.Popen[str], repository: Path
) -> None:
    os.killpg(working.pid, signal.SIGINT)
    os.killpg(working.pid, signal.SIGINT)
    output, _ = working.communicate(timeout=10)
    assert working.returncode == 130, output
    deadline = time.monotonic() + 2
    while (
        left := processes_below(StateFolder(repository / ".sq").find(None))
    ) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert left == []


def test_a_run_that_is_being_worked_on_is_not_resumed_beside_itself(
    working: subprocess.Popen[str], repository: Path
) -> None:
    second = subprocess.run(
        [*BASE, "resume", "--plain"], cwd=repository, capture_output=True, text=True, check=False, timeout=60
    )
    assert second.returncode == 2
    assert "another sq process" in second.stderr
