"""The stop gate as Claude Code calls it: whatever comes in, one answer of the protocol or none, and exit code 0."""

import json
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from language.sampled import examples
from language.stop_inputs import CLAUDE, HOOK, Lines, check_answer, inputs, run_hook, transcripts

from orchestrator.gates.promise_evidence import evidence_now
from orchestrator.gates.promises import CriterionCheck, Promise, PromiseCriterion, PromiseStore
from orchestrator.gates.session_state.records import MOST_BLOCKS
from orchestrator.gates.stop_gate import probe
from orchestrator.gates.stop_gate.order import STEPS
from orchestrator.gates.stop_gate.steps import todos
from orchestrator.gates.stop_gate.stop import answer, stop_of

STATES = Path(".claude", "runtime", "power-steering")


@pytest.fixture
def lines():
    found = Lines()
    found.user("Do it.")
    return found


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def stop(project, lines=None, **more):
    """The input of a stop; `lines` are written as its transcript."""
    transcript = project.parent / "session.jsonl"
    if lines is not None:
        transcript.write_bytes(lines.data)
    return {
        "session_id": CLAUDE,
        "transcript_path": str(transcript),
        "cwd": str(project),
        "prompt_id": "p-1",
        "permission_mode": "default",
        "hook_event_name": "Stop",
        "stop_hook_active": False,
        "last_assistant_message": "All is done.",
        "background_tasks": [],
        "session_crons": [],
        **more,
    }


def open_todo(lines, state="pending"):
    lines.call("TodoWrite", {"todos": [{"content": "callers", "status": state}]})
    lines.assistant({"type": "text", "text": "All is done."})
    return lines


def logged(project):
    found = (project / STATES).rglob("diagnostic.jsonl")
    return [json.loads(line) for file in found for line in file.read_text().splitlines()]


def files_under(folder):
    return {path for path in folder.rglob("*") if path.is_file()}


# --- what generated inputs and transcripts lead to --------------------------------------------------------


@pytest.mark.night
@settings(max_examples=examples(200, at_night=1_000), deadline=None)
@given(data=st.data())
def test_no_input_and_no_transcript_breaks_the_gate_and_what_it_says_is_the_protocol(data):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        project = folder / "project"
        project.mkdir()
        (folder / "t.jsonl").write_bytes(data.draw(transcripts()))
        told = data.draw(inputs(project, folder / "t.jsonl"))
        environ = {"HOME": name, "SQ_PS_NO_FSYNC": "1"}
        probe.runs_on(told)
        probe.may_apply(told)
        said = answer(stop_of(told, environ, with_steering=False), STEPS.items)
        check_answer(json.loads(json.dumps(said)))
        assert all(
            file.is_relative_to(project / STATES) for file in files_under(folder) - {folder / "t.jsonl"}
        )


@pytest.mark.late
@pytest.mark.night
@settings(max_examples=examples(300, at_night=1_000), deadline=None)
@given(transcript=transcripts(), active=st.booleans())
def test_where_the_probe_sees_nothing_no_step_would_have_held_the_session(transcript, active):
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "t.jsonl"
        file.write_bytes(transcript)
        told = {"session_id": CLAUDE, "transcript_path": str(file), "cwd": name, "stop_hook_active": active}
        if not probe.may_apply(told):
            it = stop_of(told, {"HOME": name}, with_steering=False)
            assert [priority.name for priority, step in STEPS.items() if step.applies(it)] == []
            assert not todos.check(it).blocks  # whether it applies is the probe's own word


def _through_a_process(data):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        project = folder / "project"
        project.mkdir()
        (folder / "t.jsonl").write_bytes(data.draw(transcripts()))
        told = data.draw(inputs(project, folder / "t.jsonl"))
        odd = data.draw(st.sampled_from([None] * 9 + [b"", b"\xff", b"[1]", b"{", b'{"a":' * 9_000]))
        run_hook(told if odd is None else odd, CLAUDE_PROJECT_DIR=str(project), HOME=name)
        assert all(
            file.is_relative_to(project / STATES) for file in files_under(folder) - {folder / "t.jsonl"}
        )


