"""What the views make of a run's events."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from language.beginnings import call_started, run_started

from orchestrator.views.models.summary import RunState, activity, summary_of
from orchestrator.views.run.details import detail_lines, details_of, overview_lines
from orchestrator.views.run.ending import where_lines
from orchestrator.views.run.story import lines_of, log_lines, told_in, told_lines
from orchestrator.views.words import columns, duration, short
from state.journal import events as e
from state.journal.events import Stored
from state.journal.events.tasks import Stage
from state.journal.fold.fold import apply
from state.journal.view import RunView
from state.outcome import Outcome
from state.records.calls import CallEnd, Message, MessageKind
from state.records.plan import Analysis, Forecast, Task
from state.records.questions import Question
from state.roles import Role
from state.settings.presets import efforts
from state.settings.records import Confinement, Limits, Settings

BEGIN = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)
STARTED = run_started(
    "r1",
    spec_name="/somewhere/spec.md",
    spec_text="Build it.",
    repository="/some where/project",
    base_commit="a" * 40,
    credentials="api key",
    confined=Confinement(containment="namespaces"),
)
BASELINE = e.BaselineTaken(tree="t", environment="", checks=())
PLANNED = (
    STARTED,
    BASELINE,
    e.RepositoryAnalyzed(analysis=Analysis()),
    e.PlanAccepted(
        tasks=(
            Task(id="a", title="First", description=""),
            Task(id="b", title="Second", description="", dependencies=("a",)),
        ),
        criteria=(),
    ),
)


def stored(*events):
    return [
        Stored(number, BEGIN + timedelta(seconds=number), event)
        for number, event in enumerate(events, start=1)
    ]


def seen(*events):
    view = RunView()
    for one in stored(*events):
        apply(view, one)
    return view


def summary(view, *, active=False):
    return summary_of(view, "r1", is_active=lambda: active, now=BEGIN + timedelta(hours=2))


def call(call_id="c1", *, role=Role.WORKER, task_id="a", prompt="Build a."):
    return call_started(
        call_id, role, task_id, session_id="s1", model="opus", prompt=prompt, system="You build."
    )


def test_columns_are_as_wide_as_their_widest_cell():
    assert columns(("a", "b"), [("long", "x"), ("y", "")], indent=" ") == [" a     b", " long  x", " y"]


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.4, "0 s"), (59.7, "1 min 0 s"), (200, "3 min 20 s"), (7500, "2 h 5 min")]
)
def test_a_duration_is_told_as_people_say_it(seconds, said):
    assert duration(seconds) == said


@pytest.mark.parametrize(
    ("events", "active", "state"),
    [
        ((), False, RunState.NEVER_BEGAN),
        ((STARTED,), True, RunState.ACTIVE),
        ((STARTED,), False, RunState.KILLED),
        ((STARTED, e.RunInterrupted(by="SIGINT")), False, RunState.INTERRUPTED),
        ((STARTED, e.RunInterrupted(by="SIGINT"), e.RunResumed()), False, RunState.KILLED),
        ((STARTED, e.RunEnded(outcome=Outcome.STUCK, cause="")), False, RunState.ENDED),
    ],
)
def test_where_a_run_stands_follows_from_its_events_and_whether_somebody_writes_it(events, active, state):
    assert summary(seen(*events), active=active).state is state


def test_nobody_is_asked_whether_a_run_is_active_that_has_ended():
    view = seen(STARTED, e.RunEnded(outcome=Outcome.COMPLETE, cause=""))

    def ask():
        raise AssertionError("it has ended")

    assert summary_of(view, "r1", is_active=ask, now=BEGIN).outcome is Outcome.COMPLETE


def test_a_run_that_is_worked_on_lasts_until_now_and_any_other_until_its_last_event():
    assert summary(seen(STARTED), active=True).seconds == 7199
    assert summary(seen(STARTED, e.RunInterrupted(by="SIGINT"))).seconds == 1


@pytest.mark.parametrize(
    ("events", "doing"),
    [
        (PLANNED[:1], "running the tests before any change"),
        (PLANNED[:2], "analyzing"),
        (PLANNED[:3], "planning"),
        (PLANNED, "between tasks"),
        ((*PLANNED, e.TaskStarted(task_id="a", branch="", worktree="", base_commit="")), "a building"),
        (
            (*PLANNED, e.TaskMerged(task_id="a", commit="c", tree="t"), e.TaskStuck(task_id="b", reason="")),
            "finishing",
        ),
    ],
)
def test_what_a_run_is_doing_follows_from_its_tasks(events, doing):
    assert activity(seen(*events)) == doing


def test_a_stuck_task_shows_its_reason_and_what_waits_for_it():
    view = seen(*PLANNED, e.TaskStuck(task_id="a", reason="nothing has changed"))
    lines = detail_lines(details_of(view, summary(view)))
    assert "  a: stuck: nothing has changed" in lines
    assert any(line.split()[:3] == ["b", "Second", Stage.WAITING] for line in lines)


def test_unfinished_work_is_named_only_where_there_is_some(repository, shell):
    base = shell(repository, "git", "rev-parse", "HEAD")
    place = {"branch": "", "worktree": str(repository), "base_commit": base}
    view = seen(*PLANNED, e.TaskStarted(task_id="a", **place), e.TaskStuck(task_id="a", reason="no start"))
    assert where_lines(view) == []
    (repository / "a.txt").write_text("half\n")
    assert where_lines(view) == [f"unfinished work of a is in {repository}"]
    again = seen(*PLANNED, e.TaskStarted(task_id="a", **place), e.TaskStarted(task_id="b", **place))
    assert where_lines(again) == [f"unfinished work of b is in {repository}"]
    kept = e.WorkRescued(task_id="a", ref="sq-tasks/r/a", commit="c", claimed=True)
    both = seen(*PLANNED, e.TaskStarted(task_id="a", **place), kept)
    assert where_lines(both) == [
        f"unfinished work of a is in {repository}, and the same on branch sq-tasks/r/a"
    ]


def test_kept_work_of_a_complete_run_comes_with_the_command_that_takes_it():
    view = seen(
        *PLANNED,
        e.TaskMerged(task_id="a", commit="c" * 40, tree="t"),
        e.WorkKept(branch="sq/r1", commit="c" * 40, reason="main has moved on"),
        e.RunEnded(outcome=Outcome.COMPLETE, cause=""),
    )
    assert (
        detail_lines(details_of(view, summary(view)))[-1] == "next: git -C '/some where/project' merge sq/r1"
    )


@pytest.mark.parametrize(
    ("reason", "merges"),
    [
        ("main has moved on", "git merge sq/r1"),
        (
            "untracked files would be overwritten by merge:\n\tnotes.md",
            "git merge --no-overwrite-ignore sq/r1",
        ),
    ],
)
def test_no_advice_overwrites_a_file_of_the_users_that_git_ignores(reason, merges):
    view = RunView()
    for one in stored(STARTED, e.WorkKept(branch="sq/r1", commit="c" * 40, reason=reason)):
        apply(view, one)
        said = "\n".join(log_lines(view, one))
    assert said.endswith(merges)


def test_a_question_that_nobody_answered_says_why():
    asked = e.QuestionsAsked(ask_id="q", call_id="c1", task_id="a", questions=(Question(text="Which?"),))
    waiting = seen(*PLANNED, call(), asked)
    assert "    not answered: the answer has not come yet" in detail_lines(
        details_of(waiting, summary(waiting))
    )
    failed = seen(*PLANNED, call(), asked, e.QuestionsFailed(ask_id="q", cause="60 s are over"))
    assert "    not answered: 60 s are over" in detail_lines(details_of(failed, summary(failed)))


def test_the_overview_has_a_row_for_a_run_of_which_nothing_is_known():
    assert overview_lines([summary(seen())])[1].split(maxsplit=1) == ["r1", "killed before it began"]


def test_the_log_has_a_line_for_each_event_whatever_it_is():
    view = RunView()
    for one in stored(*PLANNED, call(), e.IterationMeasured(task_id="a", attempt=1, iteration=1, tree="t")):
        apply(view, one)
        assert log_lines(view, one)


def test_what_an_agent_was_told_includes_how_it_was_taken_up_again_and_what_it_reported():
    events = stored(
        call(prompt="Build a.\nAll of it."),
        e.CallResumed(call_id="c1", session_id="s1", prompt="Go on."),
        e.SignalReceived(call_id="c1", name="task_complete", payload='{"summary": "done"}'),
        e.MessageReceived(call_id="c1", message=Message(kind=MessageKind.TEXT, text="Done.")),
        e.CallEnded(call_id="c1", end=CallEnd.COMPLETED, turns=2, seconds=1.5, cost_usd=0.25),
    )
    [told] = told_in(events)
    lines = told_lines(told)
    for line in ("    You build.", "    All of it.", "    Go on.", '      "summary": "done"', "    Done."):
        assert line in lines
    assert "--- ended: completed, 2 turn(s), 1.5 s, $0.2500" in lines


def test_a_call_that_is_open_is_shown_as_not_ended():
    [told] = told_in(stored(call()))
    assert told_lines(told)[-2] == "--- not ended: under way, or its process died"


def test_a_refused_call_is_said_once_and_a_long_text_is_cut_behind_a_word():
    started = call_started("w", task_id="a")
    reason = "writing outside the workspace is refused"
    result = Message(kind=MessageKind.TOOL_RESULT, text=f"Error: {reason}", is_error=True)
    events = (started, e.ActionRefused(call_id="w", tool="Write", reason=reason))
    view, told = RunView(), []
    for one in stored(*PLANNED, *events, e.MessageReceived(call_id="w", message=result)):
        apply(view, one)
        told += [line for line in lines_of(view, one) if reason in line]
    assert told == [f"    a: worker: refused: Write: {reason}"]
    assert short("Which of the two colours is meant?", 20) == "Which of the two…"
    assert short("x" * 30, 20) == "x" * 19 + "…"


def test_a_deadline_that_half_of_such_runs_miss_is_told_with_the_forecast():
    until = (BEGIN + timedelta(minutes=10)).isoformat()
    limited = Settings(effort=efforts()["medium"], models={}, limits=Limits(deadline=until))
    forecast = Forecast(usd_p50=1, usd_p90=2, seconds_p50=3000, seconds_p90=9000, basis="of ten runs")
    begun, made = stored(replace(STARTED, settings=limited), e.ForecastMade(forecast=forecast))
    _, line = lines_of(seen(begun.event), made)
    assert line == "the deadline leaves 9 min 59 s, half of such runs take longer: what is done then is kept"
