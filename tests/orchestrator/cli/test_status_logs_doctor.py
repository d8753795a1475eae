"""`sq status`, `sq logs` and `sq doctor` as a user meets them: whole processes on a run that really happened."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import in_process
import pytest
from language.played_sq import PLAYED_SQ
from language.programs import ran

from agents.sdks import install_command, this_place
from state.journal.codec import encode
from state.journal.events import RunEnded, RunInterrupted, TaskCommitted, TaskReopened
from state.journal.store import Journal, JournalReader
from state.outcome import Outcome

PYTHON = [sys.executable, "-I"]
SQ = ["-m", "orchestrator.cli"]
ROOT = Path(__file__).parents[3]
CREDENTIALS = ("ANTHROPIC_", "CLAUDE", "SQ_", "XDG_")
HEAVY = {"claude_agent_sdk", "anthropic", "pydantic", "uvicorn", "starlette"}


@pytest.fixture(scope="session")
def demo(tmp_path_factory):
    """The repository of a rehearsed run that has ended well."""
    home = tmp_path_factory.mktemp("demo-home")
    folder = tmp_path_factory.mktemp("demo") / "project"
    environ = {name: value for name, value in os.environ.items() if not name.startswith(CREDENTIALS)}
    done = ran(
        [*PLAYED_SQ, "demo", "--plain", "--keep-in", str(folder)],
        env={**environ, "HOME": str(home), "CLAUDE_CONFIG_DIR": str(home / ".claude")},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="session")
def story(demo):
    """The events of that run, as they were stored."""
    [folder] = (demo / ".sq" / "runs").iterdir()
    with JournalReader(folder) as journal:
        return journal.read()


@pytest.fixture
def sq(tmp_path):
    """Run sq in a folder (default: one without anything), with `python` in a process of its own."""

    def run(*arguments, folder=None, python=None, **environ):
        environment = {**os.environ, **environ}
        if python is None:
            return in_process.sq(arguments, folder=folder or tmp_path, environ=environment)
        return ran(
            [*python, *SQ, *map(str, arguments)],
            cwd=folder or tmp_path,
            env=environment,
            stdin=subprocess.DEVNULL,
        )

    return run


@pytest.fixture
def state(tmp_path):
    """A state folder of the test's own, and a way to put runs into it."""

    class State:
        folder = tmp_path / "state"

        def add(self, run_id, *events):
            with self.open(run_id) as journal:
                if events:
                    journal.append(*events)

        def open(self, run_id):
            folder = self.folder / "runs" / run_id
            folder.mkdir(parents=True, exist_ok=True)
            return Journal(folder)

    return State()


def until(story, kind):
    """The events up to the first of this kind, itself included."""
    place = next(number for number, stored in enumerate(story) if isinstance(stored.event, kind))
    return [stored.event for stored in story[: place + 1]]


# --- status ---------------------------------------------------------------------------------------------


def test_status_without_any_run_says_how_to_begin_one(sq):
    done = sq("status")
    assert done.returncode == 0
    assert "no runs yet" in done.stdout
    assert "sq demo" in done.stdout


def test_status_shows_a_finished_run_in_one_row(sq, demo, story):
    done = sq("status", folder=demo)
    header, row = done.stdout.splitlines()
    assert header.split() == ["run", "spec", "state", "merged", "cost", "started", "duration"]
    for part in (story[0].event.run_id, "quality-test.md", "complete", "1/1", "$0.14 rehearsed"):
        assert part in row


def test_status_works_from_a_folder_below_the_repository(sq, demo):
    below = demo / "below"
    below.mkdir(exist_ok=True)
    assert "complete" in sq("status", folder=below).stdout


def test_status_lists_the_newest_run_first(sq, state, story):
    state.add("20260101-000000-aaaa", story[0].event)
    state.add("20260102-000000-bbbb", story[0].event)
    rows = sq("status", "--state-dir", state.folder).stdout.splitlines()[1:]
    assert [row.split()[0] for row in rows] == ["20260102-000000-bbbb", "20260101-000000-aaaa"]


def test_status_of_an_interrupted_run_names_the_command_that_goes_on(sq, state, story):
    state.add("20260101-000000-aaaa", *until(story, TaskReopened), RunInterrupted(by="SIGINT"))
    done = sq("status", "--state-dir", state.folder)
    assert f"interrupted: sq resume 20260101-000000-aaaa --state-dir {state.folder}" in done.stdout


