"""Power steering in the hook (P3.2): only where it is asked for, with the model that the environment names."""

import json
import os
from datetime import UTC, datetime, timedelta

import anyio
import pytest
from language.stop_inputs import CLAUDE, HOOK, Lines, answer_of

from agents.access import RehearsalConnection
from agents.caller import Caller
from agents.gateway.ledger import read_ledger
from agents.gateway.script import Scenario
from agents.gateway.server import serve_scenario
from orchestrator.cli.gate.check import usage_of
from orchestrator.gates.power_steering.considerations import SessionType, load_considerations
from orchestrator.gates.session_state.store import SteeringStore
from state.roles import Role

SATISFIED = {"structured": {"verdict": "satisfied", "reason": "It was seen.", "quote": ""}}
UNTESTED = {
    "structured": {"verdict": "not_satisfied", "reason": "No test ran after the change.", "quote": ""}
}

# Each has a call of its own, because a person waits.
ASKED = sum(one.is_for(SessionType.DEVELOPMENT) for one in load_considerations(None).considerations)


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def stop(tmp_path, project):
    """One stop of a session that changed code and ran no tests: `answer, number of questions`."""
    lines = Lines()
    lines.user("Add the discount.", cwd=str(project))
    lines.call(
        "Write", {"file_path": str(project / "price.py"), "content": "RATE = 10\n"}, output="File created"
    )
    lines.assistant({"type": "text", "text": "The discount is there."})
    (tmp_path / "session.jsonl").write_bytes(lines.data)

    async def stopped(*replies, flags=("--power-steering",), **more):
        told = {
            "session_id": CLAUDE,
            "transcript_path": str(tmp_path / "session.jsonl"),
            "cwd": str(project),
            "prompt_id": "p",
            **more,
        }
        ledger = tmp_path / "ledger.jsonl"
        ledger.unlink(missing_ok=True)
        scenario = Scenario(scenario=1, callers={"judge/*": list(replies)})
        with anyio.fail_after(60):
            async with serve_scenario(scenario, run_id="r", ledger=ledger) as gateway:
                connection = RehearsalConnection(gateway=gateway, config_dir=tmp_path / "claude")
                access = connection.api_access(Caller(role=Role.JUDGE, task="stop", attempt=1))
                own = {"ANTHROPIC_API_KEY": access.key, "ANTHROPIC_BASE_URL": access.base_url}
                data = json.dumps(told).encode()
                environ = {**os.environ, **own}
                done = await anyio.run_process([*HOOK, *flags], input=data, env=environ, check=False)
                assert (done.returncode, done.stderr, gateway.problems) == (0, b"", [])
        return answer_of(done.stdout), len(read_ledger(ledger))

    return stopped


def not_tested():
    (one,) = (one for one in load_considerations(None).considerations if one.id == "local_testing")
    return {**UNTESTED, "when": one.question}


@pytest.mark.late
async def test_an_unmet_blocker_holds_the_session_until_the_same_one_was_open_three_times(stop):
    replies = [not_tested(), SATISFIED]
    for _ in range(2):
        said, questions = await stop(*replies)
        assert "No test ran after the change." in said["reason"]
        assert questions == ASKED
    said, _ = await stop(*replies)
    assert "decision" not in said
    assert "the same points were open 3 times running" in said["systemMessage"]


async def test_a_session_that_meets_all_may_stop(stop):
    said, questions = await stop(SATISFIED)
    assert ("decision" in said, questions) == (False, ASKED)


async def test_the_source_and_the_time_of_each_verdict_are_logged_and_the_usage_is_computed_from_them(
    stop, project
):
    await stop(not_tested(), SATISFIED)
    log = project / ".claude" / "runtime" / "power-steering" / CLAUDE / "diagnostic.jsonl"
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    checks = {one["consideration"]: one for one in entries if one["operation"] == "check"}
    assert len(checks) > 5
    assert {one["source"] for one in checks.values()} == {"judge"}
    assert all(one["seconds"] > 0 for one in checks.values())
    assert checks["local_testing"]["satisfied"] is False
    (figures,) = (one for one in entries if one["operation"] == "check_results")
    assert (figures["files_modified"], figures["allows"]) == (1, False)
    usage = usage_of(project)
    assert (usage.stops, usage.checks, usage.by_source["judge"]) == (1, len(checks), len(checks))
    assert (usage.judge_share, usage.target_kept) == (1.0, True)
    asked_twice = {name: one for name, one in checks.items() if one["rule_satisfied"] is not None}
    assert usage.compared == len(asked_twice) > 0
    assert {one.consideration for one in usage.disagreements} == {
        name for name, one in asked_twice.items() if one["satisfied"] != one["rule_satisfied"]
    }


async def test_from_a_folder_below_the_projects_own_considerations_hold(stop, project):
    (project / ".git").mkdir()
    own = project / ".claude" / "power-steering.yaml"
    own.parent.mkdir()
    own.write_text("- {id: changelog, question: 'Is it in the changelog?', severity: blocker}\n"
                   "- {id: local_testing, enabled: false}\n")  # fmt: skip
    below = project / "a" / "b"
    below.mkdir(parents=True)
    changelog = {**UNTESTED, "when": "Is it in the changelog?"}
    said, _ = await stop(not_tested(), changelog, SATISFIED, cwd=str(below))
    assert "Is it in the changelog? No: " in said["reason"]
    assert "after the last change to code" not in said["reason"]
    assert not (below / ".claude").exists()


async def test_where_it_was_not_asked_for_no_model_is_asked(stop):
    assert await stop(not_tested(), SATISFIED, flags=()) == ({}, 0)


async def test_where_it_is_switched_off_it_is_silent_and_asks_nobody(stop, project):
    store = SteeringStore.of_project(project, CLAUDE)
    store.disable(datetime.now(UTC) + timedelta(hours=1))
    assert await stop(not_tested(), SATISFIED) == ({}, 0)


async def test_a_session_that_plans_or_asks_its_user_is_left_alone(stop):
    assert await stop(not_tested(), SATISFIED, permission_mode="plan") == ({}, 0)
    assert await stop(not_tested(), SATISFIED, last_assistant_message="Which rate do you want?") == ({}, 0)


async def test_a_background_task_that_the_hook_is_not_told_of_any_more_excuses_nobody(stop, tmp_path):
    call = {"type": "tool_use", "id": "toolu_b", "name": "Bash", "input": {"command": "npm start"}}
    told = "Command running in background with ID: b1"
    result = {"type": "tool_result", "tool_use_id": "toolu_b", "content": told}
    words = {"type": "text", "text": "The discount is done."}
    with (tmp_path / "session.jsonl").open("a") as file:
        for uuid, role, block in (
            ("b-1", "assistant", call),
            ("b-2", "user", result),
            ("b-3", "assistant", words),
        ):
            file.write(
                json.dumps({"type": role, "uuid": uuid, "message": {"role": role, "content": [block]}}) + "\n"
            )
    running = {"background_tasks": [{"id": "b1", "status": "running"}]}
    assert await stop(not_tested(), SATISFIED, **running) == ({}, 0)
    said, _ = await stop(not_tested(), SATISFIED, background_tasks=[])
    assert "No test ran after the change." in said["reason"]
