"""Forecasts follow from earlier runs, are wider the fewer there are, and say what they rest on."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.run.plan.forecast import forecast
from state.records.plan import ForecastBasis, PastRun, Task, chain_of, turns_of
from state.settings.presets import usual_settings

SETTINGS = usual_settings("medium")
HERE = PastRun(
    run_id="r",
    repository="here",
    effort="medium",
    workflow="orchestrated",
    worker=next(model.name for role, model in SETTINGS.models.items() if role == "worker"),
    rehearsal=False,
    turns=1,
    chain=1,
    usd=1.0,
    seconds=100.0,
)
TASKS = (
    Task(id="a", title="A", description="", estimated_iterations=2),
    Task(id="b", title="B", description="", estimated_iterations=3),
    Task(id="c", title="C", description="", estimated_iterations=4, dependencies=("a",)),
)


def basis(*past: PastRun, rehearsal: bool = False) -> ForecastBasis:
    return ForecastBasis(past=past, repository="here", rehearsal=rehearsal)


def test_without_experience_the_limits_of_the_preset_are_the_forecast_and_it_says_so() -> None:
    found = forecast(basis(), SETTINGS)
    assert (found.usd_p90, found.runs) == (SETTINGS.effort.budget_run_usd, 0)
    assert "no earlier run is known" in found.basis
    planned = forecast(basis(), SETTINGS, TASKS)
    assert planned.usd_p90 == 3 * SETTINGS.effort.budget_task_usd
    assert planned.usd_p90 == pytest.approx(3 * planned.usd_p50)


def test_the_size_of_the_plan_counts_and_for_the_time_its_longest_chain() -> None:
    assert (turns_of(TASKS), chain_of(TASKS)) == (9, 6)
    found = forecast(basis(*[HERE] * 10), SETTINGS, TASKS)
    assert found.usd_p50 == pytest.approx(0.5 * 10)  # each turn, and one for the rest
    assert found.usd_p50 < found.usd_p90 < 1.5 * found.usd_p50
    assert found.seconds_p50 == pytest.approx(50.0 * 7)


def test_runs_most_like_this_one_count_and_rehearsals_for_rehearsals_alone() -> None:
    elsewhere = replace(HERE, repository="there", usd=9.0)
    assert forecast(basis(*[HERE] * 3, *[elsewhere] * 9), SETTINGS).usd_p50 == pytest.approx(1.0)
    assert "of this machine with effort medium" in forecast(basis(HERE, *[elsewhere] * 9), SETTINGS).basis
    assert forecast(basis(HERE), SETTINGS, TASKS).runs == 1
    assert forecast(basis(HERE, rehearsal=True), SETTINGS).runs == 0
    other = replace(HERE, worker="haiku", effort="low")
    assert "other models and efforts" in forecast(basis(other, other, other), SETTINGS).basis


def test_of_many_runs_the_newest_count() -> None:
    old = replace(HERE, usd=50.0)
    found = forecast(basis(*[HERE] * 20, *[old] * 60), SETTINGS)
    assert (found.runs, found.usd_p50) == (12, pytest.approx(1.0))


def test_fewer_runs_give_a_wider_forecast() -> None:
    widths = [
        found.usd_p90 / found.usd_p50
        for n in (1, 2, 3, 6, 9)
        if (found := forecast(basis(*[HERE] * n), SETTINGS))
    ]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] < 3


@given(st.integers(1, 40), st.integers(0, 2**32))
def test_the_half_is_never_above_nine_of_ten(count: int, seed: int) -> None:
    chance = Random(seed)  # noqa: S311
    past = [replace(HERE, usd=chance.lognormvariate(0, 1), turns=chance.randint(0, 9)) for _ in range(count)]
    found = forecast(basis(*past), SETTINGS, TASKS)
    assert 0 < found.usd_p50 <= found.usd_p90


@pytest.mark.parametrize("count", [3, 12, 40])
def test_nine_of_ten_ends_of_like_runs_lie_below_the_bound(count: int) -> None:
    chance, below, within = Random(5), 0, 0  # noqa: S311
    for _ in range(400):
        *past, end = [replace(HERE, usd=chance.lognormvariate(0, 0.5)) for _ in range(count + 1)]
        found = forecast(basis(*past), SETTINGS)
        below += end.usd <= found.usd_p90
        within += found.usd_p50 <= end.usd <= found.usd_p90
    assert below / 400 >= 0.87
    assert within / 400 >= 0.35
