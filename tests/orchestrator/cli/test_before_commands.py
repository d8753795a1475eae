"""`sq check`, `sq plan` and `sq approve` as a person types them."""

import contextlib
import json
import os
import pty
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from language.played_sq import PLAYED_SQ
from language.scripted import completes, passes, plans, signals, writes

from orchestrator.run.plan.answers import answers_file
from state.settings.sources import user_file

SPEC = "# Notes\n\nCreate notes.txt with a line of text.\nThe line is short.\n"
LANGUAGE = {
    "kind": "two meanings",
    "lines": [3],
    "question": "Which language has the text?",
    "why": "A reader may not know it.",
    "options": ["English", "German"],
    "recommended": "German",
    "decides_outcome": True,
}
SHORT = {**LANGUAGE, "kind": "unprovable", "lines": [4], "question": "How short?", "decides_outcome": False}
Sq = Callable[..., "subprocess.CompletedProcess[str]"]


def scenario_with(*findings: dict[str, Any]) -> str:
    callers = {
        "planner/analysis/*": [
            signals("report_analysis", project_type="notes", spec_findings=list(findings))
        ],
        "planner/plan/*": [plans("notes")],
        "worker/notes/1": [writes("notes.txt", "A line.\n"), completes()],
        "reviewer/*": [passes()],
    }
    return yaml.safe_dump({"scenario": 1, "description": "notes", "callers": callers})


@pytest.fixture
def sq(repository: Path, tmp_path: Path) -> Sq:
    """Call sq in the repository, with a spec and a scenario that raises two questions about it."""
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_text('[efforts.medium]\nreview_plan = false\npower_steering = "none"\n')
    (tmp_path / "spec.md").write_text(SPEC)
    (tmp_path / "scenario.yaml").write_text(scenario_with(LANGUAGE, SHORT))

    def call(*words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [*PLAYED_SQ, *words], cwd=repository, capture_output=True, text=True, check=False, timeout=60
        )

    return call


@pytest.fixture
def given(tmp_path: Path) -> list[str]:
    return ["--spec", str(tmp_path / "spec.md"), "--rehearse", str(tmp_path / "scenario.yaml")]


@pytest.mark.late
def test_a_check_prints_the_questions_and_ends_with_3_until_they_are_answered(
    sq: Sq, given: list[str], tmp_path: Path
) -> None:
    done = sq("check", *given)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "q-1 (two meanings, line 3): Which language has the text?" in done.stdout
    assert "2. German (recommended)" in done.stdout
    assert "2 question(s) about the spec, 2 open, 1 of them decide the outcome" in done.stdout
    assert not answers_file(tmp_path / "spec.md").exists()
    (tmp_path / "scenario.yaml").write_text(scenario_with(SHORT))
    assert sq("check", *given).returncode == 0  # open, and decides nothing
    (tmp_path / "scenario.yaml").write_text(scenario_with())
    assert "0 question(s) about the spec, 0 open" in sq("check", *given).stdout


@pytest.mark.late
def test_yes_takes_the_recommended_options_and_the_next_check_has_nothing_open(
    sq: Sq, given: list[str], tmp_path: Path
) -> None:
    assert sq("check", *given, "--yes").returncode == 0
    file = answers_file(tmp_path / "spec.md")
    assert 'answer = "German"' in file.read_text()
    before = file.read_text()
    again = sq("check", *given)
    assert again.returncode == 0
    assert "2 question(s) were answered before" in again.stdout
    assert file.read_text() == before
    (tmp_path / "spec.md").write_text(SPEC.replace("a line of text", "a short line of text"))
    stale = sq("check", *given)
    assert stale.returncode == 3
    assert "this answer belongs to another version of the spec: Which language has the text?" in stale.stdout
    assert "1 question(s) were answered before" in stale.stdout


def test_json_is_one_object_with_each_finding_and_what_is_open(sq: Sq, given: list[str]) -> None:
    done = sq("check", *given, "--json")
    said = json.loads(done.stdout)
    assert (done.returncode, said["schema"], said["open"]) == (3, "sq-check/1", ["q-1", "q-2"])
    assert [(one["finding"]["kind"], one["answer"]) for one in said["findings"]] == [
        ("two meanings", None),
        ("unprovable", None),
    ]
    answered = json.loads(sq("check", *given, "--json", "--yes").stdout)
    assert (answered["open"], answered["decides_outcome"]) == ([], False)
    assert [one["answer"] for one in answered["findings"]] == ["German", "German"]


def test_an_answer_to_a_question_about_the_spec_names_the_place_where_it_is_given(sq: Sq) -> None:
    done = sq("answer", "q-1", "2")
    assert done.returncode == 2
    assert "answered on the terminal of `sq run` or `sq resume`" in done.stderr
    assert "no such run" not in done.stderr


