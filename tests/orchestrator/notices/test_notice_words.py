"""The words of notices: facts of sq, one title of a task, and nothing in it that acts."""

import dataclasses
import json
import re
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from language.beginnings import run_started
from language.sampled import examples

from orchestrator.notices.due import TITLE_KEPT, Notice, message_of
from state.hidden import HIDDEN
from state.journal import events as e
from state.journal.events import Stored
from state.journal.fold.fold import fold
from state.outcome import Outcome
from state.records.plan import Task
from state.records.questions import Question
from state.settings.integrations import NoticeKind

NOW = datetime(2026, 1, 31, tzinfo=UTC)
SECRETLY = "words of an agent"
HOSTILE = [
    "\x1b]0;owned\x07\x1b[2J",
    "a\u202etxt.exe\u2066\u200b",
    "$(touch /tmp/x) `id` ; rm -rf ~",
    '" & (do shell script "id") & "',
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "[click](javascript:alert(1)) https://evil.example/?x",
    "@everyone <!channel> @user #1",
    "*bold* |spoiler| \\u0041 \r\nX-Header: 1",
    "\ud800 half a pair",
    "x" * 5_000,
    "\u202e" * 500,
]


def view_of(title, *events, spec="spec.md", rehearsal=None):
    started = run_started(
        "20260131-120000-abcd", spec_name=spec, repository="/home/me/shop", worktrees="", rehearsal=rehearsal
    )
    plan = e.PlanAccepted(tasks=(Task(id="a", title=title, description=SECRETLY),), criteria=())
    asked = e.QuestionsAsked(
        ask_id="q", call_id="c", task_id="a", questions=(Question(text=SECRETLY, options=()),)
    )
    return fold(Stored(seq, NOW, event) for seq, event in enumerate((started, plan, asked, *events), start=1))


STUCK = e.TaskStuck(task_id="a", reason=SECRETLY)
PARKED = e.QuestionsParked(ask_id="q", question=SECRETLY, answers=())
ENDED = e.RunEnded(outcome=Outcome.STUCK, cause=f"task a is stuck: {SECRETLY}")
NOTICES = [
    (NoticeKind.STUCK, (STUCK,)),
    (NoticeKind.PARKED, (PARKED,)),
    (NoticeKind.ENDED, (STUCK, ENDED)),
    (NoticeKind.ENDED, (PARKED, STUCK, ENDED)),
    (NoticeKind.WAITING, ()),
]


def messages(title, **more):
    for kind, events in NOTICES:
        notice = Notice(kind=kind, of_seq=9, task_id="" if kind is NoticeKind.ENDED else "a")
        yield message_of(view_of(title, *events, **more), notice)


def acting(title, message):
    """What of the title could act in a shell, markup, a chat or a terminal."""
    shown = f"{message.title}\n{message.text}"
    if HIDDEN.search(shown.replace("\n", "")) or HIDDEN.search(
        json.dumps(dataclasses.asdict(message), ensure_ascii=False)
    ):
        return "hidden characters"
    own = shown.replace(title, "") if title.isalnum() else shown
    return re.findall(r"[<>@#`\"\[\]*|&]|\$\(|javascript:|://", re.sub(r"\$\d", "", own))


@pytest.mark.parametrize("title", HOSTILE, ids=range(len(HOSTILE)))
def test_nothing_of_a_hostile_title_acts_in_the_text_or_the_title(title):
    for message in messages(title):
        assert not acting(title, message), message
        assert len(message.task_title) <= TITLE_KEPT
        assert SECRETLY not in json.dumps(dataclasses.asdict(message))


def test_no_hostile_title_acts(hostile):
    for title in hostile:
        for message in messages(title):
            assert not acting(title, message), message
            assert len(message.task_title) <= TITLE_KEPT


@pytest.mark.night
@settings(max_examples=examples(100, at_night=500))
@given(title=st.text(max_size=300))
def test_no_title_at_all_acts(title):
    for message in messages(title):
        assert not acting(title, message), message
        assert len(message.task_title) <= TITLE_KEPT


def test_a_hostile_name_of_the_spec_is_shown():
    for message in messages("A title", spec="/tmp/\x1b[2Jspec.md"):
        assert "\x1b" not in json.dumps(dataclasses.asdict(message), ensure_ascii=False)
        assert r"\x1b[2Jspec.md" in message.title


def test_the_end_says_the_outcome_the_first_thing_for_a_person_and_what_to_type():
    message = message_of(view_of("Add a discount", STUCK, ENDED), Notice(kind=NoticeKind.ENDED, of_seq=5))
    assert dataclasses.asdict(message) == {
        "id": "20260131-120000-abcd/5",
        "kind": "ended",
        "run_id": "20260131-120000-abcd",
        "repository": "/home/me/shop",
        "spec": "spec.md",
        "outcome": "stuck",
        "exit_code": 3,
        "tasks_merged": 0,
        "tasks_total": 1,
        "cost_usd": 0.0,
        "task_id": "",
        "task_title": "",
        "needs": "task a (Add a discount) is stuck",
        "command": "sq resume 20260131-120000-abcd --retry a",
        "title": "sq: stuck (spec.md)",
        "text": "spec.md in shop\n0 of 1 tasks merged, $0.00 so far\ntask a (Add a discount) is stuck\n"
        "sq resume 20260131-120000-abcd --retry a",
    }


def test_a_parked_question_is_the_first_thing_at_the_end_and_a_rehearsal_is_called_one():
    view = view_of("Add a discount", PARKED, STUCK, ENDED, rehearsal="x.yaml")
    message = message_of(view, Notice(kind=NoticeKind.ENDED, of_seq=6))
    assert message.command == "sq decisions 20260131-120000-abcd"
    assert "waits for a person" in message.needs
    assert "this is a rehearsal" in message.text


def test_while_the_run_goes_on_there_is_no_outcome():
    message = message_of(view_of("A", STUCK), Notice(kind=NoticeKind.STUCK, of_seq=4, task_id="a"))
    assert (message.outcome, message.exit_code, message.task_id, message.task_title) == ("", None, "a", "A")
    waiting = Notice(kind=NoticeKind.WAITING, of_seq=4, until=datetime(2026, 1, 31, 15, 0, tzinfo=UTC))
    assert "nothing goes on until 2026-01-31" in message_of(view_of("A"), waiting).text


def test_a_plan_that_waits_says_how_to_approve_it_until_that_is_done() -> None:
    waits, wait = e.ApprovalAwaited(until=NOW), Notice(kind=NoticeKind.WAITING, of_seq=4, until=NOW)
    message = message_of(view_of("A task", waits), wait)
    assert "the plan waits for your approval until" in message.needs
    assert message.command == "sq approve 20260131-120000-abcd"
    later = message_of(view_of("A task", waits, e.PlanApproved(by="me")), wait)
    assert later.command == "sq status 20260131-120000-abcd"