@pytest.mark.night
@settings(max_examples=examples(12, at_night=40), deadline=None)
@given(data=st.data())
def test_as_a_process_it_ends_with_0_and_says_nothing_or_one_answer(data):
    _through_a_process(data)


@pytest.mark.slow
@pytest.mark.timeout(1_200)
@settings(max_examples=1_000, deadline=None)
@given(data=st.data())
def test_as_a_process_it_does_so_a_thousand_times(data):
    _through_a_process(data)


# --- inputs that are no stop ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "no JSON"),
        (b"stop", "no JSON"),
        (b"\xff\xfe", "no JSON"),
        (b"[1, 2]", "no JSON object"),
        (b"null", "no JSON object"),
        (b"[" * 100_000, "no JSON"),
        (b'{"a": ' + b"9" * 5_000 + b"}", "no JSON"),
        (b'{"a":"' + b"x" * 11_000_000 + b'"}', "larger than 10 MB"),
    ],
    ids=["empty", "words", "bytes", "list", "null", "nested", "a long number", "11 MB"],
)
def test_what_is_no_stop_lets_the_session_go_and_the_diagnostics_say_why(project, data, problem):
    assert run_hook(data, CLAUDE_PROJECT_DIR=str(project)) == {}
    (entry,) = logged(project)
    assert (entry["operation"], entry["success"]) == ("stop_input", False)
    assert problem in entry["error"]


def test_without_any_input_or_a_place_to_say_something_it_ends_all_the_same(project, lines, shell):
    hook_stop = f"{Path(os.sys.executable)} -I -m orchestrator.cli hook stop"
    assert shell(project, "sh", "-c", f"{hook_stop} <&-") == ""
    told = stop(project, open_todo(lines), session_id="system3-1")
    (project / "in.json").write_text(json.dumps(told))
    assert shell(project, "sh", "-c", f"{hook_stop} <in.json >&-") == ""


@pytest.mark.parametrize("session", ["system3-1", "orch-1", CLAUDE])
def test_missing_fields_and_fields_of_other_types_are_left_out_of_account(project, session):
    assert run_hook({"session_id": session}, CLAUDE_PROJECT_DIR=str(project)).get("decision") is None
    odd = {name: [{}] for name in stop(project)}
    odd |= {"background_tasks": [{"status": ["completed"]}], "session_crons": {}}
    assert run_hook({**odd, "session_id": session}, CLAUDE_PROJECT_DIR=str(project)) == {}


# --- transcripts that cannot be read ----------------------------------------------------------------------


@pytest.fixture(params=["folder", "pipe", "nothing", "binary", "zeros", "null byte", "empty"])
def odd_path(request, tmp_path):
    file = tmp_path / "odd.jsonl"
    match request.param:
        case "folder":
            file.mkdir()
        case "pipe":
            os.mkfifo(file)
        case "binary":
            file.write_bytes(bytes(range(256)) * 40)
        case "zeros":
            return "/dev/zero"
        case "null byte":
            return f"{file}\0"
        case "empty":
            file.touch()
        case _:
            pass
    return str(file)


@pytest.mark.parametrize("session", ["system3-1", CLAUDE])
def test_a_transcript_that_cannot_be_read_keeps_nobody_and_is_not_waited_for(project, odd_path, session):
    told = stop(project, session_id=session, transcript_path=odd_path, last_assistant_message="")
    said = run_hook(told, ANTHROPIC_API_KEY="k")
    assert "decision" not in said
    assert ("there is no transcript to read" in said.get("systemMessage", "")) == (session != CLAUDE)


def test_a_pipe_among_the_files_of_tasks_or_of_the_tracker_is_not_waited_for(project, lines, home):
    tasks = home / ".claude" / "tasks" / CLAUDE
    tasks.mkdir(parents=True)
    os.mkfifo(tasks / "1.json")
    (project / ".beads").mkdir()
    os.mkfifo(project / ".beads" / "issues.jsonl")
    assert run_hook(stop(project, lines)) == {}


