"""How each criterion of a spec stands: while its tasks are built, after a review, and when the work has changed."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from language.beginnings import run_started

from orchestrator.views.models.criteria import CriterionState, counted, criteria_of, facts_of
from orchestrator.views.run.story import lines_of
from state.journal import events as e
from state.journal.events import Stored
from state.journal.events.reviews import proof_of
from state.journal.fold.fold import apply
from state.journal.view import RunView
from state.outcome import Outcome
from state.records.commands import BaselineCheck, BaselineOutcome, CommandRun, TestCount, TestState
from state.records.plan import Analysis, Criterion, CriterionKind, Task
from state.records.reviews import CriterionVerdict, Evidence, EvidenceKind, JudgedBy, Mark
from state.settings.presets import usual_settings

BEGIN = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)
STARTED = replace(
    run_started("r1"),
    spec_name="/somewhere/spec.md",
    spec_text="# Shop\n\nInvoices show the discount.\n",
    settings=usual_settings(),
)
CRITERIA = (
    Criterion(
        id="c-1",
        text="The discount is shown",
        task_ids=("a",),
        quote="Invoices show the discount.",
        spec_lines=(3, 3),
    ),
    Criterion(id="c-2", text="It is kept small", task_ids=("b",), kind=CriterionKind.CONSTRAINT),
)
PLANNED = (
    STARTED,
    e.BaselineTaken(tree="t0", environment="", checks=()),
    e.RepositoryAnalyzed(analysis=Analysis()),
    e.PlanAccepted(
        tasks=(Task(id="a", title="First", description=""), Task(id="b", title="Second", description="")),
        criteria=CRITERIA,
    ),
)
TEST = Evidence(
    kind=EvidenceKind.TEST,
    ref="tests/test_a.py::test_discount",
    holds=True,
    why="it passed",
    mark=Mark.TESTED,
)
LINE = Evidence(kind=EvidenceKind.LINE, ref="shop.py:3", holds=True)
SUITE = Evidence(kind=EvidenceKind.COMMAND, ref="pytest", holds=True, why="it passed", general=True)
FACT = Evidence(kind=EvidenceKind.COMPUTED, ref="dependencies", holds=True, mark=Mark.COMPUTED)
SCRIPT = Evidence(kind=EvidenceKind.COMMAND, ref="./check.sh", holds=True, mark=Mark.COMPUTED)
BASES = Evidence(kind=EvidenceKind.TEST, ref="tests/test_b.py::test_b", holds=True, mark=Mark.EXAMINED)


def begun(task_id):
    return e.TaskStarted(task_id=task_id, branch="", worktree="", base_commit="a" * 40)


def merged(task_id, commit="c9", tree="t9"):
    return e.TaskMerged(task_id=task_id, commit=commit, tree=tree)


def judged(criterion_id, *evidence, verdict=CriterionVerdict.MET, tree="t9", by=JudgedBy.REVIEWER):
    return e.CriterionJudged(
        criterion_id=criterion_id,
        verdict=verdict,
        by=by,
        commit="c9",
        tree=tree,
        claim="I read it.",
        evidence=evidence,
    )


def seen(*events):
    view = RunView()
    for seq, event in enumerate((*PLANNED, *events), start=1):
        apply(view, Stored(seq, BEGIN + timedelta(seconds=seq), event))
    return view


def states(*events):
    return [row.state for row in criteria_of(seen(*events))]


def test_a_criterion_is_placed_in_the_spec_by_name_and_lines():
    first, second = criteria_of(seen())
    assert (first.place, first.quote) == ("spec.md:3", "Invoices show the discount.")
    assert second.place == ""


def test_before_a_verdict_a_criterion_stands_as_its_tasks_do():
    assert states() == [CriterionState.NOT_BEGUN, CriterionState.NOT_BEGUN]
    assert states(begun("a")) == [CriterionState.UNDER_WAY, CriterionState.NOT_BEGUN]
    assert states(merged("a"), merged("b")) == [CriterionState.UNDER_WAY, CriterionState.UNDER_WAY]


def test_a_verdict_on_the_merged_tree_counts_and_names_its_proof_and_place_in_the_journal():
    view = seen(merged("a"), merged("b"), judged("c-1", TEST), judged("c-2"))
    first, second = criteria_of(view)
    assert (first.state, first.proof, first.words) == (CriterionState.TESTED, TEST, "I read it.")
    assert first.seq == view.clock.last_seq - 1
    assert (second.state, second.proof) == (CriterionState.CLAIMED, None)
    assert counted(criteria_of(view)) == {CriterionState.TESTED: 1, CriterionState.CLAIMED: 1}


def test_a_verdict_on_another_tree_does_not_count_and_is_said_to_be_stale():
    reviewed = (merged("a"), merged("b"), judged("c-1", TEST))
    assert states(*reviewed, merged("b", "c10", "t10"))[0] is CriterionState.UNDER_WAY
    caught_up = e.WorkCaughtUp(onto="u1", commit="c11", tree="t11")
    ended = e.RunEnded(outcome=Outcome.UNVERIFIED, cause="")
    row = criteria_of(seen(*reviewed, caught_up, ended))[0]
    assert (row.state, row.proof) == (CriterionState.NOT_CHECKED, None)
    assert row.note == "the verdict is about commit c9, and the work has changed since"


def test_a_task_that_is_sent_back_puts_its_criteria_under_way_again():
    reopened = e.TaskReopened(task_id="a", issues=(), by="the final review")
    events = (merged("a"), merged("b"), judged("c-1", TEST), judged("c-2", FACT), reopened)
    assert states(*events) == [CriterionState.UNDER_WAY, CriterionState.COMPUTED]


def test_a_run_that_ended_says_why_a_criterion_has_no_verdict():
    stuck = e.TaskStuck(task_id="b", reason="no service")
    rows = criteria_of(seen(begun("b"), stuck, e.RunEnded(outcome=Outcome.STUCK, cause="")))
    assert [(row.state, row.note) for row in rows] == [
        (CriterionState.NOT_BEGUN, ""),
        (CriterionState.NOT_CHECKED, "b is stuck"),
    ]


@pytest.mark.parametrize(
    ("evidence", "proof"),
    [
        ((), None),
        ((TEST,), TEST),
        ((LINE,), None),
        ((LINE, SUITE), None),
        ((SUITE, SCRIPT), SCRIPT),
        ((replace(TEST, mark=None),), None),
        ((replace(TEST, general=True),), None),
        ((Evidence(kind=EvidenceKind.TEST, ref="x", holds=None),), None),
        ((TEST, Evidence(kind=EvidenceKind.TEST, ref="x", holds=False)), None),
        ((TEST, Evidence(kind=EvidenceKind.LINE, ref="x:1", holds=False)), TEST),
        ((TEST, BASES), BASES),
        ((TEST, FACT), FACT),
        ((SCRIPT, replace(FACT, holds=False)), None),
    ],
)
def test_which_evidence_shows_a_criterion(evidence, proof):
    assert proof_of(evidence) is proof


@pytest.mark.parametrize(
    ("verdict", "evidence", "mark"),
    [
        (CriterionVerdict.MET, TEST, Mark.TESTED),
        (CriterionVerdict.MET, BASES, Mark.EXAMINED),
        (CriterionVerdict.MET, FACT, Mark.COMPUTED),
        (CriterionVerdict.MET, LINE, Mark.CLAIMED),
        (CriterionVerdict.NOT_MET, TEST, Mark.NOT_MET),
        (CriterionVerdict.NOT_CHECKED, TEST, Mark.NOT_CHECKED),
    ],
)
def test_a_mark_says_what_sq_has_seen_of_a_verdict_of_met_and_nothing_of_another(verdict, evidence, mark):
    event = judged("c-1", evidence, verdict=verdict)
    assert event.mark is mark
    assert (event.proof is evidence) is (mark.words in {"tested", "examined", "computed"})
    assert CriterionState(mark.words).mark is mark


def test_the_story_names_the_proof_and_what_did_not_hold():
    view = seen()
    refuted = Evidence(kind=EvidenceKind.TEST, ref="test_ghost", holds=False, why="sq ran no such test")
    assert lines_of(view, Stored(9, BEGIN, judged("c-1", TEST))) == [
        "c-1 tested by the test tests/test_a.py::test_discount (The discount is shown)"
    ]
    assert lines_of(view, Stored(9, BEGIN, judged("c-1", refuted))) == [
        "c-1 claimed: I read it. (The discount is shown)",
        "    test test_ghost: sq ran no such test",
    ]
    unchecked = judged("c-2", verdict=CriterionVerdict.NOT_CHECKED)
    assert lines_of(view, Stored(9, BEGIN, replace(unchecked, claim=""))) == [
        "c-2 not checked: the review gave no verdict on it (It is kept small)"
    ]
    assert lines_of(view, Stored(9, BEGIN, judged("c-1", SUITE, by=JudgedBy.RULE))) == [
        "c-1 claimed on the work with your commits: I read it. (The discount is shown)",
        "    command pytest: it passed, which proves no single behaviour",
    ]


def test_a_command_of_the_merged_work_stands_beside_its_result_at_the_base():
    passed, skipped, failed = TestState.PASSED, TestState.SKIPPED, TestState.FAILED
    base = TestCount(tests={"a": passed, "b": passed, "gone": passed}, passed=3, failed=0, skipped=0)
    now = TestCount(
        tests={"a": passed, "b": skipped, "c": failed, "d": passed}, passed=2, failed=1, skipped=1
    )
    check = BaselineCheck(
        run=CommandRun(command="pytest", exit_code=0, seconds=1, output_tail="", count=base),
        source="pytest.ini",
        outcome=BaselineOutcome.PASSES,
    )
    ran = (
        CommandRun(command="pytest", exit_code=1, seconds=2, output_tail="", count=now),
        CommandRun(command="ruff check .", exit_code=0, seconds=0.1, output_tail=""),
    )
    view = seen(
        e.BaselineTaken(tree="t0", environment="", checks=(check,)),
        merged("a"),
        e.VerificationFinished(task_id="", tree="t9", runs=ran),
    )
    tests, lint = facts_of(view)
    assert (tests.passed, tests.passed_tests, tests.failed, tests.skipped) == (False, 2, 1, 1)
    assert (tests.base_passed, tests.base_failed, tests.base_skipped) == (3, 0, 0)
    assert (tests.more_tests, tests.more_skipped) == (1, 1)
    assert (tests.names_failed, tests.names_skipped_now) == (("c",), ("b",))
    assert (tests.names_new, tests.names_gone) == (("c", "d"), ("gone",))
    assert (lint.passed, lint.passed_tests, lint.more_tests, lint.more_skipped) == (True, None, None, None)
    assert facts_of(seen()) == ()
