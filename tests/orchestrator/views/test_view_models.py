"""The models that all views show: the same facts, whatever the order of reading, and none without a source."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from language.beginnings import run_started
from language.event_strategies import legal_runs, stored, task
from language.large_runs import BEGAN, many_events, twelve_tasks, write

from orchestrator.views.models.spend import spending
from orchestrator.views.models.summary import Group, summary_of, why_not
from orchestrator.views.models.tasks import overview, task_rows
from orchestrator.views.models.timeline import end_of, timeline
from orchestrator.views.run.details import details_of
from orchestrator.views.run.story import RunStory
from state.journal import events as e
from state.journal.events import Stored
from state.journal.events.tasks import Stage
from state.journal.fold.fold import fold
from state.journal.store import JournalReader
from state.records.calls import CallEnd, Message, MessageKind
from state.roles import Role

slowly = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def told(events, *, without=()):
    story = RunStory()
    story.add_all(one for one in events if not isinstance(one.event, without))
    return story


@slowly
@given(run=legal_runs(), data=st.data())
def test_a_run_read_in_two_parts_shows_the_same(run, data):
    cut = data.draw(st.integers(0, len(run)))
    story = told(run[:cut])
    story.add_all(run[cut:])
    now = run[-1].at + timedelta(seconds=5)
    assert overview(story, "r", now, active=True) == overview(told(run), "r", now, active=True)
    assert timeline(story, now) == timeline(told(run), now)


@slowly
@given(run=legal_runs())
def test_every_task_has_one_row_and_one_that_is_not_working_says_why(run):
    story, now = told(run), run[-1].at
    rows = task_rows(story, now)
    assert sorted(row.id for row in rows) == sorted(story.view.tasks)
    assert [row.group for row in rows] == sorted((row.group for row in rows), key=list(Group).index)
    for row in rows:
        reasons = why_not(story, row.id, now)
        assert bool(row.now) == (row.group is not Group.MERGED)
        if row.group is Group.ENDED_BADLY:
            assert reasons[0].text.startswith(f"{row.id} is {row.stage}")
        for needed in row.needs:
            if row.group is Group.WAITING and story.view.tasks[needed].stage is not Stage.MERGED:
                assert needed in row.now


@slowly
@given(run=legal_runs())
def test_the_rows_of_spending_add_up_to_the_cost_of_the_run(run):
    view = told(run).view
    found = spending(view)
    assert abs(sum(row.cost_usd for row in found.rows) - view.cost_usd) < 1e-9
    assert sum(row.calls for row in found.rows) == len(view.calls)


@slowly
@given(run=legal_runs())
def test_bars_lie_within_the_line_and_name_events_that_exist(run):
    shown = timeline(told(run), run[-1].at)
    for lane in shown.lanes:
        for bar in lane.bars:
            assert -1e-9 <= bar.start <= bar.start + bar.width <= 1 + 1e-9
            assert 1 <= bar.seq <= len(run)


@slowly
@given(run=legal_runs())
def test_without_messages_only_present_actions_are_unknown(run):
    now = run[-1].at
    all_, some = told(run), told(run, without=(e.MessageReceived,))
    plain = [(row.id, row.group, row.stage, row.cost_usd, row.seq) for row in task_rows(all_, now)]
    assert plain == [(row.id, row.group, row.stage, row.cost_usd, row.seq) for row in task_rows(some, now)]
    assert timeline(all_, now).lanes == timeline(some, now).lanes


def built(*, minutes_idle=0):
    """A run with a call, an idle time, and another call; two tasks, of which the second needs the first."""
    one, two = task("one"), task("two", "one")
    events = stored(
        [
            run_started(),
            e.PlanAccepted(tasks=(one, two), criteria=()),
            call("c1", "one"),
            e.CallEnded(call_id="c1", end=CallEnd.COMPLETED, cost_usd=0.5),
            call("c2", "one"),
        ]
    )
    late = timedelta(minutes=minutes_idle)
    return [*events[:4], type(events[4])(events[4].seq, events[4].at + late, events[4].event)]


def call(call_id, task_id):
    return e.CallStarted(
        call_id=call_id, role=Role.WORKER, task_id=task_id, attempt=1, iteration=1,
        session_id="s", model="m", prompt="p",
    )  # fmt: skip


def message(call_id):
    return e.MessageReceived(call_id=call_id, message=Message(kind=MessageKind.TEXT, text="On it."))


def test_a_task_that_waits_names_the_one_it_needs():
    events = built()
    story = told(events)
    assert next(reason.text for reason in why_not(story, "two", events[-1].at)) == (
        "two needs one, which is waiting"
    )
    [row] = [row for row in task_rows(story, events[-1].at) if row.id == "two"]
    assert row.now == "for one"


def test_a_long_idle_time_is_folded_and_named():
    short_, long_ = built(), built(minutes_idle=30)
    assert not timeline(told(short_), short_[-1].at).folds
    [fold] = timeline(told(long_), long_[-1].at).folds
    assert fold.seconds > 1700
    assert fold.width < 1


def shown(view):
    """All that `sq status RUN` shows of a run on which no process works."""
    summary = summary_of(view, "r", is_active=lambda: False, now=view.clock.last_at)
    return details_of(view, summary)


def without_words(view):
    """A view without what agents said, and with a time that does not depend on the number of additions."""
    view.clock.worked_s = round(view.clock.worked_s, 6)
    for call in view.calls.values():
        call.last_text = ""
    for task_view in view.tasks.values():
        task_view.history.clear()
    return view


def read_both_ways(events, folder):
    write(folder, events)
    with JournalReader(folder) as reader:
        return fold(reader.read()), fold(reader.read_for_views())


@slowly
@given(run=legal_runs(), data=st.data())
def test_a_journal_read_for_views_has_the_status_of_the_whole_one(run, data):
    until = data.draw(st.integers(1, len(run)))
    with TemporaryDirectory() as folder:
        whole, some = read_both_ways(run[:until], Path(folder))
    assert shown(some) == shown(whole)
    assert without_words(some) == without_words(whole)


@pytest.mark.parametrize("run", [twelve_tasks(), twelve_tasks(ended=True), many_events(3_000)])
def test_so_has_one_of_a_run_with_many_tasks_and_messages(run, tmp_path):
    whole, some = read_both_ways(run, tmp_path)
    assert shown(some) == shown(whole)
    assert without_words(some) == without_words(whole)


def test_a_killed_run_that_went_on_lasted_until_its_last_messages(tmp_path):
    events = stored(
        [
            run_started(),
            e.PlanAccepted(tasks=(task("one"),), criteria=()),
            call("c1", "one"),
            message("c1"),
            e.RunResumed(),
            message("c1"),
        ]
    )
    whole, some = read_both_ways(events, tmp_path)
    assert some.calls["c1"].spent_s == (events[3].at - events[2].at).total_seconds()
    assert shown(some) == shown(whole)
    assert some.clock.last_seq == len(events)


@slowly
@given(run=legal_runs())
def test_the_uses_of_time_add_up_to_the_time_of_the_run(run):
    story = told(run)
    parts = timeline(story, run[-1].at).parts
    if parts:
        began, end = story.view.clock.started_at, end_of(story) if story.view.ended else run[-1].at
        assert sum(part.seconds for part in parts) == pytest.approx((end - began).total_seconds())
        assert all(part.added_up_s >= part.seconds - 1e-6 for part in parts)


def uses_of(*timed):
    """What the time of a run went to, in seconds: its part of the run's time, and all places added up."""
    events = [Stored(n, BEGAN + timedelta(seconds=s), event) for n, (s, event) in enumerate(timed, start=1)]
    return {
        str(part.use): (round(part.seconds, 3), round(part.added_up_s, 3))
        for part in timeline(told(events), events[-1].at).parts
        if part.seconds
    }


