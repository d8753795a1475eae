"""Folders of sessions that are long over: `sq doctor` names them and `sq clean --sessions` removes them."""

import json
import os
import time
from datetime import UTC, datetime, timedelta

import pytest
from in_process import sq

from orchestrator.gates.session_state.store import SteeringStore

DAY = 86_400


@pytest.fixture
def sessions(repository):
    """Three sessions: 31 days old, 29 days old, and an old one that is switched off for good."""
    folder = repository / ".claude" / "runtime" / "power-steering"
    for name, days in (("old", 31), ("newer", 29), ("off", 31)):
        store = SteeringStore(folder, name, environ={})
        store.count_block("p")
        if name == "off":
            store.disable(datetime.now(UTC) + timedelta(days=1))
        at = time.time() - days * DAY
        for path in (*store.file.parent.iterdir(), store.file.parent):
            os.utime(path, (at, at))
    return folder


@pytest.fixture
def run(repository):
    below = repository / "below"
    below.mkdir()
    return lambda *arguments: sq(arguments, folder=below, environ=dict(os.environ))


def test_sessions_without_a_stop_for_30_days_go_and_no_other(sessions, run):
    done = run("clean", "--sessions")
    assert (done.returncode, done.stdout) == (0, f"removed {sessions / 'old'}\n")
    assert sorted(each.name for each in sessions.iterdir() if each.is_dir()) == ["newer", "off"]
    assert "no session's folder is older than 30 days" in run("clean", "--sessions").stdout


def test_what_was_removed_is_one_object_of_json(sessions, run):
    shown = json.loads(run("clean", "--sessions", "--json").stdout)
    assert shown["ok"] is True
    assert [(one["session"], one["problem"]) for one in shown["sessions"]] == [("old", "")]


def test_a_session_with_one_newer_file_stays(sessions, run):
    (sessions / "old" / "diagnostic.jsonl").touch()
    run("clean", "--sessions")
    assert (sessions / "old").exists()


@pytest.mark.parametrize("other", [("--all",), ("--run", "x"), ("--force",), ("--state-dir", "y")])
def test_sessions_are_cleaned_by_themselves(sessions, run, other):
    done = run("clean", "--sessions", *other)
    assert done.returncode == 2
    assert "--sessions is about the stop gate's sessions" in done.stderr
    assert (sessions / "old").exists()


def test_doctor_names_them_and_changes_nothing(sessions, run):
    before = {path: path.stat().st_mtime for path in sessions.rglob("*")}
    checks = json.loads(run("doctor", "--json").stdout)["checks"]
    (told,) = (one for one in checks if "session folder" in one["found"])
    assert told["level"] == "warn"
    assert told["found"] == f"1 session folder in {sessions} without a stop for 30 days"
    assert "sq clean --sessions" in told["advice"]
    assert {path: path.stat().st_mtime for path in sessions.rglob("*")} == before