def test_status_of_a_killed_run_names_the_command_that_goes_on(sq, state, story):
    state.add("20260101-000000-aaaa", *until(story, TaskReopened))
    done = sq("status", "--state-dir", state.folder)
    assert f"killed: sq resume 20260101-000000-aaaa --state-dir {state.folder}" in done.stdout


def test_status_of_a_run_under_way_says_what_it_is_doing(sq, state, story):
    with state.open("20260101-000000-aaaa") as journal:
        journal.append(story[0].event)
        assert (
            "active: running the tests before any change" in sq("status", "--state-dir", state.folder).stdout
        )
        journal.append(*until(story, TaskReopened)[1:])
        done = sq("status", "--state-dir", state.folder)
        assert "active: counter building" in done.stdout
        one = sq("status", "aaaa", "--state-dir", state.folder)
        assert f"next: sq logs 20260101-000000-aaaa --state-dir {state.folder} --follow" in one.stdout


def test_status_of_a_run_that_was_killed_before_its_first_event_says_so(sq, state):
    state.add("20260101-000000-aaaa")
    assert "killed before it began" in sq("status", "--state-dir", state.folder).stdout
    assert "killed before it began" in sq("status", "aaaa", "--state-dir", state.folder).stdout


def test_a_damaged_run_does_not_hide_the_others(sq, state, story):
    state.add("20260101-000000-aaaa", story[0].event)
    broken = state.folder / "runs" / "20260102-000000-bbbb" / "journal.db"
    broken.parent.mkdir()
    broken.write_bytes(b"this is no database, " * 100)
    done = sq("status", "--state-dir", state.folder)
    assert done.returncode == 0
    assert "unreadable" in done.stdout
    assert "20260101-000000-aaaa" in done.stdout


def test_status_of_one_run_tells_its_whole_story(sq, demo, story):
    done = sq("status", story[0].event.run_id, folder=demo)
    assert done.returncode == 0
    for part in (
        "state: complete (exit code 0)",
        "counter  A counter module  merged  2        1          0",
        "[getCount / get_count]",
        "haiku answers: getCount",
        ", the merged work): `python3 -m unittest` passed",
        f"where the work is: branch main of {demo}",
        "nothing was charged",
        f"next: git -C {demo} log --stat",
    ):
        assert part in done.stdout


def test_status_of_one_run_lists_the_open_issues_of_its_tasks(sq, state, story):
    state.add("20260101-000000-aaaa", *until(story, TaskReopened))
    done = sq("status", "2026", "--state-dir", state.folder)
    assert "counter: open issues" in done.stdout
    assert "counter.py:6 (over-engineering)" in done.stdout


def test_status_names_the_known_runs_where_it_is_asked_for_another(sq, demo, story):
    done = sq("status", "nosuchrun", folder=demo)
    assert done.returncode == 2
    assert story[0].event.run_id in done.stderr
    assert "Traceback" not in done.stderr


def test_status_as_json_is_one_object(sq, demo, story):
    everything = json.loads(sq("status", "--json", folder=demo).stdout)
    [run] = everything["runs"]
    assert (run["run_id"], run["outcome"], run["tasks_merged"]) == (story[0].event.run_id, "complete", 1)
    one = json.loads(sq("status", run["run_id"], "--json", folder=demo).stdout)
    assert one["tasks"][0]["stage"] == "merged"
    assert one["exit_code"] == 0
    assert {"planner", "worker"} <= {each["role"] for each in one["roles"]}


def test_status_as_json_without_runs_is_an_empty_list(sq):
    assert json.loads(sq("status", "--json").stdout)["runs"] == []


@pytest.mark.parametrize("arguments", [["--help"], ["status"], ["status", "--json"]])
def test_the_quick_commands_import_nothing_heavy(sq, demo, arguments):
    done = sq(*arguments, folder=demo, python=[*PYTHON, "-X", "importtime"])
    assert done.returncode == 0
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    imported = {line.rsplit("|", 1)[1].strip().split(".")[0] for line in lines}
    assert "click" in imported
    assert not imported & HEAVY


# --- logs -----------------------------------------------------------------------------------------------


def test_logs_shows_every_event_in_order_with_its_time(sq, demo, story):
    lines = sq("logs", folder=demo).stdout.splitlines()
    times = [line[:19] for line in lines]
    assert times == sorted(times)
    assert len(lines) >= len(story)
    assert "this is a rehearsal" in lines[0]
    assert any("worker says: I look at the code that is there first." in line for line in lines)
    assert any("GateDecided task_id=counter" in line for line in lines)


