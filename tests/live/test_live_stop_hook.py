"""The installed stop hook in a System 3 session, judged by a real model."""

import json

import pytest
from language.stop_inputs import CLAUDE, Lines, run_hook

pytestmark = [pytest.mark.live, pytest.mark.timeout(120)]

SYSTEM3 = {"CLAUDE_SESSION_ID": "system3-20260101T000000Z-0a1b2c3d"}
GOAL = (
    "Direct the orchestrator orch-7 until the CSV export is finished. Have the work validated by an independent "
    "validation agent, store a reflection in Hindsight and clean up the tmux sessions before you end."
)


def begun():
    lines = Lines()
    lines.user(GOAL)
    lines.call("Bash", {"command": "tmux new-session -d -s orch-7"}, output="")
    lines.call(
        "Bash", {"command": "bd show csv-export"}, output="csv-export: in_progress, 2 of 5 tasks closed"
    )
    return lines


def in_the_middle():
    lines = begun()
    lines.call("Bash", {"command": "tmux ls"}, output="orch-7: 1 windows (attached)")
    words = "orch-7 has closed 2 of 5 tasks and goes on with the third one. Validation and reflection are not done yet."
    lines.assistant({"type": "text", "text": words})
    return lines, words


def finished():
    lines = begun()
    lines.call("Bash", {"command": "bd show csv-export"}, output="csv-export: closed, 5 of 5 tasks closed")
    validation = {
        "subagent_type": "validation-agent",
        "description": "Validate",
        "prompt": "Validate csv-export.",
    }
    proof = "Validated independently: the export writes all 3 columns; pytest -q: 41 passed. csv-export: ACCEPTED."
    lines.call("Agent", validation, output=proof)
    lines.call(
        "Bash",
        {"command": "promise verify csv-export"},
        output="csv-export: VERIFIED, proof: validation report",
    )
    lines.call(
        "mcp__hindsight__retain",
        {"content": "Reflection: small tasks with a test each went well."},
        output="stored",
    )
    lines.call("Bash", {"command": "tmux kill-session -t orch-7; tmux ls"}, output="no server running")
    words = "The CSV export is finished and validated, the reflection is stored, and no tmux session is left. Nothing is open."
    lines.assistant({"type": "text", "text": words})
    return lines, words


@pytest.fixture
def stop(project, tmp_path):
    """One stop of a System 3 session in the project, with what the hook says."""

    def stopped(session, **environ):
        lines, words = session
        transcript = tmp_path / "session.jsonl"
        transcript.write_bytes(lines.data)
        given = {
            "session_id": CLAUDE,
            "transcript_path": str(transcript),
            "cwd": str(project),
            "prompt_id": "p",
            "hook_event_name": "Stop",
            "last_assistant_message": words,
        }
        return run_hook(given, **SYSTEM3, **environ)

    return stopped


def test_a_session_that_stops_in_the_middle_is_held_with_a_reason(stop, access):
    said = stop(in_the_middle(), **access)
    assert said.get("decision") == "block", said
    assert said["reason"].startswith("The session has not reached its end yet: ")
    assert "no reason was given" not in said["reason"]


def test_a_session_that_is_finished_may_stop_and_the_judge_was_asked(stop, access):
    said = stop(finished(), **access)
    assert "decision" not in said, said
    assert "judge was skipped" not in json.dumps(said)


def test_an_open_promise_holds_a_session_and_no_model_is_asked(stop, sq):
    promise = ("The export is described", "--file", "export.md", "--session", SYSTEM3["CLAUDE_SESSION_ID"])
    made = sq("promise", "create", *promise)
    assert made.returncode == 0, made.stderr
    said = stop(finished())
    assert said.get("decision") == "block", said
    assert "The export is described" in said["reason"]
