"""`sq gate` as a user meets it: check a transcript, see what is asked, measure, switch off and on."""

import json
import os
import re
import signal
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
import yaml
from in_process import sq
from language.stop_inputs import Lines

from agents.gateway.scenario import load_scenario
from agents.gateway.server import serve_scenario
from agents.transcript.read import read_transcript
from benchmarks.gate_bench import OURS
from benchmarks.gate_sessions import load_labelled
from orchestrator.cli.gate.check import check_session, within
from orchestrator.gates.power_steering.considerations import load_considerations
from orchestrator.gates.power_steering.session_facts import facts_of
from orchestrator.gates.session_state.store import SteeringStore
from orchestrator.gates.stop_gate.order import STEPS
from orchestrator.gates.stop_gate.probe import runs_on
from orchestrator.gates.stop_gate.stop import answer, stop_of
from state.errors import UsageError
from state.roles import Role

TRANSCRIPTS = Path(__file__).parents[2] / "agents" / "transcripts"
TESTED = TRANSCRIPTS / "tests.jsonl"


def entry(uuid, role, *blocks):
    message = {"role": role, "content": list(blocks)}
    return json.dumps({"type": role, "uuid": uuid, "message": message}) + "\n"


@pytest.fixture
def open_todo(tmp_path):
    """The tested session, which then leaves a todo open."""
    todos = {"todos": [{"content": "callers", "status": "pending", "activeForm": "callers"}]}
    added = (
        entry("u-1", "assistant", {"type": "tool_use", "id": "t-1", "name": "TodoWrite", "input": todos}),
        entry(
            "u-2",
            "user",
            {"type": "tool_result", "tool_use_id": "t-1", "content": "Todos have been modified."},
        ),
        entry("u-3", "assistant", {"type": "text", "text": "The discount is done."}),
    )
    file = tmp_path / "open_todo.jsonl"
    file.write_text(TESTED.read_text() + "".join(added))
    return file


@pytest.fixture
def gate(tmp_path):
    def run(*arguments, folder=tmp_path, **environ):
        return sq(["gate", *arguments], folder=folder, environ={**os.environ, **environ})

    return run


@asynccontextmanager
async def judge(tmp_path, *replies):
    """A gateway where the judge gives these replies; the environment that leads there."""
    scenario = tmp_path / "judge.yaml"
    scenario.write_text(
        yaml.safe_dump(
            {
                "scenario": 1,
                "usage": {"input_tokens": 900, "output_tokens": 50},
                "callers": {"judge/*": list(replies)},
            }
        )
    )
    ledger = tmp_path / "ledger.jsonl"
    async with serve_scenario(load_scenario(scenario), run_id="run", ledger=ledger) as gateway:
        url = gateway.caller_url(Role.JUDGE, "session", 1)
        yield {"ANTHROPIC_API_KEY": "a-key", "ANTHROPIC_BASE_URL": url}


def says(verdict, reason="The session shows it."):
    return {"structured": {"verdict": verdict, "reason": reason, "quote": ""}}


# --- check ------------------------------------------------------------------------------------------------


def test_without_a_key_rules_say_what_holds_a_session(gate, open_todo):
    done = gate("check", open_todo)
    assert done.returncode == 1, done.stderr
    assert re.search(r"^held by: .*todos_complete", done.stdout, re.MULTILINE)
    assert "checks could not be made" in done.stdout


def test_explain_shows_every_check_with_who_answered_and_why(gate):
    done = gate("check", TESTED, "--explain", "--rules")
    assert done.returncode == 0
    assert re.search(r"^next_steps +met +rule +(\d\.\d +)?the final message", done.stdout, re.MULTILINE)
    one_line = r"^not checked, \d+ checks \(.*objective_completion.*\): there is no judge$"
    assert len(re.findall(one_line, done.stdout, re.MULTILINE)) == 1
    assert done.stdout.count("there is no judge") == 2, "once in the notes, once among the checks"


def test_as_json_it_is_one_object(gate):
    shown = json.loads(gate("check", TESTED, "--json").stdout)
    assert shown["may_stop"] is True
    results = {one["consideration_id"]: one for one in shown["examination"]["results"]}
    assert results["next_steps"]["source"] == "rule"
    assert shown["examination"]["figures"]["files_modified"]


async def test_with_a_key_the_judge_answers_every_check(gate, open_todo, tmp_path):
    async with judge(tmp_path, says("satisfied")) as environ:
        done = await anyio.to_thread.run_sync(lambda: gate("check", TESTED, "--json", **environ))
    shown = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert {one["source"] for one in shown["examination"]["results"]} == {"judge"}
    assert sum(one["cost_usd"] for one in shown["examination"]["results"]) > 0