def test_logs_as_json_holds_every_event_with_its_fields(sq, demo, story):
    lines = [json.loads(line) for line in sq("logs", "--json", folder=demo).stdout.splitlines()]
    assert [line["seq"] for line in lines] == [stored.seq for stored in story]
    assert lines[-1]["event"] == "RunEnded"
    assert lines[-1]["outcome"] == "complete"
    roles = {one["role"]: one for one in lines[-1]["roles"]}
    assert {"planner", "worker", "reviewer", "developer"} <= set(roles)
    assert all(one["usage"]["output_tokens"] and one["seconds"] for one in roles.values())
    assert sum(one["cost_usd"] for one in roles.values()) == pytest.approx(lines[-1]["cost_usd"])


def keys_in(value):
    """The keys of all objects in a JSON value."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return set(value if isinstance(value, dict) else ()).union(*map(keys_in, parts))


def test_json_calls_a_tasks_id_taskId_in_every_command_and_stored_events_keep_their_name(sq, demo, story):  # noqa: N802
    commands = (["logs"], ["logs", "--prompts"], ["decisions"], ["status", story[0].event.run_id])
    for command in commands:
        lines = sq(*command, "--json", folder=demo).stdout.splitlines()
        keys = keys_in([json.loads(line) for line in lines])
        assert "taskId" in keys, command
        assert "task_id" not in keys, command
    [body] = [encode(one.event)[2] for one in story if isinstance(one.event, TaskCommitted)][:1]
    assert json.loads(body)["task_id"] == "counter"


def test_logs_shows_what_each_agent_was_told_and_what_it_reported(sq, demo, story):
    from state.journal.events import CallStarted

    printed = sq("logs", "--prompts", folder=demo).stdout
    calls = [stored.event for stored in story if isinstance(stored.event, CallStarted)]
    assert len([call for call in calls if call.role != "judge"]) == 8
    told = [line.strip() for line in printed.splitlines()]
    for call in calls:
        assert (
            f"attempt {call.attempt}, iteration {call.iteration}, model {call.model}, call {call.call_id}"
            in printed
        )
        assert {line.strip() for line in f"{call.system}\n{call.prompt}".splitlines()} <= set(told)
    assert "--- reported by task_complete" in told
    assert '"summary": "Three functions on one module variable.",' in told


def test_the_prompts_as_json_are_one_line_a_call(sq, demo):
    calls = [json.loads(line) for line in sq("logs", "--prompts", "--json", folder=demo).stdout.splitlines()]
    assert [call["started"]["role"] for call in calls[:4]] == ["planner", "planner", "reviewer", "worker"]
    assert all(call["end"]["end"] == "completed" for call in calls)


def test_logs_shows_the_newest_run_unless_one_is_named(sq, state, story):
    state.add("20260101-000000-aaaa", story[0].event)
    state.add(
        "20260102-000000-bbbb", story[0].event, RunEnded(outcome=Outcome.FAILED, cause="the disk is full")
    )
    assert "the disk is full" in sq("logs", "--state-dir", state.folder).stdout
    assert "the disk is full" not in sq("logs", "aaaa", "--state-dir", state.folder).stdout


@pytest.mark.parametrize("arguments", [["nosuchrun"], ["--prompts", "--follow"], ["--nonsense"]])
def test_logs_that_are_asked_for_wrongly_say_what_is_wrong_once(sq, demo, arguments):
    done = sq("logs", *arguments, folder=demo)
    assert done.returncode == 2
    assert done.stdout == ""
    assert arguments[0] in done.stderr
    assert "Traceback" not in done.stderr


def following(state, run_id):
    return subprocess.Popen(
        [*PYTHON, *SQ, "logs", run_id, "--follow", "--state-dir", str(state.folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_following_shows_what_comes_until_the_run_has_ended(state, story):
    with state.open("20260101-000000-aaaa") as journal:
        journal.append(story[0].event)
        follower = following(state, "aaaa")
        assert "rehearsal" in follower.stdout.readline()
        journal.append(RunEnded(outcome=Outcome.FAILED, cause="the disk is full"))
        rest = ""
        while "the disk is full" not in rest:
            rest += follower.stdout.readline()
    follower.communicate()
    assert follower.returncode == 0


def test_following_ends_when_the_process_that_wrote_the_run_is_gone(state, story):
    with state.open("20260101-000000-aaaa") as journal:
        journal.append(story[0].event)
        follower = following(state, "aaaa")
        assert "rehearsal" in follower.stdout.readline()
    _, said = follower.communicate()
    assert follower.returncode == 0
    assert "go on with it: sq resume 20260101-000000-aaaa" in said


def test_following_a_run_that_nobody_works_on_ends_at_once(sq, demo):
    done = sq("logs", "--follow", folder=demo)
    assert done.returncode == 0
    assert "complete (exit code 0)" in done.stdout


# --- doctor ---------------------------------------------------------------------------------------------


def found(done):
    """The checks of `sq doctor --json` by name."""
    return {check["name"]: check for check in json.loads(done.stdout)["checks"]}


def test_doctor_in_a_clean_repository_fails_nothing(sq, repository):
    done = sq("doctor", folder=repository)
    assert done.returncode == 0, done.stdout
    for line in (
        "ok    git ",
        "ok    agent sdk ",
        "ok    claude code ",
        "ok    repository ",
        "ok    state folder ",
    ):
        assert line in done.stdout
    assert "fail" not in done.stdout.replace("no check fails", "")


def test_doctor_fails_on_an_sdk_that_does_not_import_and_says_what_to_type(sq, repository, tmp_path):
    (tmp_path / "anthropic.py").write_text("from typing import no_such_name\n")
    paths = f"{tmp_path}:{ROOT}"
    done = sq("doctor", "--json", folder=repository, python=[sys.executable], PYTHONPATH=paths)
    check = found(done)["api sdk"]
    assert (done.returncode, check["level"]) == (2, "fail")
    assert "cannot be imported (ImportError: cannot import name 'no_such_name'" in check["found"]
    assert check["advice"] == f"`{install_command('anthropic', this_place(), again=True)}`"
    assert found(done)["agent sdk"]["level"] == "ok"


def test_doctor_changes_nothing(sq, repository, shell):
    sq("doctor", folder=repository)
    assert not (repository / ".sq").exists()
    assert shell(repository, "git", "status", "--porcelain") == ""


def test_doctor_without_credentials_warns_and_points_at_the_demo(sq, repository):
    check = found(sq("doctor", "--json", folder=repository))["credentials"]
    assert check["level"] == "warn"
    assert "sq demo" in check["advice"]


def test_doctor_says_how_agents_could_read_the_key_and_how_to_keep_it_from_them(sq, repository, tmp_path):
    seen = {"ANTHROPIC_API_KEY": "sk-ant-secret-0123456789", "SQ_CONTAINMENT": "supervisor"}
    check = found(sq("doctor", "--json", folder=repository, **seen))["api key"]
    assert check["level"] == "warn"
    assert "/proc" in check["found"]
    assert "ANTHROPIC_API_KEY_FILE" in check["advice"]
    file = tmp_path / "key"
    file.write_text("sk-ant-secret-0123456789")
    hidden = {"ANTHROPIC_API_KEY_FILE": str(file), "SQ_CONTAINMENT": "supervisor"}
    checks = found(sq("doctor", "--json", folder=repository, **hidden))
    assert (checks["api key"]["level"], checks["credentials"]["level"]) == ("ok", "ok")


def test_doctor_fails_on_a_key_file_that_cannot_be_read(sq, repository, tmp_path):
    done = sq("doctor", "--json", folder=repository, ANTHROPIC_API_KEY_FILE=str(tmp_path / "nothing"))
    assert "cannot be read" in found(done)["credentials"]["found"]


def test_doctor_never_prints_the_key(sq, repository):
    done = sq("doctor", "--json", folder=repository, ANTHROPIC_API_KEY="sk-ant-secret-0123456789")
    assert found(done)["credentials"]["level"] == "ok"
    assert "secret" not in done.stdout + done.stderr


def test_doctor_says_which_sandbox_works_and_what_installs_a_missing_one(sq, repository, tmp_path):
    check = found(sq("doctor", "--json", folder=repository))["sandbox"]
    works = bool(shutil.which("bwrap") and shutil.which("socat"))
    assert (check["level"], "whole works" in check["found"]) == (("ok", True) if works else ("warn", False))
    (tmp_path / "git").symlink_to(shutil.which("git"))
    missing = found(sq("doctor", "--json", folder=repository, PATH=str(tmp_path)))["sandbox"]
    assert missing["level"] == "warn"
    assert "bubblewrap and socat not installed" in missing["found"]


def test_doctor_fails_on_a_containment_that_does_not_exist(sq, repository):
    done = sq("doctor", "--json", folder=repository, SQ_CONTAINMENT="wishes")
    assert done.returncode == 2
    assert json.loads(done.stdout)["ok"] is False
    assert "wishes" in found(done)["containment"]["found"]


def test_doctor_warns_what_a_supervisor_cannot_do(sq, repository):
    done = sq("doctor", "--json", folder=repository, SQ_CONTAINMENT="supervisor")
    assert done.returncode == 0
    assert found(done)["containment"]["level"] == "warn"


def test_doctor_fails_without_git(sq, repository, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    done = sq("doctor", folder=repository, PATH=str(empty))
    assert done.returncode == 2
    assert "fail  git" in done.stdout
    assert "install git" in done.stdout


@pytest.mark.parametrize(
    ("answer", "level", "said"),
    [
        pytest.param("echo '2.1.329 (Claude Code)'", "ok", "2.1.329", marks=pytest.mark.slow),
        ("echo '2.1.247 (Claude Code)'", "fail", "2.1.248 is the first"),
        pytest.param(
            "echo 'library not found' >&2; exit 1", "fail", "library not found", marks=pytest.mark.slow
        ),
    ],
)
def test_doctor_looks_at_the_version_of_the_claude_code_on_path(
    sq, repository, tmp_path, answer, level, said
):
    (tmp_path / "sdk" / "claude_agent_sdk").mkdir(parents=True)  # one that brings no Claude Code along
    (tmp_path / "sdk" / "claude_agent_sdk" / "__init__.py").touch()
    claude = tmp_path / "bin" / "claude"
    claude.parent.mkdir()
    claude.write_text(f"#!/bin/sh\n{answer}\n")
    claude.chmod(0o755)
    path = f"{claude.parent}:{os.environ['PATH']}"
    paths = f"{tmp_path / 'sdk'}:{ROOT}"
    done = sq("doctor", "--json", folder=repository, python=[sys.executable], PATH=path, PYTHONPATH=paths)
    check = found(done)["claude code"]
    assert check["level"] == level
    assert said in check["found"]
    assert done.returncode == (0 if level == "ok" else 2)


def test_doctor_tells_what_uncommitted_changes_mean_for_a_run(sq, repository):
    (repository / "README.md").write_text("changed\n")
    check = found(sq("doctor", "--json", folder=repository))["repository"]
    assert check["level"] == "warn"
    assert "1 uncommitted change(s)" in check["found"]
    assert "commit or stash" in check["advice"]


def test_doctor_tells_what_a_detached_head_means_for_a_run(sq, repository, shell):
    shell(repository, "git", "checkout", "--quiet", "--detach")
    check = found(sq("doctor", "--json", folder=repository))["repository"]
    assert "detached HEAD" in check["found"]
    assert "git switch" in check["advice"]


def test_doctor_tells_what_a_repository_without_commits_means_for_a_run(sq, tmp_path, shell):
    shell(tmp_path, "git", "init", "--quiet")
    assert found(sq("doctor", "--json"))["repository"]["level"] == "ok"
    (tmp_path / "file.txt").touch()
    check = found(sq("doctor", "--json"))["repository"]
    assert check["level"] == "warn"
    assert "git commit" in check["advice"]


def test_doctor_outside_a_repository_warns_and_fails_nothing(sq):
    done = sq("doctor", "--json")
    assert done.returncode == 0
    assert "not inside a git repository" in found(done)["repository"]["found"]


def test_doctor_knows_a_state_folder_that_git_ignores(sq, demo):
    assert "ignored by git" in found(sq("doctor", "--json", folder=demo))["state folder"]["found"]


def test_doctor_fails_on_a_state_folder_that_is_a_file(sq, repository, tmp_path):
    (tmp_path / "taken").touch()
    done = sq("doctor", "--json", "--state-dir", tmp_path / "taken" / "state", folder=repository)
    assert done.returncode == 2
    assert "is not a folder" in found(done)["state folder"]["found"]


@pytest.mark.late
def test_doctor_warns_where_another_distribution_has_one_of_our_names(sq, repository, tmp_path):
    facts = tmp_path / "site" / "stately-1.0.dist-info"
    facts.mkdir(parents=True)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: stately\nVersion: 1.0\n")
    (facts / "top_level.txt").write_text("state\n")
    paths = f"{ROOT}:{tmp_path / 'site'}"
    done = sq("doctor", "--json", folder=repository, python=[sys.executable], PYTHONPATH=paths)
    check = found(done)["import names"]
    assert check["level"] == "warn"
    assert "state comes from stately too" in check["found"]
