"""The deadlines of the gates' judges as they are set, on clocks that skip what would be waited for."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

import anyio
import pytest
from language.stop_inputs import Lines
from skipping_loop import SkippingLoop

from agents.ask.port import Reply
from agents.caller import Caller
from orchestrator.gates.power_steering.considerations import Consideration
from orchestrator.gates.power_steering.judging import ALL_S, EACH_S, SessionLook, gather, judge_all
from orchestrator.gates.stop_gate.settings_text import absolute_command, entry_of
from orchestrator.gates.stop_gate.steps import system3
from orchestrator.gates.stop_gate.stop import ReadSession, Stop, facts_of
from state.records.calls import CallEnd
from state.roles import Role
from state.settings.presets import models
from state.verdicts import Source

SATISFIED = {"verdict": "satisfied", "reason": "It was seen.", "quote": ""}
CALLER = Caller(role=Role.JUDGE, task="session", attempt=1)


def on_a_skipping_clock(main):
    """What `main` gives back."""
    return anyio.run(main, backend_options={"loop_factory": SkippingLoop})


def judged_after(seconds):
    """Who answered a check whose judge takes so long, and what the clock shows then."""

    async def main():
        async def judge(ask):
            ask.on_begun()
            await anyio.sleep(seconds)
            return Reply(end=CallEnd.COMPLETED, answer=SATISFIED)

        look = SessionLook(session="the session", model=models()["haiku"], caller=CALLER, ask=judge)
        (result,) = await judge_all([Consideration(id="seen", question="Was it seen?")], look)
        return result.source, anyio.current_time()

    return on_a_skipping_clock(main)


def test_an_answer_after_24_seconds_counts_and_one_after_26_is_not_waited_for():
    assert judged_after(24) == (Source.JUDGE, 24)
    source, clock = judged_after(26)
    assert source is Source.NOT_CHECKED
    assert clock < 26


@pytest.mark.parametrize("together", [1, 4])
def test_one_call_that_hangs_leaves_no_other_question_unmade(together):
    """The first call and every later one with its first question never end."""

    async def main():
        asked = [Consideration(id=f"q-{number}", question=f"Was {number} seen?") for number in range(10, 33)]

        async def judge(ask):
            if asked[0].question in ask.prompt:
                await anyio.sleep_forever()
            ask.on_begun()
            await anyio.sleep(1)
            ids = [one.id for one in asked if one.question in ask.prompt]
            many = {"judgements": [{"id": id_, **SATISFIED} for id_ in ids]}
            return Reply(end=CallEnd.COMPLETED, answer=SATISFIED if len(ids) == 1 else many)

        look = SessionLook(
            session="the session", model=models()["haiku"], caller=CALLER, ask=judge, together=together
        )
        results = await judge_all(asked, look)
        return [
            one.consideration_id for one in results if one.source is not Source.JUDGE
        ], anyio.current_time()

    unmade, clock = on_a_skipping_clock(main)
    assert unmade == ["q-10"]
    assert clock <= (EACH_S if together == 1 else 2 * EACH_S) < ALL_S


def test_the_time_for_all_ends_checks_that_had_to_queue():
    async def main():
        async def look(number, _begun):
            await anyio.sleep(24)
            return "found"

        found = await gather(range(9), look, lambda number, why: "late", at_once=1)
        return found, anyio.current_time()

    found, clock = on_a_skipping_clock(main)
    assert found == ["found"] * 2 + ["late"] * 7
    assert clock < 3 * 24


def test_where_no_check_ends_the_answer_comes_before_claude_code_ends_the_hook():
    async def main():
        async def look(number, _begun):
            await anyio.sleep_forever()

        await gather(range(200), look, lambda number, why: why)
        return anyio.current_time()

    entry = entry_of(absolute_command(["/bin/sq"], power_steering=True))
    assert on_a_skipping_clock(main) < entry["timeout"]


# --- the System 3 judge, which is asked in a thread -------------------------------------------------------

GOES_ON = {"should_continue": True, "reason": "No reflection was stored.", "suggestion": "Store it."}


@pytest.fixture
def stopped(tmp_path, monkeypatch):
    """The step's answer where the judge's comes after so many seconds of waiting for its thread."""
    lines = Lines()
    lines.user("Direct the orchestrators.")
    lines.assistant({"type": "text", "text": "All is closed."})
    (tmp_path / "session.jsonl").write_bytes(lines.data)
    due, wait, waited = Event(), Thread.join, []

    class Judge(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            due.wait(60)
            text = {"type": "text", "text": json.dumps(GOES_ON)}
            usage = {"input_tokens": 1, "output_tokens": 1}
            self.send_response(200)
            self.end_headers()
            self.wfile.write(
                json.dumps({"content": [text], "stop_reason": "end_turn", "usage": usage}).encode()
            )

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Judge) as server:
        server.daemon_threads = False
        serving = Thread(target=server.serve_forever)
        serving.start()

        def stop(seconds):
            def join(thread, limit=None):
                if thread.name == "ask":
                    waited.append(thread)
                    if limit < seconds:
                        return  # the time is over before the judge answers
                    due.set()
                wait(thread, 60)

            monkeypatch.setattr(Thread, "join", join)
            url = f"http://127.0.0.1:{server.server_port}"
            return system3.check(
                Stop(
                    session_id="system3-1",
                    project=tmp_path,
                    session=ReadSession(facts_of, tmp_path / "session.jsonl"),
                    environ={"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": url},
                )
            )

        yield stop
        monkeypatch.undo()
        due.set()
        for thread in waited:
            thread.join(60)
        server.shutdown()
        serving.join()


def test_a_system_3_judge_that_answers_within_8_seconds_can_hold_the_session(stopped):
    result = stopped(7.9)
    assert result.blocks
    assert "No reflection was stored." in result.reason


def test_after_8_seconds_the_system_3_session_may_stop_whatever_its_judge_would_have_said(stopped):
    result = stopped(8.1)
    assert not result.blocks
    assert (
        result.note == "the System 3 judge was skipped: it gave no answer (timed out: no answer within 8 s)"
    )
