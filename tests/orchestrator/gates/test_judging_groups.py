"""Questions judged in groups, a call each, by the real clients: what a group costs, and what it loses."""

import pytest
from judged import (
    CALLER,
    JUDGE,
    MODEL,
    NOT_CHECKED,
    RULE,
    SATISFIED,
    considerations,
    finds,
    in_group,
    looking,
    rule,
    sources,
    unwanted_rule,
)

from agents.ask.port import room_of
from agents.gateway.ledger import read_ledger
from agents.roles.judge import judge_ask
from orchestrator.gates.power_steering.considerations import load_considerations
from orchestrator.gates.power_steering.judging import dealt, judge_all, room_for
from state.records.calls import Usage


@pytest.mark.parametrize(("count", "groups"), [(23, 4), (4, 4), (3, 4), (1, 4), (0, 4), (5, 1)])
def test_questions_are_dealt_evenly_and_in_order(count, groups):
    asked = considerations(*[f"check-{number}" for number in range(count)])
    hands = dealt(asked, groups)
    assert [one for hand in hands for one in hand] == asked
    assert len(hands) == min(groups, count)
    sizes = {len(hand) for hand in hands}
    assert not sizes or max(sizes) - min(sizes) <= 1
    assert 0 not in sizes


def test_a_session_has_the_room_that_the_questions_of_one_call_leave_it():
    alone, together, all_in_one = (room_for(MODEL, 23, groups) for groups in (23, 4, 1))
    assert room_of(MODEL) > alone > together > all_in_one > 0
    question = judge_ask(
        load_considerations(None).considerations,
        model=MODEL,
        caller=CALLER,
        shared="",
        before=dict.fromkeys([one.id for one in load_considerations(None).considerations], "x" * 200),
        deadline_s=1,
    )
    assert len(question.prompt) < room_of(MODEL) - all_in_one


async def test_a_group_is_one_call_with_the_words_of_each_kind_and_its_judgements_come_by_id(judge):
    asked = [
        *considerations("a", kind="todos"),
        *considerations("b", kind="testing"),
        *considerations("c", kind="philosophy"),
    ]
    reply = in_group(("c", "satisfied"), ("a", "not_satisfied"), ("b", "not_applicable"))
    found, seen = await judge(
        asked, reply, groups=1, before={"b": "the tests failed"}, rules={"b": unwanted_rule}
    )
    assert set(sources(found).values()) == {JUDGE}
    assert [(one.satisfied, one.applies) for one in found.values()] == [
        (False, True),
        (True, False),
        (True, True),
    ]
    assert found["a"].reason == "Seen of a."
    (question,) = seen.questions
    for words in ("todo list", "run tests", "here-documents", "What of a?", '<question id="b">'):
        assert words in question
    assert question.count("Last time") == 1


async def test_a_judgement_that_is_missing_double_or_unusable_costs_its_own_check_alone(judge):
    asked = considerations("good", "missing", "double", "maybe", "bare", "number")
    reply = in_group(
        ("good", "not_satisfied"),
        ("double", "satisfied"),
        ("double", "satisfied"),
        ("strange", "not_satisfied"),
        {"id": "maybe", **finds("maybe")},
        {"id": "bare"},
        {"id": "number", **finds("satisfied"), "reason": 7},
    )
    found, _ = await judge(asked, reply, groups=1, rules={"missing": rule(), "good": unwanted_rule})
    assert sources(found) == {
        "good": JUDGE, "missing": RULE, "double": NOT_CHECKED, "maybe": NOT_CHECKED, "bare": NOT_CHECKED,
        "number": NOT_CHECKED,
    }  # fmt: skip
    assert not found["good"].satisfied
    assert "2 judgements" in found["double"].reason
    assert "verdict" in found["maybe"].reason


@pytest.mark.parametrize(
    "reply",
    [
        {"text": "SATISFIED: all of it"},
        {"structured": {**finds("satisfied"), "judgements": None}},
        {"structured": {"judgements": "satisfied"}},
        {"structured": {"judgements": ["satisfied", None, [{"id": "a"}], {"id": ["a"]}]}},
        {**SATISFIED, "misbehave": {"status": 500}},
    ],
    ids=["words", "one for all", "no list", "no items", "an error"],
)
async def test_a_group_without_judgements_falls_back_for_its_checks_and_no_others(judge, reply):
    failing = {**reply, "when": "What of b?"}
    good = in_group(("a", "satisfied"), ("b", "satisfied"), ("c", "satisfied"), ("d", "satisfied"))
    found, _ = await judge(considerations("a", "b", "c", "d"), failing, good, groups=2, rules={"a": rule()})
    assert sources(found) == {"a": RULE, "b": NOT_CHECKED, "c": JUDGE, "d": JUDGE}


async def test_a_late_group_lets_go_of_its_own_checks_alone_and_holds_no_other_back(judge):
    hanging = in_group(("a", "satisfied"), when="What of a?", misbehave={"hang": "before-headers"})
    good = in_group(("c", "not_satisfied"), ("d", "satisfied"))
    found, _ = await judge(
        considerations("a", "b", "c", "d"), hanging, good, groups=2, each_s=1, rules={"a": unwanted_rule}
    )
    assert sources(found) == {"a": NOT_CHECKED, "b": NOT_CHECKED, "c": JUDGE, "d": JUDGE}
    assert "no answer within" in found["b"].reason


async def test_the_cost_of_a_group_is_shared_out_over_its_checks_and_counted_once(judge):
    good = in_group(("a", "satisfied"), ("c", "satisfied"), when="What of a?")
    found, seen = await judge(
        considerations("a", "b", "c", "d", "e"), good, {"text": "Fine, all."}, groups=2, rules={"d": rule()}
    )
    assert len(seen.bodies) == 2
    each = MODEL.cost(Usage(input_tokens=1000, output_tokens=10))
    assert sum(one.cost_usd for one in found.values()) == pytest.approx(2 * each)
    assert all(one.cost_usd > 0 for one in found.values())


# --- the real Claude Code as the judge --------------------------------------------------------------------


async def test_with_the_cli_all_questions_are_judged_in_four_processes(served, cli, tmp_path):
    asked = load_considerations(None).considerations
    given = [(one.id, "satisfied") for one in asked if one.id != "local_testing"]
    async with served(in_group(*given, {"id": "local_testing", **finds("not_satisfied", "No tests.")})) as (
        connection,
        _,
        gateway,
    ):
        results = await judge_all(asked, looking(cli(connection).ask, groups=4))
        assert gateway.problems == []
    assert len(read_ledger(tmp_path / "ledger.jsonl")) == 4
    assert {one.source for one in results} == {JUDGE}
    assert [one.consideration_id for one in results if not one.satisfied] == ["local_testing"]
    each = MODEL.cost(Usage(input_tokens=1000, output_tokens=10))
    assert sum(one.cost_usd for one in results) == pytest.approx(4 * each)


async def test_with_the_cli_one_bad_judgement_and_one_wordy_group_cost_no_other_check(served, cli):
    asked = considerations("a", "b", "c", "d")
    wordy = {"text": "SATISFIED: all of it"}
    replies = [
        {**wordy, "when": "What of a?"},
        {**wordy, "when": "[structured-output-enforce]"},
        in_group(("c", "not_satisfied"), {"id": "d", **finds("maybe")}),
    ]
    async with served(*replies) as (connection, _, gateway):
        results = await judge_all(asked, looking(cli(connection).ask, groups=2, rules={"a": rule()}))
        assert gateway.problems == []
    assert [one.source for one in results] == [RULE, NOT_CHECKED, JUDGE, NOT_CHECKED]
