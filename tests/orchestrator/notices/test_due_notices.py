"""Which notices a run owes, as a plain function of its events."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from language.event_strategies import legal_runs

from orchestrator.notices.due import due, name_of
from state.journal import events as e
from state.journal.events import Stored
from state.outcome import Outcome
from state.records.calls import CallEnd
from state.records.questions import Answer, Basis, Question
from state.settings.integrations import NoticeKind, NoticeTarget

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
ALL = NoticeTarget(on=tuple(NoticeKind), command="cat")
ENDED = e.RunEnded(outcome=Outcome.COMPLETE, cause="")
STUCK = e.TaskStuck(task_id="a", reason="words of an agent")
ASKED = e.QuestionsAsked(
    ask_id="q", call_id="c", task_id="a", questions=(Question(text="Which?", options=()),)
)
PARKED = e.QuestionsParked(ask_id="q", question="Which?", answers=())


def waits(seconds):
    return e.CallRetried(call_id="c", end=CallEnd.API_ERROR, detail="", wait_s=seconds)


def at(*events, minutes=()):
    """Events as stored, a minute after each other or at these minutes."""
    times = minutes or range(len(events))
    return [
        Stored(seq, NOON + timedelta(minutes=minute), event)
        for seq, (event, minute) in enumerate(zip(events, times, strict=True), start=1)
    ]


def kinds(stored, *targets):
    return [(str(one.notice.kind), one.notice.of_seq) for one in due(stored, targets or (ALL,))]


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ((ENDED,), [("ended", 1)]),
        ((STUCK, ENDED), [("stuck", 1), ("ended", 2)]),
        ((e.ApprovalAwaited(until=NOON + timedelta(hours=12)),), [("waiting", 1)]),
        ((ASKED, PARKED), [("parked", 2)]),
        ((e.RunInterrupted(by="SIGTERM"),), [("ended", 1)]),
        ((e.RunInterrupted(by="SIGINT"),), []),
        ((waits(901.0),), [("waiting", 1)]),
        ((waits(900.0),), []),
        ((e.TaskFailed(task_id="a", cause="x"),), []),
    ],
    ids=[
        "end",
        "stuck",
        "a plan waits for approval",
        "parked",
        "terminated",
        "Ctrl-C",
        "long wait",
        "a wait of 15 minutes",
        "failed",
    ],
)
def test_each_occasion_is_one_notice(events, expected):
    assert kinds(at(*events)) == expected


def test_a_target_gets_only_the_kinds_that_it_asks_for():
    only = NoticeTarget(on=(NoticeKind.ENDED,), command="cat")
    assert kinds(at(STUCK, ENDED), only) == [("ended", 2)]
    assert [one.to for one in due(at(STUCK, ENDED), (only, ALL))] == ["command 2", "command 1", "command 2"]


@pytest.mark.parametrize("ok", [True, False])
def test_what_was_sent_or_could_not_be_is_not_due_again(ok):
    sent = e.NoticeSent(kind=NoticeKind.STUCK, of_seq=1, to=name_of(1, ALL), ok=ok)
    assert kinds(at(STUCK, sent, ENDED)) == [("ended", 3)]


def test_calls_that_wait_for_the_same_reset_are_one_notice_and_a_later_wait_is_another():
    together = at(waits(7200.0), waits(7150.0), waits(7100.0))
    assert kinds(together) == [("waiting", 1)]
    longer = at(waits(7200.0), waits(14_400.0))
    assert kinds(longer) == [("waiting", 1), ("waiting", 2)]
    again = at(waits(1000.0), waits(1000.0), minutes=(0, 60))
    assert kinds(again) == [("waiting", 1), ("waiting", 2)]


def test_a_resumption_takes_back_the_end_and_the_wait_but_not_what_still_waits_for_a_person():
    assert kinds(at(waits(7200.0), ASKED, PARKED, STUCK, ENDED, e.RunResumed())) == [
        ("parked", 3),
        ("stuck", 4),
    ]
    assert kinds(at(STUCK, ENDED, e.RunResumed(retry=("a",)))) == []
    assert kinds(at(STUCK, ENDED, e.RunResumed(retry=("a",)), STUCK)) == [("stuck", 4)]


def test_the_same_question_of_a_task_is_told_once_and_again_when_the_task_is_tried_again():
    assert kinds(at(ASKED, PARKED, e.RunResumed(), ASKED, PARKED)) == [("parked", 2)]
    tried = at(ASKED, PARKED, STUCK, ENDED, e.RunResumed(retry=("a",)), ASKED, PARKED)
    assert kinds(tried) == [("parked", 2), ("parked", 7)]


RESUMED, CALLED = e.RunResumed(), e.CallResumed(call_id="c", session_id="s", prompt="")
WAITS = e.RunEnded(outcome=Outcome.STUCK, cause="task a waits", resumable=True)
AGAIN = e.RunEnded(outcome=Outcome.LIMIT, cause="the budget is used up", resumable=True)


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ((WAITS, RESUMED), []),
        ((WAITS, RESUMED, WAITS), [("ended", 1)]),
        ((WAITS, RESUMED, WAITS, RESUMED, WAITS), [("ended", 1)]),
        ((WAITS, RESUMED, AGAIN), [("ended", 3)]),
        ((WAITS, RESUMED, CALLED, WAITS), [("ended", 4)]),
        ((WAITS, RESUMED, e.RunInterrupted(by="SIGTERM"), RESUMED, WAITS), [("ended", 1)]),
    ],
    ids=["goes on", "nothing was done", "twice", "another cause", "after work", "a stop between"],
)
def test_a_resumed_run_that_ends_the_same_without_an_exchange_has_not_ended_again(events, expected):
    assert kinds(at(*events)) == expected


def test_a_parked_question_is_no_occasion_once_a_person_has_answered_all_of_it():
    both = tuple(Question(text=text, options=()) for text in ("Which?", "Where?"))
    asked = e.QuestionsAsked(ask_id="q", call_id="c", task_id="a", questions=both)

    def answered(text):
        given = Answer(question=text, free_text="Here.", basis=Basis.PERSON)
        return e.PersonAnswered(word_id=text, by="ann", ask_id="q", answer=given)

    assert kinds(at(asked, PARKED, answered("Which?"))) == [("parked", 2)]
    assert kinds(at(asked, PARKED, answered("Which?"), answered("Where?"))) == []
    open_ = e.QuestionsParked(
        ask_id="q", question="Where?", answers=(Answer(question="Which?", free_text="x"),)
    )
    assert kinds(at(asked, open_, answered("Where?"))) == []


def test_a_plan_that_waits_over_a_resumption_is_told_until_it_is_approved():
    wait = e.ApprovalAwaited(until=NOON + timedelta(hours=12))
    assert kinds(at(wait, RESUMED)) == [("waiting", 1)]
    assert kinds(at(wait, RESUMED, wait)) == [("waiting", 3)]
    assert kinds(at(wait, e.PlanApproved(by="ann"))) == []


@given(said=legal_runs(), cut=st.integers(0, 400))
def test_whatever_was_sent_after_any_event_the_rest_is_each_sent_once(said, cut):
    """A sender that is cut off at any event, and goes on later, sends each notice that stays due once."""
    events, sent = said, []
    begun = due(events[:cut], (ALL,))
    sent += begun
    noted = [
        Stored(10_000 + number, NOON, e.NoticeSent(kind=one.notice.kind, of_seq=one.notice.of_seq, to=one.to))
        for number, one in enumerate(begun)
    ]
    sent += due([*events[:cut], *noted, *events[cut:]], (ALL,))
    places = [(one.notice.of_seq, one.to) for one in sent]
    assert len(places) == len(set(places))
    assert {place for place, _ in places} >= {one.notice.of_seq for one in due(events, (ALL,))}
