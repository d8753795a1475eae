"""A person's session that wants to stop: held with reasons, told what is open, and let go where nothing gets on."""

import json
import logging
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judged import considerations
from sessions import PASSING, evidence, session, todos, write

from agents.transcript.records import BackgroundEnded
from orchestrator.gates.power_steering.considerations import Consideration, Severity, load_considerations
from orchestrator.gates.power_steering.examination import Judge, answer_stop, decide
from orchestrator.gates.power_steering.examine import examine, waiting_for
from orchestrator.gates.power_steering.facts import RuleOutcome, SessionEvidence
from orchestrator.gates.power_steering.judging import told
from orchestrator.gates.power_steering.rules import RULES
from orchestrator.gates.power_steering.session_facts import facts_of
from orchestrator.gates.session_state.records import CheckResults
from orchestrator.gates.session_state.store import SteeringStore
from state.settings.presets import models
from state.truncation import truncate
from state.verdicts import CheckResult, Source

NOBODY = Judge(model=models()["haiku"], ask=None)
UNTESTED = [write()]
DONE = [write(), PASSING]


async def examined(*parts, **words):
    words.setdefault("prompt", "Add the discount. Run the tests before you finish.")
    return await examine(evidence(*parts, **words), load_considerations(None).considerations, NOBODY, RULES)


@pytest.fixture
def store(tmp_path):
    return SteeringStore(tmp_path / "states", "session-1", environ={})


async def test_a_session_that_is_done_stops_and_people_are_told_what_could_not_be_checked(store):
    answer = answer_stop(store, await examined(*DONE), prompt_id="p")
    assert answer.allows
    assert "checks could not be made" in answer.message
    assert store.load().state.consecutive_blocks == 0


async def test_one_that_is_not_is_held_with_each_reason_and_a_summary(store):
    answer = answer_stop(store, await examined(*UNTESTED, todos(a="pending")), prompt_id="p")
    assert not answer.allows
    assert "Were the tests run after the last change to code, and did they pass? No: " in answer.message
    assert "1 of 1 todo items are open" in answer.message
    assert "1 modified file. 13 % of the checks are met by weight: look at the others." in answer.message
    assert len(answer.message) <= 2000
    assert store.load().state.consecutive_blocks == 1


def held_by(count, reason="r" * 300, evidence="e" * 300, guidance=""):
    """The decision on a session with this many unmet blockers."""
    asked = considerations(*(f"check_{number}" for number in range(count)), guidance=guidance)
    said = [CheckResult(
        consideration_id=one.id, satisfied=False, blocker=True, reason=reason, evidence=evidence,
        source=Source.JUDGE, applies=True,
    ) for one in asked]  # fmt: skip
    results = [told(one, lambda cut: cut.text) for one in said]
    return decide(results, {one.id: one for one in asked}, CheckResults(), claims=["c" * 200])


@pytest.mark.parametrize("length", [199, 200, 201])
def test_a_reason_and_its_evidence_have_at_most_200_characters_each(length):
    message = held_by(1, "r" * length, "e" * length).message
    whole = length <= 200
    for begin, letter in (("No: ", "r"), ("Seen: ", "e")):
        words = message.partition(begin)[2].partition("\n")[0]
        assert words == (letter * length if whole else letter * 197 + "...")


@given(st.integers(1, 12), st.integers(0, 300), st.integers(0, 300), st.integers(0, 900))
def test_all_that_a_held_session_is_told_has_at_most_2000_characters_and_counts_what_is_left_out(
    count, reason, evidence, guidance
):
    message = held_by(count, "r" * reason, "e" * evidence, "g" * guidance).message
    assert len(message) <= 2000
    named = message.count("What of check_")
    assert named >= 1
    assert (f"{count - named} more are left out here." in message) is (named < count)
    assert "Your claim" in message
    assert guidance + evidence + reason > 300 or count > 4 or "left out" not in message


async def test_one_that_is_held_is_not_praised(store):
    asked = [one for one in load_considerations(None).considerations if one.id in RULES]
    examination = await examine(evidence(*DONE, todos(a="pending")), asked, NOBODY, RULES)
    answer = answer_stop(store, examination, prompt_id="p")
    assert "% of the checks are met" not in answer.message
    assert "1 modified file. 1 required check is not met." in answer.message