PLANNED = e.PlanAccepted(tasks=(task("one"), task("two")), criteria=())


def test_sessions_side_by_side_share_the_time_of_the_run_and_count_in_full_beside_it():
    assert uses_of(
        (0, run_started()),
        (1, PLANNED),
        (2, call("c1", "one")),
        (4, call("c2", "two")),
        (8, e.CallEnded(call_id="c1", end=CallEnd.COMPLETED)),
        (10, e.CallEnded(call_id="c2", end=CallEnd.COMPLETED)),
        (11, e.RunEnded(outcome="failed", cause="x")),
        (99, e.NoticeSent(kind="ended", of_seq=7, to="x")),
    ) == {"model": (8, 12), "sq itself": (3, 3)}


def command(number, task_id="one", purpose="verification"):
    return e.CommandStarted(number=number, command="true", purpose=purpose, task_id=task_id)


def done(number, task_id="one", **more):
    return e.CommandEnded(number=number, task_id=task_id, seconds=1, **more)


def test_a_command_beside_a_session_shares_its_time_and_what_sq_does_between_commands_has_names():
    verifying = e.VerificationStarted(task_id="one", tree="t", commands=("true",))
    assert uses_of(
        (0, run_started()),
        (0, PLANNED),
        (0, e.SetUpStarted(task_id="one", folder="f", steps=("make",))),
        (1, command(1, purpose="set-up")),
        (3, done(1)),
        (3, e.WorkspaceSetUp(task_id="one", folder="f", copied=(), runs=())),
        (3, e.TaskStarted(task_id="one", branch="b", worktree="/one", base_commit="c")),
        (3, call("c1", "one")),
        (4, e.CallEnded(call_id="c1", end=CallEnd.COMPLETED)),
        (5, verifying),  # its command waits for its turn, and begins a second later
        (6, call("c2", "two")),
        (6, command(2)),
        (8, done(2)),
        (8, e.CallEnded(call_id="c2", end=CallEnd.INTERRUPTED)),
        (8, e.VerificationFinished(task_id="one", tree="t", runs=())),
        (9, command(3, purpose="proofs")),
        (11, done(3, cut_off=True)),
        (12, e.CompletionAccepted(task_id="one", attempt=1, tree="t")),
        (12, e.ReviewRecorded(task_id="one", attempt=1, commit="c", passed=True, issues=(), findings=())),
        (12, e.MergeStarted(task_id="one", commit="c", onto="o")),
        (14, e.TaskMerged(task_id="one", commit="c", tree="t")),
        (15, e.RunEnded(outcome="failed", cause="x")),
    ) == {
        "set-up": (2, 2),
        "model": (2, 3),
        "commands": (3, 4),
        "making places": (1, 1),
        "checking work": (5, 6),  # from 4 to 6, from 8 to 9, from 11 to 12, and the whole from 14 on
        "merging": (2, 2),
    }


def test_waits_for_the_api_for_another_set_up_and_for_a_resumption_are_waiting():
    retried = e.CallRetried(call_id="c1", end="api error", detail="overloaded", wait_s=5)
    waits = e.SetUpStarted(task_id="two", folder="g", steps=("make",), waits=True)
    assert uses_of(
        (0, run_started()),
        (0, PLANNED),
        (0, call("c1", "one")),
        (2, retried),
        (10, e.CallEnded(call_id="c1", end=CallEnd.COMPLETED)),
        (10, waits),
        (14, replace(waits, waits=False)),
        (14, command(1, "two", "set-up")),
        (15, done(1, "two")),
        (15, e.WorkspaceSetUp(task_id="two", folder="g", copied=(), runs=())),
        (15, call("c2", "two")),
        (16, e.ActionRefused(call_id="c2", tool="Bash", reason="no")),
        (100, e.RunResumed()),
        (100, e.CallResumed(call_id="c2", session_id="s", prompt="")),
        (101, e.CallEnded(call_id="c2", end=CallEnd.COMPLETED)),
    ) == {"model": (7, 7), "waiting": (93, 93), "set-up": (1, 1)}
