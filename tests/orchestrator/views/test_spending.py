"""What each role has used up, from the events of a run."""

from datetime import UTC, datetime, timedelta

from language.beginnings import call_started

from orchestrator.views.models.spend import RoleSpending, cost_line, spending, spending_lines, spending_of
from orchestrator.views.models.summary import summary_of
from orchestrator.views.run.console import event_object
from orchestrator.views.run.details import detail_lines, details_of
from orchestrator.views.run.story import lines_of
from state.journal import events as e
from state.journal.events import Stored
from state.journal.fold.fold import apply
from state.journal.view import RunView
from state.outcome import Outcome
from state.records.calls import CallEnd, Usage
from state.records.plan import Task
from state.roles import Role

BEGIN = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)
ONE = Usage(input_tokens=1, output_tokens=10, cache_read_tokens=100, cache_write_tokens=1000, requests=3)
TWO = Usage(input_tokens=2, output_tokens=20, cache_read_tokens=200, cache_write_tokens=2000)
ENDED = {"call_id": "w", "end": CallEnd.COMPLETED, "usage": ONE, "cost_usd": 0.25}


def call(call_id, role):
    return call_started(call_id, role, "a", model="opus")


def seen(*timed):
    """The view of events, each with the second in which it was stored, and the last one as it is stored."""
    view = RunView()
    planned = e.PlanAccepted(tasks=(Task(id="a", title="A", description=""),), criteria=())
    for number, (second, event) in enumerate(((0, planned), *timed), start=1):
        stored = Stored(number, BEGIN + timedelta(seconds=second), event)
        apply(view, stored)
    return view, stored


def retried(wait_s):
    detail = {"end": CallEnd.API_ERROR, "detail": "overloaded"}
    return e.CallRetried(call_id="w", wait_s=wait_s, cost_usd=0.5, usage=TWO, **detail)


def test_all_tries_of_a_call_count_and_the_wait_between_them_takes_no_time():
    view, _ = seen((0, call("w", Role.WORKER)), (10, retried(30)), (45, e.CallEnded(**ENDED)))
    assert spending_of(view) == (
        RoleSpending(
            role=Role.WORKER,
            calls=1,
            requests=3,
            usage=ONE + TWO,
            cost_usd=0.75,
            seconds=15,
            cache_read_share=300 / 3303,
        ),
    )


def test_what_was_cut_off_counts_and_the_time_between_processes_does_not():
    cut = e.CallInterrupted(call_id="w", cost_usd=0.5, usage=TWO)
    again = e.CallResumed(call_id="w", session_id="s", prompt="")
    resumed = e.RunResumed()
    stopped = ((0, call("w", Role.WORKER)), (5, cut), (6, e.RunInterrupted(by="SIGINT")))
    view, _ = seen(*stopped, (1000, resumed), (1001, again), (1004, e.CallEnded(**ENDED)))
    [worker] = spending_of(view)
    assert (worker.usage, worker.cost_usd, worker.seconds) == (ONE + TWO, 0.75, 8)
    killed = ((0, call("w", Role.WORKER)), (7, e.ActionRefused(call_id="w", tool="Bash", reason="no")))
    view, _ = seen(*killed, (1000, resumed), (1001, again), (1004, e.CallEnded(**ENDED)))
    assert [one.seconds for one in spending_of(view)] == [10]


def test_the_end_of_a_run_has_a_table_of_roles_in_lines_status_and_json():
    events = (
        (0, call("w", Role.WORKER)),
        (60, e.CallEnded(**ENDED)),
        (60, call("d", Role.DEVELOPER)),
        (62, e.CallEnded(call_id="d", end=CallEnd.COMPLETED, usage=TWO, cost_usd=0.5)),
    )
    view, last = seen(*events, (63, e.RunEnded(outcome=Outcome.FAILED, cause="x")))
    table = [
        "  role       exchanges  requests  input  output  cache read  cache written  cached  cost     time",
        "  worker     1          3         1      10      100         1,000          9 %     $0.2500  1 min 0 s",
        "  developer             1         2      20      200         2,000          9 %     $0.5000  2 s",
        "  together   1          4         3      30      300         3,000          9 %     $0.7500  1 min 2 s",
    ]
    view.clock.started_at = BEGIN
    assert "cost: $0.7500 in 1 exchange and 4 requests" in lines_of(view, last)
    assert lines_of(view, last)[-5:] == [*table, "duration: 1 min 3 s from start to end"]
    summary = summary_of(view, "r", is_active=lambda: False, now=BEGIN)
    assert set(table) <= set(detail_lines(details_of(view, summary)))
    shown = event_object(view, last)
    assert shown["cost_usd"] == 0.75
    assert shown["roles"] == spending_of(view)
    assert [one.usage.requests for one in shown["roles"]] == [3, 1]
    assert [one.usage.requests for one in spending(view).rows] == [3, 1]  # as in `summary.json`


def test_without_input_no_share_of_it_came_from_the_cache():
    view, _ = seen((0, call("w", Role.WORKER)))
    assert [one.cache_read_share for one in spending_of(view)] == [None]
    assert "  —  " in spending_lines(spending_of(view))[1]


def test_a_run_that_asked_nobody_has_no_table():
    assert spending_lines(()) == []


def test_sessions_whose_figures_differ_are_said_once_and_added_up_at_the_end():
    differs = e.SpendDiffered(call_id="w", agent_usd=0.0364, gateway_usd=0.0415)
    first = seen((0, call("w", Role.WORKER)), (1, differs))
    assert ["differ" in line or "by the gateway" in line for line in lines_of(*first)] == [True]
    later = seen((0, call("w", Role.WORKER)), (1, differs), (2, differs))
    assert lines_of(*later) == []
    assert "in 2 sessions the gateway and the agent count $0.0102 apart" in cost_line(later[0])