def test_a_half_written_last_line_hides_nothing_that_stands_before_it(project, lines):
    told = stop(project, open_todo(lines))
    with Path(told["transcript_path"]).open("ab") as file:
        file.write(b'{"type":"assistant","message":{"content":[{"type":"tool_use","name":"TodoWrite","inp')
    assert "callers" in run_hook(told)["reason"]


# --- lists that only look closed --------------------------------------------------------------------------


def done(name):
    return [{"content": name, "status": "completed"}]


def test_a_list_that_was_closed_by_a_call_that_failed_is_open(project, lines):
    open_todo(lines).call("TodoWrite", {"todos": done("callers")}, "error", "InputValidationError")
    assert "callers" in run_hook(stop(project, lines))["reason"]


def test_a_task_that_was_made_before_the_file_begins_is_open(project, lines):
    lines.call("TaskUpdate", {"taskId": "7", "status": "in_progress"}, output="Updated task #7 status")
    assert "task #7" in run_hook(stop(project, lines))["reason"]


def test_another_task_that_was_closed_closes_no_open_one(project, lines):
    lines.call("TaskCreate", {"subject": "Wire it"}, output="Task #1 created", data={"task": {"id": "1"}})
    lines.call("TaskUpdate", {"taskId": "2", "status": "completed"}, output="Updated task #2 status")
    assert "Wire it" in run_hook(stop(project, lines))["reason"]


def test_the_tools_that_stand_in_the_file_are_no_calls_and_cost_no_close_look(project, lines):
    lines.call("TaskCreate", {"subject": "Wire it"}, output="Task #1 created", data={"task": {"id": "1"}})
    lines.call("TaskUpdate", {"taskId": "1", "status": "completed"}, output="Updated task #1 status")
    lines.add("attachment", attachment={"tools": [{"name": "TaskCreate"}, {"name": "TodoWrite"}]})
    lines.add("api-request-shape", shape={"tools": [{"name": "TaskCreate"}, {"name": "TodoWrite"}]})
    assert not probe.may_apply(stop(project, lines))


def test_a_task_whose_file_was_cleared_away_was_not_taken_off_the_list(project, lines, home):
    lines.call("TaskCreate", {"subject": "Wire it"}, output="Task #1 created", data={"task": {"id": "1"}})
    lines.user("Stop hook feedback:\ngo on", isMeta=True)
    lines.call("TaskUpdate", {"taskId": "1", "status": "completed"}, output="Updated task #1 status")
    tasks = home / ".claude" / "tasks" / CLAUDE
    tasks.mkdir(parents=True)
    (tasks / "2.json").write_text('{"id": "2", "subject": "Document it", "status": "pending"}')
    said = run_hook(stop(project, lines))
    assert "Document it" in said["reason"]
    assert "Wire it" not in said["reason"]


# --- names and folders ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "session", ["../../evil", "", "a/b", "..", "x" * 400, "system3-../../../evil", "\ud800"]
)
def test_no_session_id_leads_out_of_the_projects_own_folder(project, lines, session):
    told = stop(project, open_todo(lines), session_id=session, prompt_id=session)
    before = files_under(project.parent)
    assert "callers" in run_hook(told)["reason"]
    made = files_under(project.parent) - before
    assert made
    assert all(file.is_relative_to(project / STATES) for file in made)


@pytest.mark.parametrize("name", ["session_id", "prompt_id", "CLAUDE_SESSION_ID"])
@pytest.mark.parametrize("sign", ["\x1b[2J", "\n", "\x7f", "\x9b"])
def test_an_id_with_control_characters_is_refused_and_holds_nobody(project, lines, name, sign):
    told = stop(project, open_todo(lines))
    environ = {}
    if name.isupper():
        environ[name] = f"s{sign}"
    else:
        told[name] = f"s{sign}"
    said = run_hook(told, **environ)
    assert "decision" not in said
    assert f"{name} has control characters" in said["systemMessage"]
    assert not (project / ".claude").exists()


