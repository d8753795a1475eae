"""The view is a pure fold: it does not matter where a reader began, and nothing it was given changes."""

from copy import deepcopy
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from language.beginnings import call_started, run_started
from language.event_strategies import legal_runs, stored, task

from state.journal import events as e
from state.journal.codec import decode, encode
from state.journal.events import Stored
from state.journal.events.tasks import HISTORY_KEPT, Stage
from state.journal.fold.fold import fold
from state.journal.view import RunView
from state.outcome import Outcome
from state.records.calls import CallEnd, Message, MessageKind
from state.records.questions import Answer
from state.records.reviews import Finding, ReviewIssue
from state.roles import Role
from state.verdicts import Verdict

slowly = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
ISSUE = ReviewIssue(task_id="t1", file="a.py", description="unused", suggestion="remove it")
FOUND = Finding(id="f1", issue=ISSUE)


@slowly
@given(run=legal_runs(), data=st.data())
def test_a_prefix_and_then_the_rest_is_the_same_as_all_at_once(run, data):
    cut = data.draw(st.integers(0, len(run)))
    assert fold(run[cut:], fold(run[:cut])) == fold(run)


@slowly
@given(run=legal_runs(), data=st.data())
def test_going_on_from_a_view_leaves_that_view_as_it_was(run, data):
    cut = data.draw(st.integers(0, len(run)))
    view = fold(run[:cut])
    before = deepcopy(view)
    fold(run[cut:], view)
    assert view == before


@slowly
@given(run=legal_runs())
def test_events_that_were_stored_and_read_fold_to_the_same_view(run):
    read = [Stored(each.seq, each.at, decode(*encode(each.event))) for each in run]
    assert fold(read) == fold(run)


@slowly
@given(run=legal_runs())
def test_every_try_of_every_call_is_in_the_cost_once(run):
    view = fold(run)
    paid = e.CallEnded | e.CallRetried | e.CallInterrupted
    told = [each.event.cost_usd for each in run if isinstance(each.event, paid)]
    assert view.cost_usd == pytest.approx(sum(told))
    assert view.clock.last_seq == len(run)
    assert all(call.end for call in view.calls.values())


@slowly
@given(run=legal_runs())
def test_the_branch_stands_where_the_last_task_was_merged(run):
    merged = [each.event.commit for each in run if isinstance(each.event, e.TaskMerged)]
    assert fold(run).whole.commit == ["c0", *merged][-1]


def run_of(*events, tasks=("t1",)):
    plan = e.PlanAccepted(tasks=tuple(map(task, tasks)), criteria=())
    return fold(stored([run_started(), plan, *events]))


def call(call_id, role=Role.WORKER, task_id="t1", attempt=1):
    return call_started(call_id, role, task_id, attempt=attempt, session_id="s-1")


def attempt(number=1):
    return e.AttemptStarted(task_id="t1", attempt=number, session_id=f"s-{number}", tree="tree0")


def reviewed(*issues, task_id="t1", commit="c1"):
    return e.ReviewRecorded(task_id=task_id, attempt=1, commit=commit, passed=not issues, issues=issues)


def test_a_run_begins_with_an_empty_context():
    context = RunView().context
    assert (context.discoveries, context.errors, context.decisions, context.review_issues) == ([], [], [], [])


def test_a_failed_review_sends_its_issues_into_the_context_and_the_task():
    back = e.TaskReopened(task_id="t1", issues=(ISSUE,), findings=(FOUND,), by="the review")
    view = run_of(attempt(), reviewed(ISSUE), back)
    assert view.context.review_issues == [ISSUE]
    assert view.tasks["t1"].review.issues == (ISSUE,)
    assert (view.tasks["t1"].stage, view.tasks["t1"].review.revisions) == (Stage.BUILDING, 1)


def test_a_passed_review_clears_the_issues_of_its_task_and_of_no_other():
    other = ReviewIssue(task_id="t2", file="b.py", description="odd", suggestion="even")
    of_other = e.ReviewRecorded(task_id="t2", attempt=1, commit="c2", passed=False, issues=(other,))
    view = run_of(reviewed(ISSUE), of_other, reviewed(), tasks=("t1", "t2"))
    assert view.context.review_issues == [other]
    assert view.tasks["t1"].review.issues == ()
    assert view.tasks["t1"].stage is Stage.APPROVED


