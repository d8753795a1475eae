"""Plain decisions about criteria: the place of a quote in the spec, and the tests that a name means."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from language.tables import rows, table

from agents.roles.planner import read_plan
from agents.roles.reviewer import parse_review_output
from orchestrator.run.asking.briefing import decisions
from orchestrator.run.plan.quotes import UNPLACED, place_of, placed
from orchestrator.run.review.checked import Named, named_by
from orchestrator.run.review.criteria import question
from state.journal.events import VerificationFinished
from state.journal.events.before import SpecAnswerView
from state.journal.view import RunView
from state.records.commands import BaselineCheck, BaselineOutcome, CommandRun, TestCount, TestState
from state.records.plan import Criterion, CriterionKind, Plan
from state.records.reviews import CriterionClaim, CriterionVerdict, Evidence, EvidenceKind
from state.records.spec_check import FaultKind, SpecAnswer

SPEC = table(__file__, "spec")


@pytest.mark.parametrize(*rows(__file__, "quotes"))
def test_a_quote_is_found_by_its_words_or_not_at_all(quote, near, lines):
    assert place_of(SPEC, quote, near=tuple(near)) == tuple(lines)


@given(st.text(max_size=300), st.text(max_size=60))
def test_a_place_is_always_within_the_spec(spec, quote):
    first, last = place_of(spec, quote)
    assert (first, last) == UNPLACED or 1 <= first <= last <= len(spec.split("\n"))


@given(st.integers(0, 10), st.integers(0, 10))
def test_every_run_of_whole_lines_of_a_spec_is_found_with_its_lines(start, more):
    lines = SPEC.split("\n")
    first, last = start + 1, min(start + more, len(lines) - 1) + 1
    quote = "\n".join(lines[first - 1 : last])
    found = place_of(SPEC, quote, near=(first, last))
    words = [number for number in range(first, last + 1) if lines[number - 1].strip()]
    assert found == ((words[0], words[-1]) if words else UNPLACED)


def test_criteria_get_ids_in_their_order_and_are_looked_for_by_their_text_without_a_quote():
    proposed = Plan(
        tasks=(),
        criteria=(
            Criterion(text="Shown", quote="Invoices show the discount", spec_lines=(9, 11)),
            Criterion(text="A guide explains it"),
            Criterion(text="It is fast", id="c-9"),
        ),
    )
    found = placed(proposed, SPEC).criteria
    assert [(one.id, one.spec_lines, one.is_placed) for one in found] == [
        ("c-1", (10, 10), True),
        ("c-2", (5, 5), True),
        ("c-3", (0, 0), False),
    ]


def test_the_planners_lines_are_a_hint_that_may_be_missing():
    said = (
        '{"tasks": [], "criteria": [{"text": "a", "first_line": 3, "last_line": 4, "kind": "document"}, '
        '{"text": "b"}, {"text": "c", "first_line": 5}, {"text": "d", "first_line": -1, "last_line": 9}]}'
    )
    criteria = read_plan(said).criteria
    assert [one.spec_lines for one in criteria] == [(3, 4), (0, 0), (5, 5), (0, 0)]
    assert [one.kind for one in criteria][:2] == [CriterionKind.DOCUMENT, CriterionKind.BEHAVIOUR]


NAMES = table(__file__, "names")


@pytest.mark.parametrize(*rows(__file__, "named"))
def test_a_reviewer_may_write_a_tests_name_in_another_way_than_the_runner(ref, names, one):
    assert named_by(ref, NAMES) == Named(tuple(names), one=one)


@given(st.text(max_size=80), st.lists(st.text(max_size=40), max_size=5))
def test_a_name_of_a_test_only_ever_means_tests_that_there_are(ref, names):
    found = named_by(ref, names)
    assert set(found.names) <= set(names)
    assert not (found.one and not found.names)


def test_verdicts_are_read_leniently_and_only_met_meets():
    report = parse_review_output(
        '{"passed": true, "issues": [], "criteria": ['
        '{"id": " c-1 ", "verdict": "Met", "reason": "r", "evidence": [{"kind": "test", "ref": " t "}, '
        '{"kind": "oath", "ref": "t"}, {"kind": "line"}, {"kind": "line", "ref": ""}, 7]}, '
        '{"id": "c-2", "verdict": "not_met"}, {"id": "c-3", "verdict": "mostly met"}, '
        '{"id": "c-4", "evidence": "none"}, {"verdict": "met"}, "met"]}'
    )
    assert report.criteria == (
        CriterionClaim(
            id="c-1",
            verdict=CriterionVerdict.MET,
            reason="r",
            evidence=(Evidence(kind=EvidenceKind.TEST, ref="t"),),
        ),
        CriterionClaim(id="c-2", verdict=CriterionVerdict.NOT_MET),
        CriterionClaim(id="c-3", verdict=CriterionVerdict.NOT_CHECKED),
        CriterionClaim(id="c-4", verdict=CriterionVerdict.NOT_CHECKED),
    )


def test_a_reviewer_reads_how_many_tests_are_new_and_which_were_there_before():
    view, tests = (
        RunView(),
        {"t::old": TestState.PASSED} | {f"t::new{n}": TestState.PASSED for n in range(45)},
    )
    view.plan.criteria = (Criterion(id="c-1", text="it counts", task_ids=("a",)),)
    base = CommandRun(
        command="pytest",
        exit_code=0,
        seconds=1.0,
        output_tail="",
        count=TestCount(passed=1, tests={"t::old": TestState.PASSED}),
    )
    view.baseline.checks = {
        "pytest": BaselineCheck(run=base, source="--verify", outcome=BaselineOutcome.PASSES)
    }
    for shown, told in (
        (tests, ", 40 of 45 (1 that were there before passed too):"),
        ({"t::new": TestState.PASSED}, ":"),
    ):
        done = replace(base, count=TestCount(passed=len(shown), tests=shown))
        view.evidence.verifications["tree"] = VerificationFinished(task_id="", tree="tree", runs=(done,))
        words = question(view, "", "tree")
        assert f"New tests that passed on this commit{told}\n" in words
        assert words.count("t::new") == min(40, len(shown))


def test_a_decision_about_the_spec_has_the_words_of_its_line():
    view = RunView()
    given = SpecAnswer(
        kind=FaultKind.CONTRADICTION, quote="- Round down.", question="Which of line 7 and 9?", answer="down"
    )
    view.plan.before.check.held = [SpecAnswerView(given=given, seq=1, at=datetime(2026, 1, 31, tzinfo=UTC))]
    [told] = decisions(view)
    assert told.startswith('the spec ("- Round down."): Which of line 7 and 9? → down')
