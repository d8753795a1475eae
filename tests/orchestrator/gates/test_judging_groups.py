"""Questions judged in groups, a call each, by the real clients: what a group costs, and what is asked again."""

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
    says,
    sources,
    unwanted_rule,
)

from agents.ask.port import room_of
from agents.gateway.ledger import read_ledger
from agents.roles.judge import judge_ask
from orchestrator.gates.power_steering.considerations import load_considerations
from orchestrator.gates.power_steering.judging import TOGETHER, dealt, judge_all, room_for
from state.records.calls import Usage

GROUP = "<question id="  # in calls with several questions alone


@pytest.mark.parametrize(
    ("count", "together", "calls"), [(23, 4, 6), (6, 4, 2), (4, 4, 1), (1, 4, 1), (0, 4, 0), (5, 1, 5)]
)
def test_questions_are_dealt_evenly_and_in_order(count, together, calls):
    asked = considerations(*[f"check-{number}" for number in range(count)])
    hands = dealt(asked, together)
    assert [one for hand in hands for one in hand] == asked
    assert len(hands) == calls
    sizes = {len(hand) for hand in hands}
    assert not sizes or max(sizes) - min(sizes) <= 1
    assert max(sizes, default=0) <= together
    assert 0 not in sizes


def test_a_session_has_the_room_that_the_questions_of_one_call_leave_it():
    alone, together, all_in_one = (room_for(MODEL, questions) for questions in (1, 4, 23))
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
        asked, reply, together=64, before={"b": "the tests failed"}, rules={"b": unwanted_rule}
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


async def test_a_judgement_that_is_missing_double_or_unusable_is_asked_for_once_more_alone(judge):
    asked = considerations("good", "missing", "double", "maybe", "bare", "number")
    reply = in_group(
        ("good", "not_satisfied"),
        ("double", "satisfied"),
        ("double", "satisfied"),
        ("strange", "not_satisfied"),
        {"id": "maybe", **finds("maybe")},
        {"id": "bare"},
        {"id": "number", **finds("satisfied"), "reason": 7},
        when=GROUP,
    )
    again = [
        says("missing"),
        {"text": "NOT SATISFIED: it was not seen", "when": "What of double?"},
        {"text": "Fine, I think.", "when": "What of maybe?"},
        says("bare", "maybe"),
        says("number", "cannot_tell"),
    ]
    found, seen = await judge(
        asked, reply, *again, together=64, rules={"maybe": rule(), "good": unwanted_rule, "number": rule()}
    )
    assert sources(found) == {
        "good": JUDGE, "missing": JUDGE, "double": JUDGE, "maybe": RULE, "bare": NOT_CHECKED,
        "number": NOT_CHECKED,
    }  # fmt: skip
    assert [id_ for id_, one in found.items() if not one.satisfied] == ["good", "missing", "double", "maybe"]
    assert found["double"].reason == "it was not seen"
    first, *others = seen.questions
    assert GROUP in first
    assert len(others) == 5
    assert not any(GROUP in one for one in others)


@pytest.mark.parametrize(
    "reply",
    [
        {"text": "SATISFIED: all of it"},
        {"structured": {**finds("satisfied"), "judgements": None}},
        {"structured": {"judgements": "satisfied"}},
        {"structured": {"judgements": ["satisfied", None, [{"id": "a"}], {"id": ["a"]}]}},
        {**SATISFIED, "misbehave": {"status": 500}},
        {**SATISFIED, "misbehave": {"connection": "dropped"}},
        {**SATISFIED, "misbehave": {"hang": "before-headers"}},
        {**SATISFIED, "misbehave": {"hang": "after-headers"}},
    ],
    ids=["words", "one for all", "no list", "no items", "an error", "cut", "silent", "begun"],
)
async def test_a_call_without_an_answer_leaves_no_question_of_it_unmade(judge, reply):
    failing = {**reply, "when": f'{GROUP}"a"'}
    good = in_group(("c", "not_satisfied"), ("d", "satisfied"), when=GROUP)
    asked = considerations("a", "b", "c", "d")
    rules = dict.fromkeys("abcd", unwanted_rule)
    found, seen = await judge(asked, failing, good, says("a"), SATISFIED, together=2, each_s=1, rules=rules)
    assert set(sources(found).values()) == {JUDGE}
    assert [one.satisfied for one in found.values()] == [False, True, False, True]
    assert len(seen.bodies) == 2 + 2


