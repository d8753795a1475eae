"""The regions of a run's overview, each an HTML element with an id. The stream renews those that changed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from orchestrator.views.models.criteria import CriterionState as CriterionStanding
from orchestrator.views.models.criteria import counted, criteria_of
from orchestrator.views.models.lanes import Timeline
from orchestrator.views.models.overview import overview
from orchestrator.views.models.spend import SpendRow
from orchestrator.views.models.summary import Group, TaskRow
from orchestrator.views.models.timeline import timeline
from orchestrator.views.models.why import Reason, why_not
from orchestrator.views.page.head import event_href, head_region
from orchestrator.views.page.ports import LiveRun, Regions
from orchestrator.views.page.rendering import rendered

# The page stays below 5,000 elements whatever the size of a run.
_MOST_TASKS, _MOST_CRITERIA, _MOST_NEEDS, _MOST_SPENDERS = 60, 40, 20, 15
_MOST_BARS, _MOST_LANES, _MOST_FOLDS = 400, 40, 12
_FIRST = (CriterionStanding.NOT_MET, CriterionStanding.NOT_CHECKED, CriterionStanding.UNDER_WAY)


@dataclass(frozen=True, slots=True)
class Spent:
    """The spending of one task, role or model."""

    name: str
    calls: int
    cost_usd: float
    at_least: bool


def overview_regions(run: LiveRun) -> Regions:
    """Return the regions of a run's overview by their ids, in the order in which the page shows them."""
    run_id = run.folder.name
    seen = overview(run.story, run_id, run.now, active=run.active, options=run.options)
    show = partial(rendered, run=run_id, event_href=event_href(run_id))
    return {
        "r-head": head_region(run),
        "r-needs": show("needs", needs=seen.needs[:_MOST_NEEDS]),
        "r-criteria": _criteria(run, show),
        "r-tasks": show(
            "tasks",
            tasks=[_task(run, row) for row in seen.tasks[:_MOST_TASKS]],
            more=len(seen.tasks[_MOST_TASKS:]),
        ),
        "r-time": _time(run, show),
        "r-spend": show("spend", groups=_groups(seen.spending.rows), spent=seen.spending),
        "r-feed": show("feed", feed=list(reversed(run.feed))),
    }


def _criteria(run: LiveRun, show: "partial[str]") -> str:
    rows = criteria_of(run.story.view)
    first = sorted(enumerate(rows), key=lambda numbered: numbered[1].standing not in _FIRST)
    return show(
        "criteria", rows=first[:_MOST_CRITERIA], counts=counted(rows), more=len(rows[_MOST_CRITERIA:])
    )


def _task(run: LiveRun, row: TaskRow) -> tuple[int, TaskRow, datetime | None, list[Reason]]:
    """Return a number for ids, a row, the start of its present stage if it works now, why it does nothing."""
    working = row.group is Group.WORKING and run.active
    spans = run.story.history.stages.get(row.id, [])
    reasons = why_not(run.story, row.id, run.now, active=run.active)
    number = list(run.story.view.tasks).index(row.id)
    return number, row, spans[-1].since if working and spans else None, reasons


def _time(run: LiveRun, show: "partial[str]") -> str:
    lanes = max(1, min(_MOST_LANES, len(run.story.view.tasks) + 1))
    shown = timeline(run.story, run.tick, most_bars=_MOST_BARS // lanes)
    return show("time", shown=_bounded(shown), more=len(shown.lanes[_MOST_LANES:]))


def _bounded(shown: Timeline) -> Timeline:
    longest = sorted(shown.folds, key=lambda fold: -fold.seconds)
    return replace(shown, lanes=shown.lanes[:_MOST_LANES], folds=tuple(longest[:_MOST_FOLDS]))


def _groups(rows: tuple[SpendRow, ...]) -> list[tuple[str, list[Spent]]]:
    """Return the spending by task, role and model, the largest first."""
    if not rows:
        return []
    return [
        ("task", _by([(row.task_id or "the whole", row) for row in rows])),
        ("role", _by([(str(row.role), row) for row in rows])),
        ("model", _by([(row.model, row) for row in rows])),
    ]


def _by(rows: list[tuple[str, SpendRow]]) -> list[Spent]:
    names = dict.fromkeys(name for name, _ in rows)
    found = [_together(one, [row for name, row in rows if name == one]) for one in names]
    found.sort(key=lambda one: -one.cost_usd)
    if len(found) <= _MOST_SPENDERS:
        return found
    rest = found[_MOST_SPENDERS:]
    return [*found[:_MOST_SPENDERS], _together(f"{len(rest)} others", rest)]


def _together(name: str, rows: Sequence[SpendRow | Spent]) -> Spent:
    return Spent(
        name,
        sum(row.calls for row in rows),
        sum(row.cost_usd for row in rows),
        any(row.at_least for row in rows),
    )
