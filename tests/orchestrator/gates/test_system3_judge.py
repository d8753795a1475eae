"""The System 3 judge as a step of the hook (seed 003): what it is asked, and what each answer leads to."""

import contextlib
import json
import os

import anyio
import pytest
from hooked_claude import JUDGE, judged
from language.stop_inputs import CLAUDE, HOOK, Lines, answer_of

from agents.access import RehearsalConnection
from agents.gateway.ledger import read_ledger
from agents.gateway.script import Scenario
from agents.gateway.server import serve_scenario
from orchestrator.gates.stop_gate import probe
from orchestrator.gates.stop_gate.stop import ReadSession, Stop, facts_of

SYSTEM3 = "system3-20260101T000000Z-0a1b2c3d"
GOES_ON = judged(True, "No reflection was stored.", "Store it in Hindsight.")
ENDS = judged(False, "All of it was closed.")


@pytest.fixture
def lines():
    found = Lines()
    found.user("Direct the orchestrators.")
    found.call("Bash", {"command": "tmux ls"}, output="orch-7: 1 windows")
    found.assistant({"type": "text", "text": "All is closed."})
    return found


async def run(told, environ, *arguments):
    """The hook as a process beside this event loop."""
    with anyio.fail_after(60):
        done = await anyio.run_process(
            [*HOOK, *arguments], input=json.dumps(told).encode(), env={**os.environ, **environ}, check=False
        )
    assert (done.returncode, done.stderr) == (0, b"")
    return answer_of(done.stdout)


@pytest.fixture
def ask(tmp_path, lines):
    """One stop of a System 3 session, judged by these replies: `answer, number of requests`."""

    async def asked(*replies, environ=None, **more):
        file = tmp_path / "session.jsonl"
        file.write_bytes(lines.data)
        told = {"session_id": CLAUDE, "transcript_path": str(file), "cwd": str(tmp_path), "prompt_id": "p"}
        scenario = Scenario(scenario=1, callers={"judge/*": list(replies or [GOES_ON])})
        ledger = tmp_path / "ledger.jsonl"
        ledger.unlink(missing_ok=True)
        async with serve_scenario(scenario, run_id="r", ledger=ledger) as gateway:
            connection = RehearsalConnection(gateway=gateway, config_dir=tmp_path / "claude")
            access = connection.api_access(JUDGE)
            own = {
                "CLAUDE_SESSION_ID": SYSTEM3,
                "ANTHROPIC_API_KEY": access.key,
                "ANTHROPIC_BASE_URL": access.base_url,
            }
            said = await run({**told, **more}, {**own, **(environ or {})})
            assert gateway.problems == []
        return said, len([line for line in read_ledger(ledger) if line.messages])

    return asked


def skipped(said):
    """Why the judge was skipped; the stop is allowed then."""
    assert "decision" not in said
    before, _, why = said["systemMessage"].partition("the System 3 judge was skipped: ")
    assert before == ""
    return why


# --- what it is asked -------------------------------------------------------------------------------------


async def test_it_sees_the_last_five_turns_with_calls_and_results_and_the_newest_words_whole(ask, lines):
    for number in range(6):
        lines.user(f"Prompt number {number}.")
        lines.call("Bash", {"command": f"bd show {number}"}, output=f"closed by {number}")
        lines.assistant({"type": "text", "text": f"Answer {number}."})
    newest = "It is over. " * 500 + "And this is the end of it."
    expect = {
        "model": "claude-haiku-4-5-20251001",
        "prompt_contains": ["Prompt number 1.", "bd show 5", "closed by 5", newest],
        "prompt_lacks": ["Prompt number 0.", "tmux ls"],
        "anywhere_contains": ["Hindsight", "tmux sessions are cleaned up", "promise is verified"],
    }
    assert await ask({**ENDS, "expect": expect}, last_assistant_message=newest) == ({}, 1)


async def test_turns_that_stand_further_back_in_a_long_file_are_read_too(ask, lines):
    lines.user("The prompt before all the requests.")
    lines.assistant({"type": "text", "text": "Working on it."})
    for _ in range(20):
        lines.add("attachment", attachment={"type": "other", "text": "x" * 50_000})
    lines.user("Go on.")
    lines.assistant({"type": "text", "text": "All is closed."})
    expect = {"prompt_contains": ["The prompt before all the requests.", "Go on."]}
    assert await ask({**ENDS, "expect": expect}) == ({}, 1)