def test_a_project_that_is_gone_is_not_made_again(project, lines, tmp_path):
    told = stop(project, open_todo(lines), cwd=str(tmp_path / "gone"))
    assert (
        "callers"
        in run_hook(told, CLAUDE_PROJECT_DIR=str(tmp_path / "gone-too"), SQ_PS_STATE_DIR=str(tmp_path / "s"))[
            "reason"
        ]
    )
    assert not (tmp_path / "gone").exists()
    assert not (tmp_path / "gone-too").exists()


def test_a_promise_is_found_from_a_folder_below_the_top_of_the_checkout(repository, lines):
    folder = repository / ".claude" / "completion-state" / "promises"
    folder.mkdir(parents=True)
    below = repository / "a" / "b"
    below.mkdir(parents=True)
    told = stop(repository, lines, cwd=str(below))
    assert not probe.may_apply(told)
    (folder / "x.json").write_text("{}")
    assert probe.may_apply(told)


# --- what skips everything --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "more",
    [
        {"background_tasks": [{"id": "b1", "type": "shell", "status": "running", "command": "make"}]},
        {"session_crons": [{"id": "c1", "cron": "*/5 * * * *"}]},
    ],
)
def test_work_that_goes_on_without_the_session_skips_everything(project, lines, more):
    told = stop(project, open_todo(lines), session_id="system3-1", **more)
    assert run_hook(told) == {}
    assert not (project / ".claude").exists()


def test_background_work_that_has_ended_skips_nothing(project, lines):
    told = stop(project, open_todo(lines), background_tasks=[{"id": "b1", "status": "completed"}])
    assert "callers" in run_hook(told)["reason"]


def test_a_claude_code_that_sq_started_is_left_alone(project, lines):
    told = stop(project, open_todo(lines), session_id="system3-1")
    assert run_hook(told, SQ_AGENT="1") == {}
    assert not (project / ".claude").exists()


def test_a_session_without_anything_to_look_at_leaves_no_trace(project, lines):
    assert run_hook(stop(project, open_todo(lines, "completed"))) == {}
    assert not (project / ".claude").exists()


def test_ended_promises_and_those_of_others_cost_a_session_no_close_look(project, lines):
    store = PromiseStore.of_project(project)
    (project / "guide.md").write_text("x")
    for owner in (CLAUDE, CLAUDE, "another"):
        guide = PromiseCriterion(text="a guide", kind=CriterionCheck.FILE, target="guide.md")
        promise = store.add(Promise.new(text="A guide", criteria=[guide], owner=owner, base=""))
        if owner == CLAUDE:
            found = anyio.run(evidence_now, project, promise, [1])
            store.change(promise.id, lambda one, found=found: one.with_evidence(found).closed())
    told = stop(project, lines)
    assert run_hook(told) == {}
    assert not (project / STATES).exists()
    file = store.folder / f"{promise.id}.json"
    file.write_text(file.read_text().replace('"another"', f'"{CLAUDE}"'))
    assert "A guide" in run_hook(told)["reason"]


def test_without_a_key_a_system_3_session_costs_what_others_do_and_is_told_that_nobody_judged(project, lines):
    skipped = {"systemMessage": "the System 3 judge was skipped: ANTHROPIC_API_KEY is not set"}
    told = stop(project, lines, session_id="system3-1")
    for key in ({}, {"ANTHROPIC_API_KEY": ""}):
        assert run_hook(told, **key) == skipped
        assert not (project / STATES).exists()
    assert run_hook(stop(project, lines), CLAUDE_SESSION_ID="system3-2") == skipped
    assert run_hook(stop(project, open_todo(lines), session_id="system3-1"))["decision"] == "block"


# --- how often it holds -----------------------------------------------------------------------------------


def test_a_session_is_held_seven_times_a_prompt_whatever_it_does_between(project, lines):
    open_todo(lines)
    for held in range(MOST_BLOCKS):
        said = run_hook(stop(project, lines, stop_hook_active=held > 0))
        assert said["decision"] == "block", held
        lines.user(f"Stop hook feedback:\n{said['reason']}", isMeta=True)
        lines.call("Bash", {"command": "make"})
        lines.assistant({"type": "text", "text": f"Done, the {held}. time."})
    said = run_hook(stop(project, lines, stop_hook_active=True))
    assert "decision" not in said
    assert "held 7 times" in said["systemMessage"]
    assert "callers" in said["systemMessage"]
    assert run_hook(stop(project, lines, stop_hook_active=True, prompt_id="p-2"))["decision"] == "block"