async def test_what_the_judge_finds_unmet_holds_the_session(gate, tmp_path):
    async with judge(tmp_path, says("not_satisfied", "The callers were not looked at.")) as environ:
        done = await anyio.to_thread.run_sync(lambda: gate("check", TESTED, **environ))
    assert done.returncode == 1
    assert "No: The callers were not looked at." in done.stdout


def test_a_judge_that_cannot_be_reached_leaves_it_to_the_rules(gate):
    environ = {"ANTHROPIC_API_KEY": "a-key", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
    done = gate("check", TESTED, "--explain", **environ)
    assert done.returncode == 0
    assert re.search(r"^next_steps +met +rule", done.stdout, re.MULTILINE)


def test_a_session_that_waits_is_not_judged_and_says_why(gate):
    done = gate("check", TRANSCRIPTS / "work.jsonl")
    assert done.returncode == 0
    assert "may stop: not judged, because it asks the user a question" in done.stdout


def test_the_projects_own_considerations_are_asked_and_bad_ones_told(gate, repository):
    (repository / "sq.toml").write_text("[considerations.local_testing]\nenabled = false\n")
    own = repository / ".claude" / "power-steering.yaml"
    own.parent.mkdir()
    own.write_text("- {id: changelog, question: 'Is it in the changelog?', severity: blocker}\n- {id: bad}\n")
    shown = gate("check", TESTED, "--explain", "--project", repository)
    assert "changelog" in shown.stdout
    assert "local_testing" not in shown.stdout
    assert "bad: id and question are needed" in shown.stderr
    assert "left out" not in shown.stdout


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (None, "there is no such file"),
        (b"", "it is empty"),
        (b"\x00\xff not json\n", "nothing in it is a conversation"),
        (b"#!/usr/bin/env python3\nprint('a program')\n", "nothing in it is a conversation"),
        (b'{"a": 1}\n[2]\n', "nothing in it is a conversation"),
        ("folder", "it is a folder"),
        ("pipe", "it is no plain file"),
    ],
)
def test_what_is_no_transcript_is_a_usage_error_that_says_what_was_found(gate, tmp_path, content, found):
    file = tmp_path / "t.jsonl"
    match content:
        case bytes():
            file.write_bytes(content)
        case "folder":
            file.mkdir()
        case "pipe":
            os.mkfifo(file)
    for arguments in ((), ("--json",)):
        done = gate("check", file, *arguments)
        assert done.returncode == 2
        assert f"{file} cannot be checked: {found}" in done.stderr
        assert "Name the .jsonl file of a session" in done.stderr


@pytest.fixture
def session_in(tmp_path):
    """The tested session as if it had worked in a folder."""

    def worked(folder):
        lines = [json.loads(line) for line in TESTED.read_text().splitlines()]
        told = [
            {**line, "cwd": str(folder)} if line.get("type") in {"user", "assistant"} else line
            for line in lines
        ]
        file = tmp_path / "worked.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in told))
        return file

    return worked