async def test_another_model_can_judge(ask):
    environ = {"SQ_PS_JUDGE_MODEL": "claude-sonnet-5"}
    assert await ask({**ENDS, "expect": {"model": "claude-sonnet-5"}}, environ=environ) == ({}, 1)


@pytest.mark.parametrize("session", ["system3", "my-system3-1", "orch-1", "System3-1"])
async def test_other_sessions_are_not_judged(ask, session):
    said, requests = await ask(environ={"CLAUDE_SESSION_ID": session})
    assert (said, requests) == ({}, 0)


@pytest.mark.parametrize("session", ["system3-", "system3-1", SYSTEM3])
@pytest.mark.parametrize(
    "change", [str, lambda id_: id_.replace("-", "", 1), lambda id_: f"x{id_}", str.upper]
)
def test_a_system_3_session_is_known_by_the_whole_prefix(session, change, tmp_path, monkeypatch):
    monkeypatch.delenv("CLAUDE_SESSION_ID", raising=False)
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(tmp_path))
    id_, is_one = change(session), change is str
    assert Stop(session_id=id_, project=tmp_path, session=ReadSession(facts_of)).is_system3 is is_one
    assert probe.may_apply({"session_id": id_}) is is_one


async def test_claude_codes_own_id_counts_where_no_other_is_set(ask):
    said, requests = await ask(environ={"CLAUDE_SESSION_ID": ""}, session_id="system3-1")
    assert (said["decision"], requests) == ("block", 1)


async def test_a_plan_and_a_question_to_the_user_are_not_judged(ask):
    assert await ask(permission_mode="plan") == ({}, 0)
    assert await ask(last_assistant_message="Which of the two databases do you want?") == ({}, 0)


async def test_an_offer_of_more_behind_a_claim_is_no_question(ask):
    said, requests = await ask(last_assistant_message="All tasks are done. Anything else?")
    assert (said["decision"], requests) == ("block", 1)


# --- what an answer leads to ------------------------------------------------------------------------------


async def test_one_that_should_go_on_is_held_with_the_reason_and_the_suggestion(ask):
    said, _ = await ask(GOES_ON)
    assert said == {
        "decision": "block",
        "reason": "The session has not reached its end yet: No reflection was stored.\n"
        "Suggestion: Store it in Hindsight.",
    }


async def test_one_that_is_done_may_stop_and_nothing_is_said(ask):
    assert await ask(ENDS) == ({}, 1)


@pytest.mark.parametrize("left_out", ["reason", "suggestion"])
@pytest.mark.parametrize("value", ["", " \n", None, 7])
async def test_without_a_reason_or_a_suggestion_it_is_not_held_and_that_is_told(ask, left_out, value):
    words = {"reason": "It is not over.", "suggestion": "Go on.", left_out: value}
    said, _ = await ask({"structured": {"should_continue": True, **words}})
    assert f"gives no {left_out}" in skipped(said)


async def test_an_answer_without_the_field_of_the_suggestion_does_not_hold_it(ask):
    said, _ = await ask({"structured": {"should_continue": True, "reason": "It is not over."}})
    assert "gives no suggestion" in skipped(said)


async def test_a_command_in_its_suggestion_comes_as_it_was_written(ask):
    said, _ = await ask(judged(True, "The log is missing.", "Run `bd sync > log 2>&1 && git push`."))
    assert "Run `bd sync > log 2>&1 && git push`." in said["reason"]


async def test_long_words_and_markup_of_the_model_are_made_fit_to_be_said_again(ask):
    said, _ = await ask(judged(True, "</system-reminder> " + "too long " * 1_000, "\x1b[2J" + "y" * 9_000))
    assert "<" not in said["reason"]
    assert "\x1b" not in said["reason"]


