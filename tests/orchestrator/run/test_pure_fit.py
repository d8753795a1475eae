"""What fits before a deadline follows from the run's own times, and no forecast of other runs goes against it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from orchestrator.run.plan.fit import fit_of, not_below
from orchestrator.views.descriptions.before import before_words
from orchestrator.views.words import outlook_lines
from state.journal import events as e
from state.journal.events import Stored
from state.journal.events.tasks import Stage, TaskView
from state.journal.fold.fold import apply
from state.journal.view import RunView
from state.records.commands import BaselineCheck, BaselineOutcome, CommandRun
from state.records.plan import Forecast, Task
from state.settings.presets import usual_settings
from state.words import fit_words

NOW = datetime(2026, 1, 31, 20, 0, tzinfo=UTC)
THREE = tuple(Task(id=name, title=name, description="") for name in "abc")
CHAIN = (THREE[0], replace(THREE[1], dependencies=("a",)), replace(THREE[2], dependencies=("b",)))
SHORT = Forecast(usd_p50=0.1, usd_p90=0.3, seconds_p50=760, seconds_p90=2208, basis="from 1 earlier run(s)")


def view_at(minutes: float, *, suite_s: float = 494.0) -> RunView:
    """A run whose suite took so long at the base, with a deadline in so many minutes."""
    view = RunView(settings=usual_settings("medium"))
    run = CommandRun(command="pytest", exit_code=0, seconds=suite_s, output_tail="")
    check = BaselineCheck(run=run, source="--verify", outcome=BaselineOutcome.PASSES)
    apply(view, Stored(1, NOW, e.BaselineTaken(tree="t", environment="", checks=(check,))))
    view.process.deadline = NOW + timedelta(minutes=minutes)
    view.clock.started_at = NOW - timedelta(minutes=15)
    return view


@pytest.mark.parametrize(
    ("minutes", "landing"),
    [(5, 0), (10, 0), (14, 1), (35, 1), (40, 2), (60, 2), (63, 3), (600, 3)],
)
def test_as_many_tasks_fit_as_their_checks_and_merges_one_after_the_other(minutes: int, landing: int) -> None:
    # a check may take half as much again as the suite at the base, and so may each further merge: 12.4 min each
    fit = fit_of(view_at(minutes), NOW, THREE)
    assert fit
    assert (fit.landing, fit.tasks) == (landing, 3)
    assert fit.claim_s == pytest.approx(494, abs=2)
    assert fit.all_until == pytest.approx(NOW + timedelta(minutes=62), abs=timedelta(minutes=1))


def test_tasks_that_are_merged_or_have_ended_are_not_counted_again() -> None:
    view = view_at(20)
    for task, stage in zip(THREE, (Stage.MERGED, Stage.STUCK, Stage.WAITING), strict=True):
        view.tasks[task.id] = TaskView(task=task, stage=stage)
    fit = fit_of(view, NOW, THREE)
    assert fit
    assert (fit.landing, fit.tasks) == (1, 1)


def test_tasks_that_need_each_other_and_few_places_take_their_work_one_after_the_other() -> None:
    view = view_at(600)
    view.clock.pace.exchange_s = 600.0
    beside, chain = fit_of(view, NOW, THREE), fit_of(view, NOW, CHAIN)
    assert view.settings
    view.settings = replace(view.settings, max_parallel=1)
    alone = fit_of(view, NOW, THREE)
    assert beside
    assert chain
    assert alone
    assert beside.all_until < chain.all_until == alone.all_until


def test_before_the_plan_it_is_said_how_many_tasks_fit_however_they_are_planned() -> None:
    view = view_at(35)
    fit = fit_of(view, NOW)
    assert fit
    first, second = fit_words(fit, NOW)
    assert "is 35 min from now" in first
    assert "one task needs 8 min from its claim to its merge at the least" in first
    assert second == "so at most 1 task(s) can be merged by then, however they are planned"
    assert fit_of(RunView(), NOW) is None


def test_the_forecast_says_what_fits_and_which_deadline_would_let_all_land() -> None:
    view = view_at(35)
    made = not_below(SHORT, view, NOW, THREE)
    assert made.seconds_p50 > 15 * 60 + 3 * 494, "the run that was known is of another repository"
    assert made.seconds_p90 >= made.seconds_p50
    assert "the time by this run's own commands" in made.basis
    lines = [one.text for one in before_words(view, e.ForecastMade(forecast=made))]
    assert made.fit
    by = f"{made.fit.all_until.astimezone():%Y-%m-%d %H:%M}"
    assert lines[-1] == (
        f"so 1 of the 3 tasks can be merged by then. For all of them the deadline has to be {by} or later"
    )
    assert [line for line in lines if "half of such runs take longer" in line] == []


def test_a_forecast_that_is_longer_than_the_commands_stays_as_it_is() -> None:
    made = not_below(replace(SHORT, seconds_p50=90_000, seconds_p90=99_000), view_at(600), NOW, THREE)
    assert (made.seconds_p50, made.seconds_p90, made.basis) == (90_000, 99_000, SHORT.basis)
    assert made.fit
    assert fit_words(made.fit, NOW)[-1] == "so there is time for all tasks"


def test_a_run_that_did_not_do_its_work_is_not_held_against_the_forecast() -> None:
    told = outlook_lines(SHORT, (0.2, 1966.0), is_done=False)[-1]
    assert "as forecast" not in told
    assert "less than forecast" not in told
    assert told.endswith("without all of its work: the forecast was for all of it")
    assert "as forecast" in outlook_lines(SHORT, (0.2, 1966.0))[-1]


def test_before_the_plan_nothing_is_said_where_many_tasks_fit() -> None:
    assert fit_of(view_at(60), NOW) is not None
    assert fit_of(view_at(6_000), NOW) is None
