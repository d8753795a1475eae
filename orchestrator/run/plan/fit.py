"""What fits before a deadline, by this run's own times, before any of it is built."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from graphlib import TopologicalSorter

from orchestrator.run.landing import hand_over_s, left_s, steps_left
from orchestrator.run.plan.forecast import forecast
from orchestrator.run.record import Run
from state.journal.events import ForecastMade
from state.journal.events.tasks import ENDED_STAGES, TaskView
from state.journal.view import RunView
from state.records.plan import DeadlineFit, Forecast, Task

_BESIDE = frozenset({"work", "review"})  # what tasks do side by side, as far as there are places
_MANY = 10  # so many tasks are in no plan, and that they fit says nothing


def fit_of(view: RunView, now: datetime, tasks: Sequence[Task] = ()) -> DeadlineFit | None:
    """Return how many tasks can be merged by the deadline, or None without one.

    Without `tasks` it is asked how many of any kind fit, and None is returned if many do. Each step may take
    some more than so far, as it may near the deadline (`left_s`).
    """
    until = view.process.deadline
    if until is None:
        return None
    time_s = (until - now).total_seconds() - hand_over_s(view)
    left = _left(view, tasks) if tasks else [_new("any")] * _MANY
    landing = next((n for n in range(len(left), 0, -1) if _needs_s(view, left[:n], now) <= time_s), 0)
    if not tasks and landing == _MANY:
        return None
    one = steps_left(view, _new("any"), now, more=1.0)
    all_s = _needs_s(view, left, now) + hand_over_s(view) if tasks else 0.0
    return DeadlineFit(
        until=until,
        claim_s=sum(step.seconds for step in one if step.name != "work"),
        landing=landing,
        tasks=len(left) if tasks else 0,
        all_until=now + timedelta(seconds=all_s),
    )


def not_below(made: Forecast, view: RunView, now: datetime, tasks: Sequence[Task]) -> Forecast:
    """Return a forecast that goes on for the times of this run's own commands at the least, and what fits."""
    begun, left = view.clock.started_at or now, _left(view, tasks)
    least = [(now - begun).total_seconds() + _needs_s(view, left, now, more=more) for more in (1.0, 1.5)]
    is_less = bool(tasks) and made.seconds_p50 < least[0]
    return replace(
        made,
        seconds_p50=max(made.seconds_p50, least[0]) if tasks else made.seconds_p50,
        seconds_p90=max(made.seconds_p90, *least) if tasks else made.seconds_p90,
        basis=f"{made.basis}, the time by this run's own commands" if is_less else made.basis,
        fit=fit_of(view, now, tasks),
    )


def say_what_fits(run: Run) -> None:
    """Record what fits before the deadline, once the baseline has shown how long the commands take."""
    view, tasks = run.view, [task.task for task in run.view.tasks.values()]
    if (basis := run.forecast_basis) and view.process.deadline and not run.settings.check_only:
        made = forecast(basis, run.settings, tasks)
        run.record(ForecastMade(forecast=not_below(made, view, datetime.now(UTC), tasks)))


def _left(view: RunView, tasks: Sequence[Task]) -> list[TaskView]:
    """Return the tasks that are not merged and have not ended, each after those that it needs."""
    known = {task.id: view.tasks.get(task.id) or TaskView(task=task) for task in tasks}
    order = TopologicalSorter({task.id: task.dependencies for task in tasks}).static_order()
    return [known[id_] for id_ in order if known[id_].stage not in ENDED_STAGES]


def _needs_s(view: RunView, tasks: Sequence[TaskView], now: datetime, *, more: float = 1.5) -> float:
    """Return the seconds until tasks are merged, as `left_s`, with rounds if there are fewer places."""
    if not tasks:
        return 0.0
    steps = [steps_left(view, task, now, more=more) for task in tasks]
    beside = max(sum(step.seconds for step in each if step.name in _BESIDE) for each in steps)
    places = view.settings.places if view.settings else 1
    rounds = max(-(-len(tasks) // places), _longest_chain(tasks))
    return left_s(view, tasks, now, more=more) + (rounds - 1) * beside


def _longest_chain(tasks: Sequence[TaskView]) -> int:
    ends = dict[str, int]()
    for task in tasks:  # in the order of their dependencies
        needed = task.task.dependencies
        ends[task.task.id] = 1 + max((ends.get(one, 0) for one in needed), default=0)
    return max(ends.values())


def _new(id_: str) -> TaskView:
    return TaskView(task=Task(id=id_, title="", description=""))