@pytest.mark.parametrize(("length", "kept"), [(199, 199), (200, 200), (201, 200), (9_000, 200)])
async def test_a_reason_and_a_suggestion_have_at_most_200_characters_each(ask, length, kept):
    said, _ = await ask(judged(True, "r" * length, "s" * length))
    begin, _, suggestion = said["reason"].partition("\nSuggestion: ")
    assert begin.startswith("The session has not reached its end yet: r")
    assert begin.endswith("r" if length == kept else "r...")
    assert len(begin.partition(": ")[2]) == len(suggestion) == kept


@pytest.mark.parametrize("value", ["true", "false", 1, 0, None, [], "no"])
async def test_only_a_true_boolean_holds_a_session(ask, value):
    said, _ = await ask({"structured": {"should_continue": value, "reason": "r", "suggestion": "s"}})
    assert f"should_continue is {value!r}" in skipped(said)


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ({"text": "should_continue: true, since nothing was stored"}, "should_continue: true"),
        ({"structured": {"reason": "r"}}, "should_continue is None"),
        ({**GOES_ON, "stop_reason": "max_tokens"}, "truncated"),
        ({**GOES_ON, "stop_reason": "refusal"}, "refused"),
        ({"misbehave": {"status": 401, "message": "who is that?"}}, "who is that?"),
        ({"misbehave": {"status": 429, "retry_after": 60}}, "rate_limit_error"),
        ({"misbehave": {"status": 529}}, "overloaded_error"),
        ({"misbehave": {"body": "malformed"}}, "is not the API"),
        ({"misbehave": {"body": "empty"}}, "it gave no answer"),
        ({"misbehave": {"connection": "dropped"}}, "it gave no answer"),
        ({"misbehave": {"connection": "refused"}}, "refused"),
        ({**GOES_ON, "misbehave": {"stream": "cut"}}, "cut off"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_what_is_no_answer_lets_the_session_stop_and_is_told(ask, reply, why):
    said, _ = await ask(reply)
    assert why in skipped(said)


async def test_without_a_key_or_a_transcript_nobody_is_asked_and_that_is_told(ask, tmp_path):
    said, requests = await ask(environ={"ANTHROPIC_API_KEY": ""})
    assert (skipped(said), requests) == ("ANTHROPIC_API_KEY is not set", 0)
    for path in ("", str(tmp_path / "nothing"), str(tmp_path)):
        said, requests = await ask(transcript_path=path)
        assert (skipped(said), requests) == ("there is no transcript to read", 0)


async def test_a_key_that_is_none_is_not_shown(ask):
    said, requests = await ask(environ={"ANTHROPIC_API_KEY": "sk-se\ncret"})
    assert "secret" not in json.dumps(said).replace("\\n", "")
    assert skipped(said)
    assert requests == 0


async def test_its_blocks_count_with_those_of_the_other_steps(ask, lines):
    lines.call("TodoWrite", {"todos": [{"content": "callers", "status": "pending"}]})
    for _ in range(4):
        said, requests = await ask()
        assert ("callers" in said["reason"], requests) == (True, 0)
    lines.call("TodoWrite", {"todos": [{"content": "callers", "status": "completed"}]})
    for _ in range(3):
        said, requests = await ask()
        assert ("No reflection" in said["reason"], requests) == (True, 1)
    said, _ = await ask()
    assert "decision" not in said
    assert "held 7 times" in said["systemMessage"]


@pytest.mark.slow
async def test_an_answer_that_drips_is_not_waited_for_beyond_the_deadline(ask, lines, tmp_path):
    async def drip(stream):
        async with stream:
            with contextlib.suppress(anyio.EndOfStream, anyio.BrokenResourceError):
                await stream.receive()
                await stream.send(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
                while True:
                    await stream.send(b" ")
                    await anyio.sleep(0.1)

    (tmp_path / "session.jsonl").write_bytes(lines.data)
    told = {"session_id": SYSTEM3, "transcript_path": str(tmp_path / "session.jsonl"), "cwd": str(tmp_path)}
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(anyio.abc.SocketAttribute.local_port)  # noqa: S610  a socket, not Django
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, drip)
        url = f"http://127.0.0.1:{port}"
        said = await run(told, {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": url})
        tasks.cancel_scope.cancel()
    assert "no answer within 8 s" in skipped(said)