async def test_a_question_that_hangs_alone_too_is_the_only_one_that_is_not_checked(judge):
    hanging = {**SATISFIED, "when": "What of a?", "misbehave": {"hang": "before-headers"}}
    asked = considerations("a", "b", "c", "d")
    good = in_group(("c", "satisfied"), ("d", "satisfied"), when=GROUP)
    found, seen = await judge(
        asked, hanging, good, SATISFIED, together=2, each_s=1, rules={"a": unwanted_rule}
    )
    assert sources(found) == {"a": NOT_CHECKED, "b": JUDGE, "c": JUDGE, "d": JUDGE}
    assert "no answer within" in found["a"].reason
    assert len(seen.bodies) == 4


async def test_who_refuses_a_call_for_good_is_not_asked_its_questions_alone(judge):
    refusal = {**SATISFIED, "misbehave": {"status": 400, "message": "no credit"}}
    found, seen = await judge(considerations("a", "b"), refusal, together=2, rules={"a": rule()})
    assert sources(found) == {"a": RULE, "b": NOT_CHECKED}
    assert len(seen.bodies) == 1


async def test_the_cost_of_a_call_is_shared_out_over_its_checks_and_counted_once(judge):
    good = in_group(("a", "satisfied"), ("c", "satisfied"), when=[GROUP, "What of a?"])
    found, seen = await judge(
        considerations("a", "b", "c", "d", "e"), good, {"text": "Fine, all."}, together=3, rules={"d": rule()}
    )
    assert len(seen.bodies) == 2 + 4  # all but a are asked again
    each = MODEL.cost(Usage(input_tokens=1000, output_tokens=10))
    assert sum(one.cost_usd for one in found.values()) == pytest.approx(6 * each)
    assert all(one.cost_usd > 0 for one in found.values())
    assert found["b"].cost_usd > found["a"].cost_usd


# --- the real Claude Code as the judge --------------------------------------------------------------------


async def test_with_the_cli_all_questions_are_judged_in_five_processes(served, cli, tmp_path):
    asked = load_considerations(None).considerations
    given = [(one.id, "satisfied") for one in asked if one.id != "local_testing"]
    async with served(in_group(*given, {"id": "local_testing", **finds("not_satisfied", "No tests.")})) as (
        connection,
        _,
        gateway,
    ):
        results = await judge_all(asked, looking(cli(connection).ask, together=TOGETHER))
        assert gateway.problems == []
    assert len(read_ledger(tmp_path / "ledger.jsonl")) == 5
    assert {one.source for one in results} == {JUDGE}
    assert [one.consideration_id for one in results if not one.satisfied] == ["local_testing"]
    each = MODEL.cost(Usage(input_tokens=1000, output_tokens=10))
    assert sum(one.cost_usd for one in results) == pytest.approx(5 * each)


async def test_with_the_cli_what_a_wordy_call_does_not_answer_is_asked_alone_and_prose_counts_then(
    served, cli
):
    wordy = {"text": "SATISFIED: all of it"}
    replies = [
        {**wordy, "when": "What of a?"},
        {**wordy, "when": "[structured-output-enforce]"},
        {**SATISFIED, "when": "What of b?"},
    ]
    async with served(*replies) as (connection, _, gateway):
        results = await judge_all(considerations("a", "b"), looking(cli(connection).ask, together=2))
        assert gateway.problems == []
    assert [(one.source, one.satisfied) for one in results] == [(JUDGE, True), (JUDGE, True)]
    assert results[0].reason == "all of it"
