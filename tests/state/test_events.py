"""Events survive being stored: what is decoded is what was encoded, or the error says what to do."""

import json
from dataclasses import is_dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from language.event_strategies import of_type

from state.errors import JournalError
from state.journal import events
from state.journal.codec import decode, encode
from state.journal.events import (
    EVENTS,
    CallEnded,
    MessageReceived,
    RunInterrupted,
    RunStarted,
    VerificationFinished,
)
from state.records.calls import CallEnd, Message, MessageKind
from state.records.commands import CommandRun, TestCount, TestState


@pytest.mark.parametrize("kind", EVENTS, ids=lambda kind: kind.__name__)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_decoded_event_is_the_one_that_was_encoded(kind, data):
    event = data.draw(of_type(kind))
    assert decode(*encode(event)) == event


def test_every_event_is_listed_once_under_its_own_name():
    defined = {
        value.__name__
        for value in vars(events).values()
        if is_dataclass(value) and value.__module__.startswith(f"{events.__name__}.")
        if not value.__name__.endswith("View")  # the records of a run's view stand beside their events
    }
    assert {event.__name__ for event in EVENTS} == defined
    assert len(EVENTS) == len(defined)


def test_a_stored_body_is_the_json_of_the_fields():
    name, version, body = encode(RunInterrupted(by="SIGTERM"))
    assert (name, version, json.loads(body)) == ("RunInterrupted", 1, {"by": "SIGTERM"})


def test_half_a_character_in_a_tools_output_can_be_stored():
    cut = Message(kind=MessageKind.TOOL_RESULT, text="cut in an emoji: \ud83d")
    event = decode(*encode(MessageReceived(call_id="c-1", message=cut)))
    assert event.message.text == "cut in an emoji: \ufffd"


def test_half_a_character_in_the_name_of_a_test_can_be_stored():
    count = TestCount(tests={"test_\ud83d": TestState.PASSED})
    run = CommandRun(command="make", exit_code=0, seconds=1.0, output_tail="", count=count)
    event = decode(*encode(VerificationFinished(task_id="t1", tree="t", runs=(run,))))
    assert list(event.runs[0].count.tests) == ["test_\ufffd"]


@pytest.mark.parametrize(("name", "version"), [("TaskTeleported", 1), ("RunStarted", 1), ("RunStarted", 99)])
def test_an_event_of_another_sq_is_refused_with_the_advice_to_use_that_one(name, version):
    with pytest.raises(JournalError, match=rf"{name} version {version}.*another sq"):
        decode(name, version, "{}")


@pytest.mark.parametrize("body", ["", "not json", "[]", "{}", '{"by": 5}', '{"by": "a"', b"\xff\xfe"])
def test_a_damaged_body_is_a_journal_error_that_names_the_event(body):
    with pytest.raises(JournalError, match="RunInterrupted"):
        decode("RunInterrupted", 1, body)


def test_a_body_without_the_fields_that_have_defaults_is_read():
    event = decode("CallEnded", 1, '{"call_id": "c-1", "end": "completed"}')
    assert event == CallEnded(call_id="c-1", end=CallEnd.COMPLETED)


def test_a_field_that_this_sq_does_not_know_is_passed_over():
    assert decode("RunInterrupted", 1, '{"by": "SIGINT", "mood": "calm"}') == RunInterrupted(by="SIGINT")


def test_events_cannot_be_changed():
    event = RunInterrupted(by="SIGTERM")
    with pytest.raises(AttributeError):
        event.by = "nobody"
    assert not hasattr(event, "__dict__")


def test_a_run_is_started_with_everything_that_a_resumption_needs():
    hints = set(RunStarted.__dataclass_fields__)
    assert {"spec_text", "repository", "worktrees", "base_commit", "settings", "rehearsal"} <= hints