def test_on_a_terminal_the_questions_are_asked_one_after_another(
    sq: Sq, given: list[str], repository: Path, tmp_path: Path
) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*PLAYED_SQ, "check", *given], cwd=repository, stdin=theirs, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        shown = _until(ours, "leave it open)")
        os.write(ours, b"7\n")
        shown += _until(ours, "leave it open)")
        os.write(ours, b"in Welsh\n")
        shown += _until(ours, "leave it open)")
        os.write(ours, b"\n")
        shown += _until(ours, "open")
        assert process.wait(30) == 0
    os.close(ours)
    assert "has the options 1 to 2" in shown
    text = answers_file(tmp_path / "spec.md").read_text()
    assert 'answer = "in Welsh"' in text
    assert "How short?" not in text


def test_an_answer_on_a_terminal_is_kept_if_the_next_question_is_left_by_ctrl_c(
    sq: Sq, given: list[str], repository: Path, tmp_path: Path
) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*PLAYED_SQ, "check", *given], cwd=repository, stdin=theirs, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        _until(ours, "leave it open)")
        os.write(ours, b"1\n")
        _until(ours, "leave it open)")
        assert _left_by_ctrl_c(process) == 130
    os.close(ours)
    assert 'answer = "English"' in answers_file(tmp_path / "spec.md").read_text()
    again = sq("check", *given)
    assert "1 question(s) were answered before" in again.stdout
    assert "take the recommended options with --yes" in again.stdout
    assert again.returncode == 0  # what is left open decides nothing


def _left_by_ctrl_c(process: subprocess.Popen[bytes]) -> int:
    """Press Ctrl-C, and again each two seconds: Python loses one that comes just before it waits for a line."""
    for _ in range(15):
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(2)
    process.kill()
    return process.wait()


def _until(terminal: int, words: str) -> str:
    shown = ""
    while words not in shown:
        shown += os.read(terminal, 4096).decode()
    return shown


def test_a_check_takes_the_settings_of_a_run(sq: Sq, given: list[str], tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    state = str(tmp_path / "state")
    options = ["--effort", "low", "--budget", "3", "--sandbox", "off", "--context", str(other)]
    done = sq("check", *given, *options, "--model", "planner=opus", "--state-dir", state)
    assert done.returncode == 3, done.stderr
    (run,) = (tmp_path / "state" / "runs").iterdir()
    shown = json.loads(sq("config", "show", run.name, "--state-dir", state, "--json").stdout)
    values = {one["key"]: one["value"] for one in shown}
    assert (values["effort"], values["budget"], values["sandbox"]) == ("low", 3.0, "off")
    assert values["context"] == [str(other)]
    assert values["models.planner"].startswith("opus")


def test_a_check_that_no_model_answers_is_no_success(sq: Sq, given: list[str], tmp_path: Path) -> None:
    (tmp_path / "scenario.yaml").write_text(yaml.safe_dump({"scenario": 1, "callers": {"worker/x/1": []}}))
    done = sq("check", *given)
    assert done.returncode == 1
    assert "the spec could not be checked" in done.stderr


@pytest.mark.late
def test_the_plan_of_a_run_is_printed_as_a_file_that_can_be_built(
    sq: Sq, given: list[str], repository: Path
) -> None:
    first = sq("run", *given, "--verify", "true", "--plan-only")
    assert first.returncode == 0, first.stderr
    assert "plan: plan.toml. Edit it, then: sq run --spec" in first.stdout
    printed = sq("plan", "--state-dir", ".sq")
    assert printed.stdout == (repository / "plan.toml").read_text()
    done = sq("run", *given, "--verify", "true", "--plan", "plan.toml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (repository / "notes.txt").exists()  # neither the plan nor the spec kept the branch from moving


@pytest.mark.late
def test_an_approval_from_another_terminal_starts_the_work(
    sq: Sq, given: list[str], repository: Path
) -> None:
    command = [*PLAYED_SQ, "run", *given, "--verify", "true", "--approve", "--plain"]
    with subprocess.Popen(command, cwd=repository, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "the plan waits for you" in line:
                break
        approved = sq("approve", "--state-dir", ".sq")
        assert "is approved, it is built now" in approved.stdout
        shown = process.stdout.read()
        assert process.wait(30) == 0, shown
    assert "the plan was approved by" in shown
    assert "approved before" in sq("approve").stdout


@pytest.mark.late
def test_an_approval_that_no_run_waits_for_is_refused(sq: Sq, given: list[str]) -> None:
    assert sq("run", *given, "--verify", "true").returncode == 0
    done = sq("approve")
    assert done.returncode == 2
    assert "it was begun without --approve" in done.stderr
