"""The forecast of a run, from the runs before it.

Cost and time of the newest earlier runs are divided by their size, and the quantiles of the quotients hold
for this run. Nine of ten is the bound of a log-normal prediction with Student's t, whose spread is drawn
towards that of usual work. From ten runs on it is at least the order statistic that conformal prediction
takes, and the half is the median. Only the newest runs count, since machines, models and repositories change.
"""

import math
from collections.abc import Sequence
from statistics import fmean, median

from state.records.plan import Forecast, ForecastBasis, PastRun, Task, chain_of, turns_of
from state.roles import Role
from state.settings.records import Settings

_ENOUGH = 3  # runs that are most alike, before less alike ones are taken
_NEWEST = 12  # runs of which a forecast is made at most. More would be slow to see that times change
_EMPIRICAL = 10  # runs from which quantiles are empirical
_SPREAD, _WEIGHT = 0.4, 2  # the usual spread of the logarithm of costs, and the runs that it counts as
# Student's t below which nine of ten values lie, by degrees of freedom from 1
_T90 = (3.078, 1.886, 1.638, 1.533, 1.476, 1.44, 1.415, 1.397, 1.383, 1.372, 1.363, 1.356)
_HALF = 3.0  # how many times as much as the half nine of ten may need, where only limits are known
_TURNS = 8  # of a run without a plan


def forecast(basis: ForecastBasis, settings: Settings, tasks: Sequence[Task] = ()) -> Forecast:
    """Return the forecast of a run with these tasks. Without tasks it has no plan yet."""
    found, words = _alike(basis, settings)
    turns, chain = turns_of(tasks), chain_of(tasks)
    if not found:
        return _by_limits(settings, turns or _TURNS, len(tasks))
    known = bool(tasks)
    usd = _quantiles([one.usd / _size(one.turns, known=known) for one in found])
    seconds = _quantiles([one.seconds / _size(one.chain, known=known) for one in found])
    size, length = _size(turns, known=known), _size(chain, known=known)
    return Forecast(
        usd_p50=usd[0] * size,
        usd_p90=usd[1] * size,
        seconds_p50=seconds[0] * length,
        seconds_p90=seconds[1] * length,
        basis=f"from {len(found)} earlier run(s) {words}",
        runs=len(found),
        tasks=len(tasks),
    )


def _size(turns: int, *, known: bool) -> int:
    """Return how much work a run is. Planning, the baseline and the last review count as one turn."""
    return 1 + max(1, turns) if known else 1


def _alike(basis: ForecastBasis, settings: Settings) -> tuple[list[PastRun], str]:
    """Return the earlier runs that are like this one, and in words how."""
    worker, effort = settings.models[Role.WORKER].name, settings.effort.name
    usable = [
        one
        for one in basis.past
        if (one.rehearsal, one.workflow) == (basis.rehearsal, str(settings.workflow))
    ]
    same = [one for one in usable if (one.worker, one.effort) == (worker, effort)]
    here = [one for one in same if one.repository == basis.repository]
    tiers = (
        (here, f"in this repository with effort {effort} and {worker}"),
        (same, f"of this machine with effort {effort} and {worker}"),
        (usable, "of this machine, also with other models and efforts"),
    )
    most = max(tiers, key=lambda tier: len(tier[0]))
    found, words = next((tier for tier in tiers if len(tier[0]) >= _ENOUGH), most)
    return found[:_NEWEST], words


def _quantiles(values: Sequence[float]) -> tuple[float, float]:
    """Return the half and the bound for nine of ten of positive values like these."""
    ordered, count = sorted(values), len(values)
    logs = [math.log(max(value, 1e-9)) for value in ordered]
    mean, freedom = fmean(logs), count - 1 + _WEIGHT
    variance = (_WEIGHT * _SPREAD**2 + sum((one - mean) ** 2 for one in logs)) / freedom
    reach = _T90[min(freedom, len(_T90)) - 1] * math.sqrt(variance * (1 + 1 / count))
    bound = math.exp(mean + reach)
    if count < _EMPIRICAL:
        return math.exp(mean), bound
    return median(ordered), max(bound, ordered[min(count, math.ceil(0.9 * (count + 1))) - 1])


def _by_limits(settings: Settings, turns: int, tasks: int) -> Forecast:
    """Return the forecast where no run is known: the most that the preset lets such a run use."""
    effort = settings.effort
    most = settings.budget_run_usd or effort.budget_run_usd
    if tasks:
        most = min(most, tasks * (settings.budget_task_usd or effort.budget_task_usd))
    seconds = turns * (1 + effort.revisions_per_task) * settings.limits.idle_s
    if settings.limits.run_s:
        seconds = min(seconds, settings.limits.run_s)
    return Forecast(
        usd_p50=most / _HALF,
        usd_p90=most,
        seconds_p50=seconds / _HALF,
        seconds_p90=seconds,
        basis=f"no earlier run is known, so these are limits of effort {effort.name}, and no experience",
        tasks=tasks,
    )