@pytest.mark.parametrize("below", [".", "src/deep"])
def test_a_session_is_asked_what_the_top_of_its_project_asks(gate, repository, session_in, below, tmp_path):
    (repository / "sq.toml").write_text("[considerations.local_testing]\nenabled = false\n")
    own = repository / ".claude" / "power-steering.yaml"
    own.parent.mkdir()
    own.write_text("- {id: changelog, question: 'Is it in the changelog?', severity: blocker}\n")
    (repository / below).mkdir(parents=True, exist_ok=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shown = json.loads(gate("check", session_in(repository / below), "--json", folder=elsewhere).stdout)
    asked = {one["consideration_id"] for one in shown["examination"]["results"]}
    assert ("changelog" in asked, "local_testing" in asked) == (True, False)
    assert shown["project"] == str(repository)


def test_without_git_the_top_is_the_folder_with_the_settings(gate, session_in, tmp_path):
    below = tmp_path / "plain" / "a"
    below.mkdir(parents=True)
    (tmp_path / "plain" / "sq.toml").write_text("[considerations.local_testing]\nenabled = false\n")
    shown = json.loads(gate("check", session_in(below), "--json").stdout)
    assert shown["project"] == str(tmp_path / "plain")


def test_where_the_sessions_folder_is_gone_that_is_told_and_a_project_can_be_named(
    gate, session_in, repository, tmp_path
):
    file = session_in(tmp_path / "gone")
    done = gate("check", file, folder=repository)
    assert f"the folder {tmp_path / 'gone'} is not here. Give --project" in done.stderr
    assert "is not here" not in gate("check", file, "--project", repository).stderr


def test_where_nothing_was_checked_there_is_no_score(gate, repository, session_in):
    everything = json.loads(gate("considerations", "--json").stdout)["considerations"]
    off = "".join(f"[considerations.{one['id']}]\nenabled = false\n" for one in everything)
    (repository / "sq.toml").write_text(off + "[considerations.mine]\nquestion = 'Does anybody know?'\n")
    file = session_in(repository)
    figures = json.loads(gate("check", file, "--json").stdout)["examination"]["figures"]
    assert (figures["quality_score"], figures["workflow_compliant"]) == (None, None)
    shown = gate("check", file).stdout
    assert "may stop: nothing was checked" in shown
    assert "not checked" in shown.splitlines()[0]
    assert "100" not in shown


# --- usage ------------------------------------------------------------------------------------------------


@pytest.fixture
def used(repository):
    """A project with two sessions: 19 checks of the judge, one that it failed, two without a judge."""
    checks = {"one": [("judge", True, True)] * 18 + [("judge", False, True), ("not checked", None, None)]}
    checks["two"] = [("rule", True, True)] * 2
    for session, found in checks.items():
        store = SteeringStore.of_project(repository, session, environ={})
        for source, satisfied, rule in found:
            had = {"had_judge": session == "one", "seconds": 2.0 if source == "judge" else 0.5}
            name = "local_testing" if satisfied is False else "todos_complete"
            store.diagnostics.log(
                "check", consideration=name, source=source, satisfied=satisfied, rule_satisfied=rule, **had
            )
        store.diagnostics.log("check_results", allows=True)
    return repository


def test_usage_is_the_judges_share_where_there_was_one_and_the_disagreements(gate, used):
    below = used / "below"
    below.mkdir()
    shown = json.loads(gate("usage", "--json", folder=below).stdout)
    assert (shown["sessions"], shown["stops"], shown["checks"]) == (2, 2, 22)
    assert shown["by_source"] == {"judge": 19, "rule": 2, "not checked": 1}
    assert (shown["judge_could"], shown["judge_did"]) == (20, 19)
    assert (shown["judge_share"], shown["target"], shown["target_kept"]) == (0.95, 0.95, True)
    assert shown["median_seconds"] == {"judge": 2.0, "rule": 0.5, "not checked": 0.5}
    assert shown["compared"] == 19
    (one,) = shown["disagreements"]
    assert (one["consideration"], one["session"]) == ("local_testing", "one")
    assert (one["judge_satisfied"], one["rule_satisfied"]) == (False, True)


def test_usage_in_words_says_whether_the_target_is_kept(gate, used, tmp_path):
    told = gate("usage", "--project", used).stdout
    assert "judge used: 95.0% of 20 checks with a judge to ask, the target of 95% is kept" in told
    assert "judge and rule: 1 disagreements in 19 checks that both answered" in told
    SteeringStore.of_project(used, "three", environ={}).diagnostics.log(
        "check", source="rule", had_judge=True
    )
    assert "is missed" in gate("usage", "--project", used).stdout
    assert "no check of power steering" in gate("usage", folder=tmp_path).stdout


# --- considerations ---------------------------------------------------------------------------------------


def test_the_considerations_are_a_table_and_one_object(gate):
    table = gate("considerations").stdout
    assert re.search(r"^tutorial_needed +off ", table, re.MULTILINE)
    assert re.search(r"^todos_complete +blocker +todos +development +Is every item", table, re.MULTILINE)
    assert len(json.loads(gate("considerations", "--json").stdout)["considerations"]) == 23


def test_the_considerations_of_another_project_are_shown(gate, repository):
    (repository / "sq.toml").write_text("[considerations.changelog]\nquestion = 'Is it in the changelog?'\n")
    assert "changelog" in gate("considerations", "--project", repository).stdout
    assert "changelog" not in gate("considerations").stdout


# --- disable, enable --------------------------------------------------------------------------------------


def off(repository, session):
    return SteeringStore.of_project(repository, session, environ={}).disabled_until()


def test_steering_is_switched_off_for_a_time_and_on_again(gate, repository):
    assert (
        "off for every session of this project until 2"
        in gate("disable", "--for", "2h", folder=repository).stdout
    )
    assert off(repository, "any") is not None
    told = gate("check", TESTED, "--project", repository).stdout
    assert "may stop: not judged, because power steering is switched off until 2" in told
    assert "on for every session" in gate("enable", folder=repository).stdout
    assert off(repository, "any") is None
    assert "switched off" not in gate("check", TESTED, "--project", repository).stdout


def test_one_session_alone_can_be_switched_off_until_it_is_enabled(gate, repository):
    gate("disable", "--session", "one", "--project", repository)
    assert off(repository, "one").year == 9999
    assert off(repository, "two") is None
    gate("enable", "--session", "one", folder=repository)
    assert off(repository, "one") is None


def test_switching_names_a_project(gate, repository):
    gate("disable", folder=repository)
    gate("enable", "--project", repository)
    assert off(repository, "any") is None


@pytest.mark.parametrize("span", ["2", "h", "0h", "-1h", "2 weeks", ""])
def test_a_span_that_is_none_is_refused(gate, repository, span):
    done = gate("disable", "--for", span, folder=repository)
    assert done.returncode == 2
    assert "30m, 2h or 1d" in done.stderr


@pytest.mark.parametrize("command", ["disable", "enable"])
def test_a_session_id_with_control_characters_is_refused(gate, repository, command):
    done = gate(command, "--session", "a\x1b[2J", folder=repository)
    assert done.returncode == 2
    assert "has control characters" in done.stderr
    assert not (repository / ".claude").exists()


def test_no_session_id_leads_out_of_the_state_folder(gate, repository):  # lesson 38
    gate("disable", "--session", "../../evil", folder=repository)
    below = repository / ".claude" / "runtime" / "power-steering"
    made = list(repository.parent.rglob("state.json"))
    assert made
    assert all(file.is_relative_to(below) for file in made)


@pytest.mark.parametrize("kind", ["fifo", "folder", "zero", "sparse"])
def test_what_is_no_session_is_said_at_once(kind, gate, tmp_path):
    path = tmp_path / "s.jsonl"
    match kind:
        case "fifo":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "zero":
            path.symlink_to("/dev/zero")
        case _:
            with path.open("wb") as file:
                file.truncate(10_000_000_000)
    done = gate("check", path, "--rules")
    assert done.returncode == 2
    assert "cannot be checked" in done.stderr


def test_a_check_ends_at_its_deadline_also_in_a_slow_pattern():
    with pytest.raises(UsageError, match=r"took longer than 0\.2 s"), within(0.2, "the check"):
        re.match(r"(?:a|a)+b", "a" * 40)
    with within(60, "the check"):
        pass
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


# --- the same answer as the hook's --------------------------------------------------------------------------


def test_open_todos_hold_a_session_without_code_as_the_hook_does(gate, tmp_path):
    lines = Lines()
    lines.user("What is left?", cwd=str(tmp_path))
    todos = {"todos": [{"content": "callers", "status": "pending"}]}
    lines.call("TodoWrite", todos, output="Todos have been modified successfully")
    lines.assistant({"type": "text", "text": "The callers."})
    file = tmp_path / "session.jsonl"
    file.write_bytes(lines.data)
    done = gate("check", file, "--rules")
    assert (done.returncode, "held by the step P3_TODOS:" in done.stdout) == (1, True), done.stdout
    shown = json.loads(gate("check", file, "--rules", "--json").stdout)
    assert (shown["may_stop"], shown["held_by"]) == (False, "P3_TODOS")
    assert "callers" in shown["reason"]


def test_a_failed_worker_holds_an_orchestrators_session_as_the_hook_does(gate, tmp_path):
    lines = Lines()
    lines.user("Build it.", cwd=str(tmp_path))
    lines.call("Task", {"prompt": "Build."}, "error", "It crashed.")
    lines.assistant({"type": "text", "text": "Done."})
    file = tmp_path / "session.jsonl"
    file.write_bytes(lines.data)
    assert gate("check", file, "--rules").returncode == 0
    done = gate("check", file, "--rules", CLAUDE_SESSION_ID="orch-night")
    assert (done.returncode, "held by the step P2_5_ORCHESTRATOR:" in done.stdout) == (1, True)


@pytest.mark.late
def test_over_all_labelled_sessions_the_check_says_what_the_hook_does(tmp_path, monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    known = [one.id for one in load_considerations(None).considerations]
    labelled = load_labelled(OURS, tmp_path, known)
    differing = []
    for number, one in enumerate(labelled):
        home = tmp_path / f"project-{number}"
        home.mkdir()
        read = read_transcript(one.transcript)
        given = {
            "session_id": read.session_id,
            "transcript_path": str(one.transcript),
            "cwd": str(home),
            "background_tasks": [{"status": "running"}] * len(facts_of(read).running),
        }
        steered = number % 60 == 0  # each of these looks for a login
        answered = {}
        if not runs_on(given):
            answered = answer(stop_of(given, os.environ, with_steering=steered), STEPS.items)
        checked = check_session(one.transcript, rules_only=True, project=home)
        held = checked.held_by if steered else checked.held_by.replace("P3_2_STEERING", "")
        if (answered.get("decision") == "block") != bool(held):
            differing.append((one.name, answered, checked.held_by))
    assert len(labelled) > 700
    assert not differing