def test_a_passed_final_review_clears_every_issue():
    view = run_of(reviewed(ISSUE), reviewed(task_id=""))
    assert view.context.review_issues == []


def test_a_new_attempt_counts_its_iterations_and_refusals_from_zero():
    refused = e.CompletionRefused(task_id="t1", attempt=1, iteration=1, feedback="red", fingerprint="f")
    ended = e.CallEnded(call_id="c-1", end=CallEnd.COMPLETED)
    view = run_of(attempt(), call("c-1"), ended, refused, attempt(2))
    found = view.tasks["t1"]
    assert (found.attempt, found.iteration, found.open.refusals, found.open.trees) == (2, 0, [], ["tree0"])


def test_an_accepted_claim_ends_the_row_of_refusals():
    refused = e.CompletionRefused(task_id="t1", attempt=1, iteration=1, feedback="red", fingerprint="f")
    accepted = e.CompletionAccepted(task_id="t1", attempt=1, tree="tree1")
    found = run_of(attempt(), refused, accepted).tasks["t1"]
    assert (found.stage, found.claim.accepted_tree, found.open.refusals) == (Stage.ACCEPTED, "tree1", [])


@pytest.mark.parametrize(
    ("event", "stage"),
    [
        (e.TaskStuck(task_id="t1", reason="why"), Stage.STUCK),
        (e.TaskFailed(task_id="t1", cause="why"), Stage.FAILED),
        (e.TaskUnverified(task_id="t1", reason="why"), Stage.UNVERIFIED),
    ],
)
def test_a_task_that_ended_says_why(event, stage):
    found = run_of(attempt(), event).tasks["t1"]
    assert (found.stage, found.end.reason) == (stage, "why")


def test_a_call_is_open_until_its_own_end_and_no_other():
    view = run_of(attempt(), call("c-1"), call("c-2", Role.DEVELOPER))
    over = e.CallEnded(call_id="c-2", end=CallEnd.COMPLETED)
    ends = {id_: each.end for id_, each in fold(stored([over]), view).calls.items()}
    assert ends == {"c-1": None, "c-2": over}


def test_of_several_reports_in_one_call_the_first_stands():
    reports = [
        e.SignalReceived(call_id="c-1", name=name, payload="{}")
        for name in ("iteration_done", "task_complete")
    ]
    assert run_of(attempt(), call("c-1"), *reports).calls["c-1"].report is reports[0]


def test_an_answer_becomes_a_decision_and_a_failed_call_an_error():
    asked = e.QuestionsAsked(ask_id="a", call_id="c-1", task_id="t1", questions=())
    answered = e.QuestionsAnswered(ask_id="a", answers=(Answer(question="Q?", labels=("A", "B")),), model="m")
    failed = e.CallEnded(call_id="c-1", end=CallEnd.API_ERROR, detail="overloaded")
    view = run_of(attempt(), call("c-1"), asked, answered, failed)
    assert view.context.decisions == ["Q? → A, B"]
    assert view.context.errors == ["worker t1: api error: overloaded"]
    assert view.asks["a"].answered == answered


def test_a_gate_that_blocked_or_could_not_look_is_an_error_and_one_that_allowed_is_not():
    def decided(verdict):
        return e.GateDecided(
            task_id="t1", attempt=1, iteration=1, gate="diff", verdict=verdict, reason="why", tree="t"
        )

    view = run_of(attempt(), *map(decided, Verdict))
    assert view.context.errors == ["t1: diff: why", "t1: diff: why"]


def test_a_view_holds_the_newest_messages_of_a_task_and_not_all():
    said = [
        e.MessageReceived(call_id="c-1", message=Message(kind=MessageKind.TEXT, text=str(number)))
        for number in range(HISTORY_KEPT + 50)
    ]
    view = run_of(attempt(), call("c-1"), *said)
    kept = [message.text for message in view.tasks["t1"].history]
    assert kept == [str(number) for number in range(50, HISTORY_KEPT + 50)]
    assert view.calls["c-1"].last_text == kept[-1]


