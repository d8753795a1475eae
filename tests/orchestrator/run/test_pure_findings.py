"""Findings: recognised when they come again, never lost while they block, and heard less from round to round."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from language.beginnings import call_started

from orchestrator.run.review.findings import (
    WEIGHTS,
    as_findings,
    disputes_of,
    final_known,
    fingerprint,
    in_folder,
    known_of,
    settle,
    undisputed,
    unruled,
    with_disputes,
    with_new,
)
from orchestrator.run.review.revise import assign
from state.journal import events as e
from state.journal.events.calls import CallView
from state.journal.events.reviews import TaskReviewView
from state.journal.events.tasks import TaskView, WholeView
from state.journal.fold.fold import apply
from state.journal.view import RunView
from state.records.plan import Task
from state.records.reviews import (
    Dispute,
    Finding,
    FindingState,
    IssueType,
    ReviewIssue,
    ReviewReport,
    Ruling,
    TestRuling,
)

OPEN, FIXED = FindingState.OPEN, FindingState.FIXED
DISPUTED, WONT_FIX = FindingState.DISPUTED, FindingState.WONT_FIX
WRONG, GUARD, TASTE = (
    IssueType.INCORRECT_BEHAVIOR,
    IssueType.MISSING_ERROR_HANDLING,
    IssueType.PATTERN_VIOLATION,
)


def issue(description="it divides by zero", kind=WRONG, file="a.py", line=3):
    return ReviewIssue(
        task_id="t1", file=file, line=line, type=kind, description=description, suggestion="mend it"
    )


def finding(one=None, **more):
    one = one or issue()
    return Finding(id=fingerprint(one), issue=one, **more)


def report(*issues, **rulings):
    said = tuple(Ruling(id=id_, state=state, why="because") for id_, state in rulings.items())
    return ReviewReport(passed=not issues, issues=issues, rulings=said)


def states(settled):
    return {one.id: one.state for one in settled.findings}


# --- recognising an issue --------------------------------------------------------------


def test_an_issue_is_the_same_on_another_line_with_other_numbers_case_and_punctuation():
    one = issue("The loop at line 12 never ends; see `run()`.")
    other = issue("the LOOP at line 340 never ends (see run)", line=340)
    assert fingerprint(one) == fingerprint(other)
    assert len(fingerprint(one)) == 8


def test_an_issue_of_another_type_file_or_in_other_words_is_another_one():
    one = issue()
    others = [replace(one, type=TASTE), replace(one, file="b.py"), replace(one, description="it multiplies")]
    assert len({fingerprint(each) for each in (one, *others)}) == 4


words = st.text(alphabet="abcdefghij ", min_size=1, max_size=30)


@given(
    words,
    st.sampled_from(["upper", "capitalize", "title", "swapcase"]),
    st.integers(0, 99),
    st.sampled_from(".,;:!`"),
)
def test_a_fingerprint_does_not_depend_on_case_numbers_and_punctuation(text, case, number, mark):
    changed = f"{mark}{getattr(text, case)()} {number}{mark}"
    assert fingerprint(issue(changed)) == fingerprint(issue(text))


@given(words, words)
def test_different_words_are_different_issues(one, other):
    same = one.split() == other.split()
    assert (fingerprint(issue(one)) == fingerprint(issue(other))) is same


@pytest.mark.parametrize(
    "file", ["src/a.py", "./src/a.py", "src//a.py", "/w/run/t1/src/a.py", "/w/run/t1/./src/a.py"]
)
def test_a_path_is_the_same_however_it_is_written(file):
    (read,) = in_folder([issue(file=file)], "/w/run/t1")
    assert read.file == "src/a.py"
    assert fingerprint(read) == fingerprint(issue(file="src/a.py"))


def test_a_path_that_only_begins_like_the_folder_is_outside_it():
    (read,) = in_folder([issue(file="/w/run/t10/a.py")], "/w/run/t1")
    assert read.file == "/w/run/t10/a.py"


def test_the_issues_of_a_task_are_its_own_whatever_the_reviewer_wrote():
    assert [one.task_id for one in in_folder([issue()], "/w", "t2")] == ["t2"]
    assert [one.task_id for one in in_folder([issue()], "/w")] == ["t1"]


# --- what a review leaves --------------------------------------------------------------


def test_in_the_first_round_everything_blocks():
    issues = [issue(kind=kind) for kind in IssueType]
    assert settle((), (), report(*issues), 1).blocking == as_findings(*issues)


def test_every_type_has_a_weight():
    assert set(WEIGHTS) == set(IssueType)


@pytest.mark.parametrize(("number", "blocking"), [(1, "tgw"), (2, "gw"), (3, "w"), (4, "w"), (9, "w")])
def test_the_bar_for_new_findings_rises(number, blocking):
    issues = {"t": issue(kind=TASTE), "g": issue(kind=GUARD), "w": issue(kind=WRONG)}
    settled = settle((), (), report(*issues.values()), number)
    assert [one.issue for one in settled.blocking] == [issues[name] for name in blocking]
    assert len(settled.suggestions) == 3 - len(blocking)


@pytest.mark.parametrize(("number", "blocking"), [(2, "tgw"), (3, "gw"), (4, "w"), (9, "w")])
def test_an_earlier_finding_has_one_round_more_of_patience(number, blocking):
    issues = {"t": issue(kind=TASTE), "g": issue(kind=GUARD), "w": issue(kind=WRONG)}
    known = [finding(one) for one in issues.values()]
    insisted = report(**{one.id: OPEN for one in known})
    settled = settle(known, (), insisted, number)
    assert [one.issue for one in settled.blocking] == [issues[name] for name in blocking]


def test_a_finding_of_a_checkpoint_before_this_round_is_new_in_it():
    found = with_new((), as_findings(issue(kind=TASTE)), 2)
    assert settle(found, (), report(**{found[0].id: OPEN}), 2).blocking == ()


def test_what_is_below_the_bar_is_not_to_be_fixed_and_told_in_words():
    settled = settle((), (), report(issue("odd name", TASTE)), 2)
    (one,) = settled.findings
    assert one.state is WONT_FIX
    assert "below the bar of review round 2" in one.note
    (told,) = settled.suggestions
    assert "a.py:3 (pattern-violation): odd name (fix: mend it)" in told


def test_a_finding_that_a_failing_report_leaves_out_stays_open_and_one_that_it_calls_fixed_does_not():
    one, other = finding(), issue("it loops for ever")
    left_out = settle([one], (), report(other), 2)
    assert states(left_out) == {one.id: OPEN, fingerprint(other): OPEN}
    assert [each.unruled for each in left_out.blocking] == [True, False]
    ruled = ReviewReport(passed=True, issues=(), rulings=(Ruling(id=one.id, state=FIXED),))
    assert settle([one], (), ruled, 2).blocking == ()


def test_what_only_a_checkpoint_has_named_is_fixed_if_the_review_leaves_it_out():
    (advice,) = with_new((), as_findings(issue()), 1, advice=True)
    assert states(settle([advice], (), report(), 1)) == {advice.id: FIXED}
    again = settle([advice], (), report(issue()), 1)
    assert [one.advice for one in again.findings] == [False]
    other = issue("it loops for ever")
    assert states(settle(again.findings, (), report(other), 2))[advice.id] is OPEN


def test_a_report_that_passes_clears_each_open_finding_that_it_does_not_rule_open():
    one, other = finding(unruled=True, note="it is"), finding(issue("it loops for ever"))
    assert states(settle([one, other], (), report(), 2)) == {one.id: FIXED, other.id: FIXED}
    said = ReviewReport(passed=True, rulings=(Ruling(id=one.id, state=OPEN),))
    assert states(settle([one, other], (), said, 2)) == {one.id: OPEN, other.id: FIXED}


def test_each_undecided_finding_needs_a_ruling_unless_only_a_checkpoint_has_named_it():
    plain, disputed = finding(), finding(issue("b"), state=DISPUTED)
    advice, fixed = finding(issue("c"), advice=True), finding(issue("d"), state=FIXED)
    assert unruled([plain, disputed, advice, fixed], report()) == [plain, disputed]
    assert unruled([plain, disputed], report(**{plain.id: OPEN, disputed.id: WONT_FIX})) == []
    assert unruled([plain, disputed], report(plain.issue)) == [disputed]


def test_findings_of_sq_itself_need_no_ruling():
    conflict = issue("the work conflicts with what was merged meanwhile", file="the merge")
    task = TaskView(
        Task(id="t1", title="", description=""),
        review=TaskReviewView(open=as_findings(conflict), reopened_by="the merge"),
    )
    assert [one.state for one in known_of(task)] == [FIXED]
    refused = issue("the test a.py::test_x fails, and the spec does not ask for it: why")
    task = TaskView(
        Task(id="t1", title="", description=""),
        review=TaskReviewView(
            open=as_findings(refused),
            rulings=(TestRuling(test="a.py::test_x", accepted=False, why="why"),),
        ),
    )
    assert [one.state for one in known_of(task)] == [FIXED]


def test_a_finding_of_the_final_review_that_each_task_has_settled_since_is_settled():
    one = finding()
    view = RunView(whole=WholeView(findings=(one,)))
    view.tasks = {
        id_: TaskView(
            Task(id=id_, title="", description=""),
            review=TaskReviewView(findings=(replace(one, state=FIXED),)),
        )
        for id_ in ("t1", "t2")
    }
    assert [each.state for each in final_known(view)] == [FIXED]
    view.tasks["t2"].review.findings = (one,)
    assert [each.state for each in final_known(view)] == [OPEN]


def test_an_issue_that_comes_again_is_not_new_and_keeps_the_round_in_which_it_was_found():
    one = finding()
    settled = settle([one], (), report(replace(one.issue, line=77)), 2)
    assert [(each.id, each.round, each.issue.line) for each in settled.findings] == [(one.id, 1, 77)]
    assert len(settled.blocking) == 1


@pytest.mark.parametrize("state", [FIXED, WONT_FIX, DISPUTED])
def test_an_issue_that_comes_again_is_open_whatever_it_was(state):
    one = finding(state=state, note="it was")
    assert states(settle([one], (), report(one.issue), 2)) == {one.id: OPEN}


def test_a_dispute_that_nobody_answers_stays_and_holds_nobody_up():
    one = finding()
    settled = settle([one], [Dispute(id=one.id, evidence="line 2 checks")], report(), 2)
    assert settled.findings == (replace(one, state=DISPUTED, note="line 2 checks"),)
    assert settled.blocking == ()
    later = settle(settled.findings, (), report(), 3)
    assert later.findings == settled.findings


def test_a_dispute_that_is_rejected_blocks_and_says_why():
    one = finding()
    settled = settle([one], [Dispute(id=one.id, evidence="no")], report(**{one.id: OPEN}), 2)
    assert settled.findings == (replace(one, note="because"),)
    assert settled.blocking == settled.findings


def test_a_dispute_that_is_accepted_is_not_to_be_fixed():
    one = finding()
    settled = settle([one], [Dispute(id=one.id, evidence="yes")], report(**{one.id: WONT_FIX}), 2)
    assert settled.findings == (replace(one, state=WONT_FIX, note="because"),)
    assert settled.blocking == ()
    assert settled.suggestions == ()


def test_a_dispute_of_something_that_is_no_open_finding_changes_nothing():
    one = finding(state=FIXED)
    disputes = [Dispute(id=one.id, evidence="x"), Dispute(id="nowhere", evidence="x")]
    assert with_disputes([one], disputes) == (one,)


def test_a_ruling_on_an_unknown_finding_is_left_out():
    assert settle((), (), report(deadbeef=OPEN), 1).findings == ()


def test_a_pass_with_a_finding_that_still_stands_does_not_pass():
    one = finding()
    said = ReviewReport(passed=True, rulings=(Ruling(id=one.id, state=OPEN),))
    assert [each.id for each in settle([one], (), said, 2).blocking] == [one.id]


kinds = st.sampled_from(IssueType)
issues_ = st.lists(st.builds(issue, st.sampled_from(["a b", "c d", "e f", "g h"]), kinds), max_size=5)
known_ = issues_.flatmap(
    lambda issues: st.tuples(
        *(
            st.builds(finding, st.just(one), state=st.sampled_from(FindingState), round=st.integers(1, 4))
            for one in issues
        )
    )
)


@st.composite
def reviews(draw):
    """Findings without doubles, disputes and a report about them, and a round."""
    known = {one.id: one for one in draw(known_)}
    some = st.lists(st.sampled_from(sorted(known)), max_size=4) if known else st.just([])
    disputes = [Dispute(id=id_, evidence="e") for id_ in draw(some)]
    rulings = tuple(Ruling(id=id_, state=draw(st.sampled_from(FindingState))) for id_ in draw(some))
    issues = tuple(draw(issues_))
    said = ReviewReport(passed=not issues, issues=issues, rulings=rulings)
    return list(known.values()), disputes, said, draw(st.integers(1, 6))


@given(reviews())
def test_what_is_open_blocks_nothing_else_does_and_no_finding_is_lost(review):
    known, _, said, _ = review
    settled = settle(*review)
    assert settled.blocking == tuple(one for one in settled.findings if one.state is OPEN)
    ids = [one.id for one in settled.findings]
    assert len(ids) == len(set(ids))
    assert set(ids) == {one.id for one in known} | {fingerprint(one) for one in said.issues}


@given(reviews())
def test_what_is_reported_and_reaches_the_highest_bar_always_blocks(review):
    settled = settle(*review)
    serious = {fingerprint(one) for one in review[2].issues if WEIGHTS[one.type] == 3}
    assert serious <= {one.id for one in settled.blocking}


@given(reviews())
def test_what_does_not_block_any_more_was_fixed_given_up_or_told_as_a_suggestion(review):
    known, disputes, said, _ = review
    settled = settle(*review)
    after = states(settled)
    spoken_of = {ruling.id for ruling in said.rulings} | {dispute.id for dispute in disputes}
    for one in known:
        if one.state is OPEN and one.id not in spoken_of and after[one.id] is WONT_FIX:
            assert any(one.issue.description in told for told in settled.suggestions)


@given(issues_, st.integers(3, 9))
def test_from_the_third_round_on_new_findings_of_less_weight_never_hold_a_task_up(issues, number):
    less = [one for one in issues if WEIGHTS[one.type] < 3]
    assert settle((), (), report(*less), number).blocking == ()


@given(st.lists(st.lists(kinds, min_size=1, max_size=3), min_size=6, max_size=6))
def test_a_reviewer_that_finds_something_new_but_nothing_wrong_each_round_comes_to_an_end(rounds):
    known = ()
    for number, found in enumerate(rounds, start=1):
        new = [
            issue(f"{'x' * number} {'y' * nth}", kind) for nth, kind in enumerate(found) if WEIGHTS[kind] < 3
        ]
        settled = settle(known, (), report(*new), number)
        known = settled.findings
        assert number < 4 or not settled.blocking  # found in round 2, left out in round 3, below the bar in 4


@given(reviews())
def test_the_same_report_does_not_block_less_in_an_earlier_round(review):
    known, disputes, said, number = review
    of_before = [replace(one, round=0) for one in known]
    now = settle(of_before, disputes, said, number).blocking
    later = settle(of_before, disputes, said, number + 1).blocking
    assert {one.id for one in later} <= {one.id for one in now}


# --- a review that passes --------------------------------------------------------------

subjects = st.sampled_from(["t1", "t2", ""])


def reviewed(view, subject, said, rulings):
    """Apply the events of a report on a task, or on the whole (""). Returns the blocking findings."""
    task = view.tasks.get(subject)
    known = known_of(task) if task else final_known(view)
    number = (task.review.rounds if task else len(view.whole.reviews)) + 1
    found = ReviewReport(passed=not said, issues=tuple(said), rulings=rulings(known))
    settled = settle(known, (), found, number)
    changed = dict.fromkeys([subject] if task else view.tasks, ())
    assigned = assign(settled.blocking, changed)
    events = [
        e.ReviewRecorded(
            task_id=subject,
            attempt=1,
            commit="c",
            passed=not assigned,
            issues=tuple(one.issue for one in assigned),
            findings=settled.findings,
        )
    ]
    for id_ in dict.fromkeys(one.issue.task_id for one in assigned):
        own = tuple(one for one in assigned if one.issue.task_id == id_)
        events.append(
            e.TaskReopened(task_id=id_, issues=tuple(one.issue for one in own), findings=own, by="a review")
        )
    for number, event in enumerate(events):
        apply(view, e.Stored(number, datetime.now(UTC), event))
    return settled.blocking


@st.composite
def rounds(draw):
    """Reviews of two tasks and the whole: the subject, the issues found, and a choice of earlier findings."""
    return draw(st.lists(st.tuples(subjects, issues_, st.sets(st.integers(0, 4))), max_size=8))


@given(rounds(), subjects)
def test_no_finding_is_open_after_a_pass_that_did_not_rule_it_open_whatever_came_before(before, passing):
    view = RunView()
    view.tasks = {id_: TaskView(Task(id=id_, title="", description="")) for id_ in ("t1", "t2")}
    for subject, found, chosen in before:
        ruled_open = []

        def rulings(known, chosen=chosen, ruled_open=ruled_open):
            ruled_open += [one.id for number, one in enumerate(known) if number in chosen]
            return tuple(Ruling(id=id_, state=OPEN) for id_ in ruled_open)

        blocking = reviewed(view, subject, found, rulings)
        assert found or {one.id for one in blocking} <= set(ruled_open)
    for subject in (passing, "t1", "t2", ""):  # and nobody is stuck on passes
        assert reviewed(view, subject, (), lambda _: ()) == ()
        if subject:
            assert view.tasks[subject].review.open == ()
    open_ = [one for task in view.tasks.values() for one in task.review.findings if one.state is OPEN]
    assert (
        open_ == [one for one in final_known(view) if one.state is OPEN] == view.context.review_issues == []
    )


# --- what a task's view tells ----------------------------------------------------------


def claimed(*claims, name="task_complete"):
    """A view whose Worker ended its turns with these reports, and its task."""
    view, task = RunView(), TaskView(Task(id="t1", title="", description=""))
    for number, claim in enumerate(claims):
        id_ = f"c{number}"
        report = e.SignalReceived(call_id=id_, name=name, payload=json.dumps(claim))
        view.calls[id_] = CallView(call_started(id_), at=None, session_id="s", report=report)
        task.open.calls.append(id_)
    return view, task


def test_what_any_claim_of_the_attempt_disputes_is_disputed():
    first = {"summary": "", "disputes": [{"id": "a", "evidence": "1"}]}
    second = {"summary": "", "disputes": [{"id": "b", "evidence": "2"}]}
    assert disputes_of(*claimed(first, {"summary": ""}, second)) == [
        Dispute(id="a", evidence="1"),
        Dispute(id="b", evidence="2"),
    ]
    assert disputes_of(*claimed(first, name="iteration_done")) == []


def test_issues_without_evidence_against_them_are_named_once():
    one, other = issue(), issue("other words")
    assert undisputed(as_findings(one, other, one), [Dispute(id=fingerprint(other), evidence="x")]) == [
        fingerprint(one)
    ]
    assert undisputed(as_findings(one), [Dispute(id=fingerprint(one), evidence="x")]) == []


def test_what_others_sent_a_task_back_for_is_among_its_findings_and_open():
    before = finding(issue("old"), state=FIXED, note="done")
    task = TaskView(
        Task(id="t1", title="", description=""),
        review=TaskReviewView(open=as_findings(issue("old"), issue("new"))),
    )
    task.review.findings = (before,)
    assert [(one.issue.description, one.state, one.note) for one in known_of(task)] == [
        ("old", OPEN, ""),
        ("new", OPEN, ""),
    ]


def test_a_finding_that_is_reported_again_while_it_is_open_keeps_what_it_was_insisted_with():
    one = finding(note="it has two callers")
    assert with_new([one], [one], 3) == (one,)
    assert with_new([replace(one, state=FIXED)], as_findings(one.issue), 3) == (replace(one, note=""),)