@pytest.mark.parametrize("met", [0, 1, 3, 19, 20])
async def test_the_share_that_is_met_is_one_of_all_checks_and_those_not_made_are_counted(met):
    """Three checks that are met are no 100 % where seventeen could not be made (seed 001)."""
    asked = considerations(*(f"check_{number}" for number in range(20)))
    rules = {one.id: lambda _: RuleOutcome(satisfied=True, reason="seen") for one in asked[:met]}
    examination = await examine(evidence(*DONE), asked, NOBODY, rules)
    assert examination.figures.quality_score == (5 * met if met else None)
    told = {
        0: "1 modified file, not checked.",
        1: "1 modified file. 5 % of the checks are met by weight: look at the others. 19 of 20 checks could not be made.",
        3: "1 modified file. 15 % of the checks are met by weight: look at the others. 17 of 20 checks could not be made.",
        19: "1 modified file. 95 % of the checks are met by weight. 1 of 20 checks could not be made.",
        20: "1 modified file. 100 % of the checks are met by weight.",
    }
    assert examination.decision.summary == told[met]


async def test_a_check_that_does_not_apply_is_no_part_of_the_share():
    asked = considerations("met", "other", "unmade")
    rules = {
        "met": lambda _: RuleOutcome(satisfied=True, reason="seen"),
        "other": lambda _: RuleOutcome(satisfied=True, applies=False, reason="none"),
    }
    assert (await examine(evidence(*DONE), asked, NOBODY, rules)).figures.quality_score == 50


async def test_what_the_agent_claimed_is_held_against_it(store):
    claim = "Everything is done and all tests pass."
    answer = answer_stop(store, await examined(*UNTESTED, final=claim), prompt_id="p")
    assert claim in answer.message


async def test_the_agent_is_told_neither_the_limit_nor_the_off_switch(store):  # lesson 40
    answer = answer_stop(store, await examined(*UNTESTED), prompt_id="p")
    for word in ("disable", "SQ_PS", "times", "limit", "in a row", "attempt", "5", "3"):
        assert word not in answer.message, word


async def test_the_same_failures_three_times_running_let_the_session_go_with_the_reason(store):
    examination = await examined(*UNTESTED)
    answers = [answer_stop(store, examination, prompt_id="p") for _ in range(3)]
    assert [answer.allows for answer in answers] == [False, False, True]
    assert "the same points were open 3 times running" in answers[-1].message
    assert "local_testing" in answers[-1].message


async def test_five_blocks_in_a_row_let_it_go_whatever_alternates(store):  # lesson 40
    untested, open_todo = await examined(*UNTESTED), await examined(*DONE, todos(a="pending"))
    looks = [untested, open_todo] * 3
    answers = [answer_stop(store, look, prompt_id=f"p{number}") for number, look in enumerate(looks)]
    assert [answer.allows for answer in answers] == [False] * 5 + [True]
    assert "held 5 times in a row" in answers[-1].message


async def test_no_prompt_is_held_more_than_seven_times_whatever_alternates(store):
    looks = [
        await examined(*DONE, todos(a="pending")),
        await examined(*DONE, todos(a="pending", b="pending")),
    ]
    other = replace(looks[1].decision, blocked_by=(replace(looks[1].results[0], blocker=True),))
    looks[1] = replace(looks[1], decision=other)
    answers = [answer_stop(store, looks[number % 2], prompt_id="p") for number in range(12)]
    assert sum(not answer.allows for answer in answers) == 7
    assert "although it is not done: it was held 7 times." in answers[-1].message


async def test_where_nothing_was_checked_no_word_praises_and_the_state_says_null(store):
    nobodys = [
        Consideration(id="nobodys", question="Does a rule or a judge answer?", severity=Severity.BLOCKER)
    ]
    examination = await examine(evidence(*DONE), nobodys, NOBODY, RULES)
    answer = answer_stop(store, examination, prompt_id="p")
    assert answer.allows
    assert answer.message.splitlines()[0] == "1 modified file, not checked."
    assert "score" not in answer.message
    stored = json.loads(store.file.read_text())["check_results"]
    assert (stored["quality_score"], stored["workflow_compliant"]) == (None, None)