def test_a_resumption_takes_back_that_the_run_was_interrupted_or_had_ended():
    interrupted = run_of(e.RunInterrupted(by="SIGINT"))
    assert interrupted.process.interrupted_by == "SIGINT"
    resumed = fold(stored([e.RunResumed()]), interrupted)
    assert (resumed.process.interrupted_by, resumed.ended, resumed.process.resumptions) == ("", None, 1)


MERGE = {"task_id": "t1", "commit": "c1", "onto": "c0"}


def test_a_merge_under_way_is_told_with_its_conflict_and_is_gone_when_it_is_over():
    began = run_of(e.MergeStarted(**MERGE), e.MergeConflicted(**MERGE, paths=("a.py",)))
    refused = e.ResolutionRefused(**MERGE, reason="markers are left")
    going_on = fold(stored([refused]), began).tasks["t1"].merge
    assert (going_on.onto, going_on.paths, going_on.refusals) == ("c0", ("a.py",), [refused])
    for over in (e.MergeFailed(**MERGE, reason="red"), e.TaskMerged(**MERGE, tree="tree1")):
        assert fold(stored([over]), began).tasks["t1"].merge is None


def test_a_merged_task_is_merged_as_the_new_commit_on_what_was_merged_before():
    built = e.MergeBuilt(task_id="t1", commit="c2", tree="tree2", onto="c1")
    merged = e.TaskMerged(task_id="t1", commit="c2", tree="tree2", onto="c1")
    view = run_of(e.MergeStarted(**MERGE), built, merged)
    assert (view.whole.commit, view.whole.tree) == ("c2", "tree2")
    assert (view.tasks["t1"].stage, view.tasks["t1"].merged_onto) == (Stage.MERGED, "c1")


def test_a_task_sent_back_onto_newer_work_is_built_there_until_it_has_its_place():
    back = e.TaskReopened(task_id="t1", issues=(), by="the merge", base="c9", start="c1")
    view = run_of(attempt(), back)
    assert (view.tasks["t1"].next.rebuild, view.tasks["t1"].open.is_open) == (("c9", "c1"), False)
    place = e.TaskStarted(task_id="t1", branch="b", worktree="/w", base_commit="c9")
    again = fold(stored([place]), view).tasks["t1"]
    assert (again.next.rebuild, again.place.base_commit) == (None, "c9")


def test_a_task_that_is_tried_again_goes_on_where_it_ended():
    committed = e.TaskCommitted(task_id="t1", attempt=1, commit="c1", tree="tree1")
    ended = e.RunEnded(outcome=Outcome.STUCK, cause="stuck")
    again = e.RunResumed(retry=("t1",))
    stuck = e.TaskStuck(task_id="t1", reason="nothing moves")
    unverified = e.TaskUnverified(task_id="t1", reason="no review")
    in_review = run_of(attempt(), committed, unverified, ended, again).tasks["t1"]
    assert (in_review.stage, in_review.end.reason, in_review.claim.commit) == (Stage.COMMITTED, "", "c1")
    building = run_of(attempt(), stuck, ended, again).tasks["t1"]
    assert (building.stage, building.open.is_open) == (Stage.BUILDING, False)


def test_the_findings_of_a_review_in_between_are_the_tasks_and_one_without_a_report_changes_none():
    finding = Finding(id="f1", issue=ISSUE)
    place = {"task_id": "t1", "attempt": 1, "iteration": 1, "tree": "tree1"}
    view = run_of(attempt(), e.CheckpointReviewed(**place, findings=(finding,)))
    view = fold(stored([e.CheckpointReviewed(**place, problem="no JSON")]), view)
    assert view.tasks["t1"].review.findings == (finding,)
    assert len(view.tasks["t1"].open.checkpoints) == 2


def test_time_between_processes_is_not_worked():
    stop = e.RunInterrupted(by="SIGINT")
    view = fold([_at(0, run_started()), _at(5, stop), _at(900, e.RunResumed())])
    assert view.clock.worked_s == 5
    more = fold([_at(902.5, stop)], view)
    assert (more.clock.worked_s, more.clock.last_at) == (7.5, _at(902.5, stop).at)


def _at(second, event):
    return Stored(int(second) + 1, datetime(2026, 1, 31, tzinfo=UTC) + timedelta(seconds=second), event)