def test_that_a_hook_has_held_before_exempts_nobody(project, lines):
    assert run_hook(stop(project, open_todo(lines), stop_hook_active=True))["decision"] == "block"


def test_where_nothing_can_be_counted_a_session_is_held_once_and_then_let_go_with_the_reason(project, lines):
    (project / ".claude").write_text("a file where the folder should be")
    told = stop(project, open_todo(lines))
    assert run_hook(told)["decision"] == "block"
    said = run_hook({**told, "stop_hook_active": True})
    assert "decision" not in said
    assert "cannot be counted" in said["systemMessage"]
    assert "callers" in said["systemMessage"]


def test_a_transcript_under_another_folder_is_found_by_its_id_and_a_missing_one_is_told(project, lines):
    told = stop(project, open_todo(lines))
    elsewhere = Path(os.environ["CLAUDE_CONFIG_DIR"]) / "projects" / "-main" / f"{CLAUDE}.jsonl"
    elsewhere.parent.mkdir(parents=True)
    Path(str(told["transcript_path"])).rename(elsewhere)
    assert run_hook(told)["decision"] == "block"
    elsewhere.unlink()
    said = run_hook(told)
    assert "decision" not in said
    assert f"is not there, so its list was not read: {told['transcript_path']}" in said["systemMessage"]


@pytest.mark.parametrize(
    "error",
    [
        "You've hit your session limit · resets 3pm",
        "Claude AI usage limit reached|1749924000",
        "API Error: 529 overloaded",
    ],
)
def test_a_turn_that_an_error_of_the_api_ended_is_let_go_with_it(project, lines, error):
    told = stop(project, open_todo(lines))
    with Path(str(told["transcript_path"])).open("a") as file:
        message = {"role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": error}]}
        file.write(
            json.dumps({"type": "assistant", "uuid": "last", "isApiErrorMessage": True, "message": message})
            + "\n"
        )
    said = run_hook(told)
    assert "decision" not in said
    assert said["systemMessage"].endswith(f"so the session may stop: {error}")


@pytest.mark.late
def test_of_sixteen_concurrent_hooks_on_one_prompt_exactly_seven_hold_the_session(project, lines):
    told = stop(project, open_todo(lines))
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: run_hook(told, SQ_PS_NO_FSYNC="1"), range(16)))
    assert sum("decision" in said for said in answers) == MOST_BLOCKS
    assert sum("held 7 times" in said.get("systemMessage", "") for said in answers) == 16 - MOST_BLOCKS


@pytest.mark.late
def test_a_full_disk_leaves_no_state_or_the_old_one_and_no_heap_of_copies(project, lines, shell):
    told = stop(project, open_todo(lines))
    (project / "in.json").write_text(json.dumps(told))
    full = f"ulimit -f 0; exec {Path(os.sys.executable)} -I -m orchestrator.cli hook stop <in.json"
    folder = project / STATES / CLAUDE
    said = [shell(project, "sh", "-c", full) for _ in range(2)]
    assert all(json.loads(one)["decision"] == "block" for one in said)
    assert not (folder / "state.json").exists()
    assert run_hook(told)["decision"] == "block"
    old = (folder / "state.json").read_bytes()
    shell(project, "sh", "-c", full)
    assert (folder / "state.json").read_bytes() == old
    (folder / "state.json").write_bytes(b"")
    for _ in range(3):
        shell(project, "sh", "-c", full)
    assert len(list(folder.glob("*corrupt*"))) == 1


