"""What an attempt leaves to the next, as plain functions of the view."""

import json
from datetime import UTC, datetime

import pytest
from language.beginnings import call_started, run_started

from orchestrator.run.tasks.hand_over import AttemptStart, before_of, hand_over_of
from state.journal import events as e
from state.journal.events import Stored
from state.journal.fold.fold import fold
from state.outcome import Outcome
from state.records.calls import Message, MessageKind
from state.records.plan import Task
from state.records.questions import Answer
from state.records.reviews import Finding, ReviewIssue
from state.records.work import HandOver

AT = datetime(2026, 1, 1, tzinfo=UTC)
STARTED = run_started()
PLANNED = (STARTED, e.PlanAccepted(tasks=(Task(id="t1", title="", description=""),), criteria=()))
PLACE = e.TaskStarted(task_id="t1", branch="b", worktree="/w/t1", base_commit="c0")
ISSUE = ReviewIssue(task_id="t1", file="a.py", description="wrong", suggestion="mend it")
FOUND = Finding(id="f1", issue=ISSUE)


def begins(number):
    return e.AttemptStarted(task_id="t1", attempt=number, session_id=f"s{number}", tree="tree0")


def called(id_, attempt=1):
    return call_started(id_, attempt=attempt)


def called_with(id_, *events):
    return (called(id_), *events)


def reported(id_, name, **payload):
    return (called(id_), e.SignalReceived(call_id=id_, name=name, payload=json.dumps(payload)))


def back(by="the review", base="", start=""):
    return e.TaskReopened(task_id="t1", issues=(ISSUE,), findings=(FOUND,), by=by, base=base, start=start)


def view_after(*events):
    stored = [Stored(seq, AT, event) for seq, event in enumerate((*PLANNED, PLACE, *events), start=1)]
    return fold(stored)


def left_by(*events, verified=""):
    view = view_after(begins(1), *events)
    return hand_over_of(view, view.tasks["t1"], verified)


def test_the_newest_report_says_what_comes_next_and_what_is_in_the_way():
    left = left_by(
        *reported("c1", "iteration_done", done="a", next_step="b", blockers=["no key"], notes="n"),
        *reported("c2", "iteration_done", done="c", next_step="d", blockers=["no net"], notes="n"),
    )
    done = "In turn 1: a\nIn turn 2: c"
    assert left == HandOver(attempt=1, done=done, next_step="d", blockers=("no net",), notes="n")


def test_the_reason_of_a_stuck_worker_stands_in_the_way():
    stuck = reported("c1", "task_stuck", reason="no port", notes="80 is taken")
    left = left_by(*stuck, e.TaskStuck(task_id="t1", reason="the Worker says: no port"))
    assert (left.blockers, left.notes) == ((), "80 is taken")  # the reason is said once
    assert left.ended == "stuck: the Worker says: no port"


def test_a_completion_in_text_form_leaves_the_words_before_it():
    said = e.MessageReceived(
        call_id="c1", message=Message(kind=MessageKind.TEXT, text="I wrote the parser.\n\nTASK_COMPLETE")
    )
    assert left_by(*called_with("c1", said)).done == "I wrote the parser."


def test_what_was_done_since_a_stuck_attempt_is_said_where_the_user_asked_for_another_one():
    stuck = (
        begins(1),
        *reported("c1", "task_stuck", reason="no ruff"),
        e.TaskStuck(task_id="t1", reason="no ruff"),
    )
    ended = e.RunEnded(outcome=Outcome.STUCK, cause="")

    def since(**more):
        resumed = e.RunResumed(retry=("t1",), **more)
        view = view_after(*stuck, ended, resumed)
        return " ".join(hand_over_of(view, view.tasks["t1"], "").since)

    assert "no other change" in since()
    assert "`make test`" in since(verify=("make test",))
    assert left_by(*stuck[1:]).since == ()


def test_what_sq_saw_of_the_tests_outweighs_what_the_worker_says_which_is_marked_as_its_claim():
    claim = reported("c1", "task_complete", summary="a", tests="all green")
    seen = left_by(*claim, verified="- `make test`: failed").tests
    assert seen == "sq ran these on the work as that attempt left it:\n- `make test`: failed"
    assert left_by(*claim).tests == "sq has not looked. It says: all green"
    assert left_by(*reported("c1", "task_complete", summary="a")).tests == ""


def test_an_attempt_without_reports_leaves_how_it_ended():
    assert left_by(called("c1"), back()) == HandOver(attempt=1, ended="sent back by the review with 1 issue")


def test_answers_of_the_attempt_are_decisions_and_those_of_others_are_not():
    def asked(ask_id, call_id):
        answer = Answer(question=f"{ask_id}?", labels=("yes",))
        return (
            e.QuestionsAsked(ask_id=ask_id, call_id=call_id, task_id="t1", questions=()),
            e.QuestionsAnswered(ask_id=ask_id, answers=(answer,), model="m"),
        )

    left = left_by(called("c1"), *asked("a", "c1"), *asked("b", "elsewhere"))
    assert left.decisions == ("a? → yes",)


def test_much_that_was_said_is_cut_to_its_end():
    left = left_by(*reported("c1", "iteration_done", done="x" * 9_000 + " the end"))
    assert len(left.done) < 5_000
    assert left.done.endswith("the end")


def test_before_the_first_attempt_nothing_is_handed_over():
    view = view_after()
    assert hand_over_of(view, view.tasks["t1"], "") is None


def test_an_attempt_that_came_to_nothing_hands_on_what_it_was_given():
    notes = HandOver(done="Half of it.")
    view = view_after(begins(1), called("c1"), e.HandedOver(task_id="t1", attempt=1, notes=notes), begins(2))
    assert hand_over_of(view, view.tasks["t1"], "") == notes


# --- where the next attempt begins -----------------------------------------------------

COMMITTED = e.TaskCommitted(task_id="t1", attempt=1, commit="c1", tree="tree1")
REVIEWED = e.ReviewRecorded(task_id="t1", attempt=1, commit="c1", passed=True, issues=())
MERGED = e.TaskMerged(task_id="t1", commit="c2", tree="tree2", onto="c0")
BUILT = (begins(1), called("c1"), COMMITTED, REVIEWED)


@pytest.mark.parametrize(
    ("events", "start"),
    [
        ((back(),), AttemptStart.FORMER),
        ((MERGED, back("the final review", "c2", "c2"), PLACE), AttemptStart.MERGED),
        ((back("the merge", "c9", "c9"), PLACE), AttemptStart.OVER),
        ((back("the merge", "c9", "c10"), PLACE), AttemptStart.BOTH),
    ],
)
def test_the_workspace_of_the_next_attempt_is_told_as_what_it_holds(events, start):
    task = view_after(*BUILT, *events, begins(2)).tasks["t1"]
    assert (before_of(task).start, before_of(task).commit) == (start, "c1")


def test_after_the_first_prompt_on_newer_work_the_workspace_holds_the_work_of_the_attempt():
    events = (*BUILT, back("the merge", "c9", "c9"), PLACE, begins(2))
    told = view_after(*events, called("c2", 2), e.TaskStuck(task_id="t1", reason="no port"), begins(3))
    assert before_of(told.tasks["t1"]).start is AttemptStart.FORMER
    untold = view_after(*events, e.TaskFailed(task_id="t1", cause="no disk"), begins(3))
    assert before_of(untold.tasks["t1"]).start is AttemptStart.OVER
