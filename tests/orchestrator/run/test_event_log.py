"""`sq.log` has a line for each event with its task, attempt and role, and never a prompt."""

from dataclasses import fields
from datetime import UTC, datetime

from hypothesis import given, settings
from language.event_strategies import legal_runs, of_type, task
from structlog.testing import capture_logs

from orchestrator.run.event_log import log_event
from state.journal import events as e
from state.journal.events.tasks import TaskView
from state.journal.fold.fold import apply
from state.journal.view import RunView
from state.records.commands import CommandRun

CHATTER = {"MessageReceived", "SignalReceived", "IterationMeasured", "WorkMeasured"}
TEXTS = {"prompt", "system", "answer", "payload", "spec_text", "notes", "feedback"}


@given(event=of_type(e.Event))
@settings(max_examples=200)
def test_every_event_but_the_chatter_of_sessions_is_one_short_line(event):
    with capture_logs() as lines:
        log_event(e.Stored(1, datetime.now(UTC), event), RunView())
    assert len(lines) == (type(event).__name__ not in CHATTER)
    for line in lines:
        assert line["event"].replace(".", "") == type(event).__name__.lower()
        assert all(len(value) <= 501 for value in line.values() if isinstance(value, str))
        assert not TEXTS & {field.name for field in fields(event)} & set(line)


def test_a_command_at_its_time_out_is_a_warning_with_its_seconds_and_the_attempt_that_claimed():
    ran = CommandRun(
        command="make test",
        exit_code=None,
        seconds=600.2,
        output_tail="",
        problem="did not end",
        timed_out=True,
    )
    event = e.VerificationFinished(task_id="notes", tree="1", runs=(ran,))
    view = RunView(tasks={"notes": TaskView(task=task("notes"), attempt=2)})
    with capture_logs() as lines:
        log_event(e.Stored(1, datetime.now(UTC), event), view)
    (line,) = lines
    assert (line["task_id"], line["attempt"], line["log_level"]) == ("notes", 2, "warning")
    assert line["runs"] == [
        {
            "command": "make test",
            "exit_code": None,
            "seconds": 600.2,
            "timed_out": True,
            "problem": "did not end",
        }
    ]


@given(run=legal_runs())
@settings(max_examples=30)
def test_what_belongs_to_a_task_or_a_call_says_whose_it_is(run):
    view = RunView()
    for stored in run:
        apply(view, stored)
        with capture_logs() as lines:
            log_event(stored, view)
        for line in lines:
            if about := getattr(stored.event, "task_id", ""):
                assert line["task_id"] == about
            if call := view.calls.get(getattr(stored.event, "call_id", "")):
                assert (line["role"], line["call_id"]) == (call.started.role, stored.event.call_id)
                assert line.get("attempt", 0) == call.started.attempt
            if ask := view.asks.get(getattr(stored.event, "ask_id", "")):
                assert line["role"] == view.calls[ask.asked.call_id].started.role