def test_the_same_gate_in_two_scopes_holds_a_stop_once_and_the_next_one_again(project, lines):
    told = stop(project, open_todo(lines))
    for number in (1, 2, 3):
        both = [run_hook(told), run_hook(told, "--shared")]
        if number == 3:  # whichever comes first
            both = [run_hook(told, "--shared"), run_hook(told)]
        assert ["decision" in said for said in both] == [True, False]
    state = json.loads((project / STATES / CLAUDE / "state.json").read_text())
    assert state["blocks_by_prompt"] == {"p-1": 4}
    assert [one["is_shared"] for one in logged(project) if one["operation"] == "stop_taken"] == [
        True, True, True, False
    ]  # fmt: skip


def test_a_damaged_counter_holds_nobody_for_good(project, lines):
    told = stop(project, open_todo(lines))
    file = project / STATES / CLAUDE / "state.json"
    file.parent.mkdir(parents=True)
    for held in range(MOST_BLOCKS + 1):
        if held == 3:
            file.write_text('{"blocks_by_prompt": {"p-1"')
        assert "decision" in run_hook(told)


def test_notes_for_people_come_with_a_block_too(project, lines):
    (project / ".claude" / "completion-state" / "promises").mkdir(parents=True)
    damaged = project / ".claude" / "completion-state" / "promises" / "promise-20260101-000000-abcdef.json"
    damaged.write_text("{")
    said = run_hook(stop(project, open_todo(lines)))
    assert "callers" in said["reason"]
    assert "cannot be read" in said["systemMessage"]


def test_an_item_as_long_as_a_book_is_told_in_part(project, lines):
    lines.call(
        "TodoWrite", {"todos": [{"content": "read \x1b[2J\x07 " + "x " * 50_000, "status": "pending"}]}
    )
    said = run_hook(stop(project, lines))
    assert said["reason"].startswith("1 item(s) of your list")
    assert "\x1b" not in said["reason"]


# --- the watchdog -----------------------------------------------------------------------------------------


@pytest.fixture
def sleeping_git(tmp_path):
    """A PATH on which git does nothing for a minute."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "git").write_text("#!/bin/sh\nexec sleep 60\n")
    (folder / "git").chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def test_a_git_that_hangs_is_not_waited_for_and_people_are_told(repository, lines, sleeping_git):
    (repository / ".beads").mkdir()
    said = run_hook(stop(repository, lines), PATH=sleeping_git)
    assert "decision" not in said
    assert "could not check whether the beads are synced" in said["systemMessage"]


def test_a_project_whose_git_folder_is_a_pipe_holds_up_no_stop_that_cannot_be_read(project):
    os.mkfifo(project / ".git")
    assert run_hook(b"{", CLAUDE_PROJECT_DIR=str(project)) == {}


@pytest.mark.slow
def test_a_pattern_that_never_ends_is_ended_by_the_watchdog(project, lines):
    lines.user("<system-reminder>" * 400_000)
    said = run_hook(stop(project, open_todo(lines)))
    assert "no answer within 6 s" in said["systemMessage"]


@pytest.mark.late
def test_the_hook_ends_also_if_its_input_does_not(tmp_path):
    process = subprocess.Popen(
        HOOK, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path
    )
    with process:
        process.stdin.write(b"{")
        process.stdin.flush()
        assert process.wait(30) == 0
        assert "may stop" in json.loads(process.stdout.read())["systemMessage"]


@pytest.mark.late
def test_a_transcript_that_takes_long_to_look_through_lets_the_session_stop(tmp_path):
    calls = (
        json.dumps(
            {
                "type": "assistant",
                "message": {
                    "content": [{"type": "tool_use", "id": f"t-{number}", "name": "TaskCreate", "input": {}}]
                },
            }
        )
        for number in range(130_000)
    )
    path = tmp_path / "s.jsonl"
    path.write_text("\n".join(calls) + "\n")
    said = run_hook({"session_id": "s", "cwd": str(tmp_path), "transcript_path": str(path)}, timeout=30)
    assert "decision" not in said


@pytest.mark.parametrize("kind", ["fifo", "folder", "zero", "sparse"])
def test_a_transcript_that_is_none_is_no_reason_to_wait(kind, tmp_path):
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
    given = {"session_id": "orch-1", "cwd": str(tmp_path), "transcript_path": str(path)}
    assert "decision" not in run_hook(given, "--power-steering", timeout=60)
