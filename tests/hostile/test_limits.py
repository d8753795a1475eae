"""What an agent's work may use up: processes, memory, the size of a file, the time after the session."""

import os
import time
from pathlib import Path

import pytest
from hostile_runs import call, callers_of, make_repository, outputs_of, run_sq, says, write
from language.tables import table

from agents.process.containment import detect_containment
from agents.process.sandbox.control_groups import control_groups
from state.journal.store import JournalReader
from state.paths import StateFolder
from state.settings.records import SandboxLimits

pytestmark = [pytest.mark.hostile, pytest.mark.timeout(600)]

# Bounded by themselves, so that a limit that does not hold fails the test and not the machine.
HUNGRY = table(__file__, "hungry")


def _run(tmp_path: Path, home: Path, sandbox: str) -> dict[str, int]:
    repository = make_repository(tmp_path / "project")
    (repository / "sq.toml").write_text(
        f'[sandbox]\nmode = "{sandbox}"\n[sandbox.limits]\nprocesses = 300\nmemory_mb = 2000\nfile_mb = 20\n'
    )
    work = callers_of(write("hungry.py", HUNGRY))
    done = run_sq(
        tmp_path, work, home=home, sandbox=sandbox, verify=("test ! -e hungry.py || python3 hungry.py",)
    )
    with JournalReader(StateFolder(repository / ".sq").find(None)) as journal:
        lines = [line.split() for line in outputs_of(journal.read()).splitlines()]
    found = {line[0]: int(line[1]) for line in lines if len(line) == 2 and line[1].isdecimal()}
    assert found, done.stdout + done.stderr
    return found


def test_processes_files_and_memory_are_limited(tmp_path: Path, home: Path) -> None:
    with control_groups("asked", SandboxLimits(memory_mb=2_000)) as groups:
        by_group = groups.limits
    used = _run(tmp_path, home, "whole")
    assert used["file"] <= 20
    if detect_containment() == "namespaces" or os.geteuid() != 0 or "processes" in by_group:
        assert used["processes"] <= 300
    if "memory" in by_group:
        assert used["memory"] < 2_000


def test_without_a_sandbox_they_are_not(tmp_path: Path, home: Path) -> None:
    used = _run(tmp_path, home, "off")
    assert used["file"] == 40
    assert used["processes"] > 300
    assert used["memory"] == 3_000


def test_a_daemon_does_not_outlive_its_session_or_its_command(tmp_path: Path, home: Path) -> None:
    late = tmp_path / "late"
    late.mkdir(mode=0o777)
    lives = "setsid nohup sh -c 'sleep 271828' >/dev/null 2>&1 &"
    make_repository(tmp_path / "project")
    work = callers_of(write("daemon.sh", lives + "\n"), says(call("Bash", command="sh daemon.sh")))
    done = run_sq(tmp_path, work, home=home, sandbox="whole", verify=("test ! -e daemon.sh || sh daemon.sh",))
    assert "sh daemon.sh`: passed" in done.stdout, done.stdout  # a test that shows nothing is refused
    deadline = time.monotonic() + 10
    while _running("271828") and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not _running("271828")


def _running(word: str) -> list[str]:
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().split(b"\0")
        except OSError:
            continue
        if word.encode() in words:
            found.append(entry.parent.name)
    return found