def test_a_command_comes_back_to_its_agent_as_it_was_written():
    command = "pytest -q > out.txt 2>&1 && tail -3 out.txt | grep '->'"
    one = Consideration(id="a", question="Did they pass?", severity=Severity.BLOCKER)
    said = told(
        CheckResult(consideration_id="a", satisfied=False, blocker=True, reason=f"`{command}` failed",
                    evidence=f"$ {command} </user>"), lambda cut: cut.text
    )  # fmt: skip
    decision = decide([said], {"a": one}, CheckResults(), claims=[])
    assert decision.message.count(command) == 2
    assert "</user>" not in decision.message


async def test_after_it_was_let_go_the_next_stop_is_held_again(store):  # lesson 35
    examination = await examined(*UNTESTED)
    for _ in range(3):
        answer_stop(store, examination, prompt_id="p")
    assert not answer_stop(store, examination, prompt_id="next").allows


async def test_a_session_that_was_approved_once_is_checked_again(store):  # lesson 35
    assert answer_stop(store, await examined(*DONE), prompt_id="p").allows
    assert not answer_stop(store, await examined(*DONE, write("/project/shop/b.py")), prompt_id="q").allows


async def test_a_state_that_cannot_be_stored_holds_nobody(tmp_path):
    (tmp_path / "states").write_text("a file where the folder should be")
    store = SteeringStore(tmp_path / "states", "session-1", environ={"SQ_PS_MAX_RETRIES": "0"})
    answer = answer_stop(store, await examined(*UNTESTED), prompt_id="p")
    assert answer.allows
    assert "could not be stored" in answer.message


async def test_what_was_open_is_kept_with_its_reason_for_the_next_look(store):
    answer_stop(store, await examined(*UNTESTED), prompt_id="p")
    state = store.load().state
    assert state.failure_sets == (("local_testing",),)
    assert "no test ran" in state.unmet["local_testing"]
    assert state.check_results.files_modified == ("/project/shop/price.py",)


# --- sessions that are not judged -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("final", "waits"),
    [
        ("Which database should I use?", True),
        ("I have two ways:\n\n- a\n- b\n\nWhich one do you want?", True),
        ("All done, and the tests pass. Would you like me to add anything else?", False),
        ("The discount is implemented. Shall I also open a pull request?", False),
        ("The discount is there.", False),
    ],
)
def test_a_question_waits_for_the_user_and_an_offer_behind_a_claim_does_not(final, waits):
    assert bool(waiting_for(evidence(*UNTESTED, final=final))) is waits


def test_a_plan_and_running_background_work_are_not_judged():
    planning = ("EnterPlanMode", {}, "Entered plan mode.")
    assert "plan" in waiting_for(evidence(planning, final="Here is the plan."))
    server = (
        "Bash",
        {"command": "npm start", "run_in_background": True},
        "Command running in background with ID: b1",
    )
    running = session(server, final="The server is started and done.")
    assert "npm start" in waiting_for(SessionEvidence(transcript=running, facts=facts_of(running)))
    ended = replace(running, ended=(BackgroundEnded(id="b1", status="completed", exit_code=0),))
    assert waiting_for(SessionEvidence(transcript=ended, facts=facts_of(ended))) == ""


def test_entries_are_logged_under_the_names_of_the_seed_for_whoever_listens_there(store, caplog):
    store.diagnostics.log("state_reset")
    assert caplog.records == []
    for name in ("amplihack.power_steering", "amplihack.power_steering.truncation"):
        with caplog.at_level(logging.DEBUG, logger=name):
            store.diagnostics.log("state_save", success=False)
            store.diagnostics.truncation(truncate("x" * 300))
    said = [(one.name, one.levelname, json.loads(one.getMessage())) for one in caplog.records]
    assert [(name, level, line["event"]) for name, level, line in said] == [
        ("amplihack.power_steering", "DEBUG", "state_save"),
        ("amplihack.power_steering.truncation", "DEBUG", "truncation"),
        ("amplihack.power_steering.truncation", "DEBUG", "truncation"),
    ]
    assert said[0][2]["success"] is False
    assert said[1][2]["original_length"] == 300


async def test_truncations_are_logged(store):
    long = "shop/" + "x" * 300 + ".py"
    considerations = load_considerations(None).considerations
    await examine(
        evidence(write(f"/project/{long}"), prompt="Run the tests."),
        considerations,
        NOBODY,
        RULES,
        cut=store.diagnostics.truncation,
    )
    entries = [json.loads(line) for line in store.diagnostics.file.read_text().splitlines()]
    assert any(entry["operation"] == "truncation" and entry["original_length"] > 200 for entry in entries)
