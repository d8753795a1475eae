"""Objections, and the one place that decides with them."""

import pytest

from orchestrator.checks import objecting
from orchestrator.checks.outcome import Policy, blocking, gaps, unheard, verdict
from state.outcome import Outcome
from state.records.commands import CanaryResult, WithoutWork
from state.records.objections import Objection, Proof, Weight
from state.records.reviews import TestChange, TestChangeKind
from state.words import sentences

PYTEST = "python -m pytest"
CHANGE = TestChange(test="tests/a.py::test_x", path="tests/a.py", kind=TestChangeKind.FAILS, detail="3 != 2")
STRICT = Policy(heard_notes=frozenset({objecting.CODE_BEFORE}), needed=frozenset({objecting.WITHOUT_WORK}))


def of(weight: Weight, check: str = "a check", subject: str = "x") -> Objection:
    return Objection(check=check, weight=weight, subject=subject, words="it is so")


@pytest.mark.parametrize(
    ("weight", "end"),
    [
        (Weight.BLOCKS, Outcome.FAILED),
        (Weight.ONCE, Outcome.UNVERIFIED),
        (Weight.UNVERIFIED, Outcome.UNVERIFIED),
        (Weight.UNKNOWN, Outcome.COMPLETE),
        (Weight.NOTE, Outcome.COMPLETE),
    ],
)
def test_the_end_that_a_work_can_have_follows_from_the_weights(weight: Weight, end: Outcome) -> None:
    assert verdict(gaps([of(weight)], [], Policy())) is end
    assert bool(blocking([of(weight)])) is (weight is Weight.BLOCKS)


def test_a_needed_check_that_could_not_be_asked_costs_code_0_unless_something_shows_the_work() -> None:
    silent = objecting.unknown(objecting.WITHOUT_WORK, PYTEST, "whether it fails: no time")
    assert gaps([silent], [], Policy()) == []
    assert gaps([silent], [], STRICT) == [silent]
    assert gaps([silent], [Proof(check=objecting.CANARY, command=PYTEST)], STRICT) == [silent]
    shown = Proof(check=objecting.CODE_BEFORE, command=PYTEST, tests=("test_x",))
    assert gaps([silent], [shown], STRICT) == []


def test_a_builder_hears_of_each_check_once_and_of_notes_where_the_policy_says_so() -> None:
    stub, mark, new = objecting.stub("a.py: f"), objecting.runner_mark("a.py: x"), objecting.unproven("t")
    every = [stub, mark, new, of(Weight.UNKNOWN), of(Weight.UNVERIFIED)]
    assert unheard(every, (), Policy()) == [stub, mark]
    assert unheard(every, (objecting.STUBS,), STRICT) == [mark, new]
    assert unheard(every, {one.check for one in every}, STRICT) == []


def test_an_objection_is_the_same_on_every_tree_and_another_subject_is_another_one() -> None:
    (first,), (later,) = (
        objecting.changed([one])
        for one in (CHANGE, TestChange(test=CHANGE.test, path="tests/a.py:9", kind=TestChangeKind.GONE))
    )
    assert first.id == later.id
    assert objecting.stub("a.py: f").id != objecting.stub("a.py: g").id != objecting.later("a.py: g").id


def test_equal_words_are_one_sentence_with_all_subjects() -> None:
    told = sentences([objecting.later("a"), objecting.stub("a.py: f"), objecting.later("b")])
    assert len(told) == 2
    assert told[0].endswith("the spec names none of them: a, b")
    assert sentences(objecting.changed([CHANGE])) == ["the test tests/a.py::test_x fails as it was"]


def test_an_announced_change_of_a_test_weighs_nothing() -> None:
    announced = TestChange(test="t", kind=TestChangeKind.FAILS, expected_by="- add() rounds")
    asked, silent = objecting.changed([announced, CHANGE])
    assert (asked.weight, asked.because) == (Weight.NOTE, "- add() rounds")
    assert (silent.weight, silent.against, silent.evidence) == (Weight.ONCE, True, "3 != 2")


def test_a_planted_test_that_is_not_noticed_blocks_only_if_it_was_noticed_before() -> None:
    lost = CanaryResult(command=PYTEST, path="tests/x.py", caught=False)
    weights = [objecting.canary(lost, counts=counts).weight for counts in (True, False)]
    assert weights == [Weight.BLOCKS, Weight.NOTE]
    assert objecting.canary(CanaryResult(command=PYTEST, caught=True), counts=True) == Proof(
        check=objecting.CANARY, command=PYTEST
    )
    silent = objecting.canary(CanaryResult(command=PYTEST, problem="no time"), counts=True)
    assert silent.weight is Weight.UNKNOWN


@pytest.mark.parametrize(
    ("answers", "weights", "proofs"),
    [
        ([{"needed": True, "failing": ("t",), "functions": ("a.py: f",)}], [], 1),
        ([{"needed": False, "functions": ("a.py: f",)}], [Weight.ONCE], 0),
        ([{"needed": None, "problem": "no parser"}], [Weight.UNKNOWN], 0),
        ([{"needed": True, "functions": ("a.py: f",)}, {"needed": False}], [], 1),
        ([{"needed": True, "noticed": False, "small": ("+ → -",)}], [Weight.ONCE], 1),
        ([{"needed": True, "failing": ("t",), "problem": "a part"}], [Weight.UNKNOWN], 1),
    ],
)
def test_the_work_taken_out_speaks_for_it_or_against_it(answers, weights, proofs) -> None:
    found = [*objecting.without_work([WithoutWork(command=PYTEST, **one) for one in answers])]
    assert [one.weight for one in found if isinstance(one, Objection)] == weights
    assert sum(isinstance(one, Proof) for one in found) == proofs


def test_a_note_that_is_told_along_is_heard_beside_others_alone() -> None:
    note = Objection(check="strength", weight=Weight.NOTE, subject="make test", words="two are not noticed")
    once = Objection(check="stubs", weight=Weight.ONCE, subject="a.py: f", words="it does nothing")
    policy = Policy(told_along=frozenset({"strength"}))
    assert unheard([note], [], policy) == []
    assert unheard([note, once], [], policy) == [once, note]
    assert unheard([note, once], ["strength"], policy) == [once]
    assert gaps([note], [], policy) == []
