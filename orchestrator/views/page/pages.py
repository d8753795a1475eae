"""The values of each page of a run, and its regions by their ids."""

from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from orchestrator.views.descriptions.describe import describe
from orchestrator.views.descriptions.description import Tone
from orchestrator.views.html.amounts import slug
from orchestrator.views.models.decisions import decisions_of
from orchestrator.views.models.summary import Group, RunState, RunSummary
from orchestrator.views.models.tasks import task_rows
from orchestrator.views.models.why import why_not
from orchestrator.views.page.event_rows import KINDS, PAGE, event_row, message_row
from orchestrator.views.page.ports import LiveRun, Regions
from orchestrator.views.page.rendering import LONG, part, rendered
from state.journal.events import Stored

if TYPE_CHECKING:
    from orchestrator.views.models.history import AttemptHistory
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from orchestrator.views.models.criteria import CriterionState as CriterionStanding
from orchestrator.views.models.criteria import counted, criteria_of
from orchestrator.views.models.lanes import Timeline
from orchestrator.views.models.overview import overview
from orchestrator.views.models.spend import Spending, by_role, spending
from orchestrator.views.models.summary import TaskRow, summary_of
from orchestrator.views.models.timeline import timeline
from orchestrator.views.models.why import Reason
from state.outcome import Outcome

_MOST_FACTS = 250
_GLYPHS = {Tone.GOOD: "✓", Tone.BAD: "✗", Tone.WARN: "!", Tone.CALM: "●"}
_MOST_DECISIONS = 100


def task_named(run: LiveRun, name: str) -> str | None:
    """Return the id of a task from its id in an address, or None. Addresses of pictures have a short form."""
    if name in run.story.view.tasks:
        return name
    found = [id_ for id_ in run.story.view.tasks if slug(id_) == name]
    return found[0] if len(found) == 1 else None


def task_regions(run: LiveRun, *, task_id: str, attempt: int) -> Regions:
    """Return the regions of a task's page. `attempt` is its number, 0 for the newest one."""
    run_id, task = run.folder.name, run.story.view.tasks[task_id]
    [row] = [one for one in task_rows(run.story, run.now, active=run.active) if one.id == task_id]
    spans = run.story.history.stages.get(task_id, [])
    works = row.group is Group.WORKING and run.active and spans
    show = partial(rendered, run=run_id, event_href=event_href(run_id))
    return {
        "r-head": head_region(run),
        "r-task": show(
            "task",
            row=row,
            task=task.task,
            since=spans[-1].since if works else None,
            branch=task.place.branch,
            reasons=why_not(run.story, task_id, run.now, active=run.active),
        ),
        "r-attempt": show("attempt", task=task_id, **_attempt(run, task_id, attempt)),
    }


def decisions_regions(run: LiveRun) -> Regions:
    """Return the regions of the page of decisions: parked ones first, then the newest."""
    run_id = run.folder.name
    newest = decisions_of(run.story.view)[::-1]
    rows = sorted(newest, key=lambda one: not one.parked)
    show = partial(rendered, run=run_id, event_href=event_href(run_id))
    return {
        "r-head": head_region(run),
        "r-decisions": show("decisions", rows=rows[:_MOST_DECISIONS], more=len(rows[_MOST_DECISIONS:])),
    }


def runs_region(summaries: list[RunSummary], more: int, place: str) -> Regions:
    """Return the region of the list of runs."""
    rows = [
        (
            one,
            PurePath(one.spec_name).name or one.run_id,
            *chip_of(one),
            one.started_at if one.standing is RunState.ACTIVE else None,
        )
        for one in summaries
    ]
    return {"r-runs": rendered("runs", rows=rows, more=more, place=place)}


def events_part(run: LiveRun, found: list[Stored], *, after: int, name: str, task: str) -> str:
    """Return a page of events. One event more than a page is a sign that there are more."""
    run_id, rows = run.folder.name, [event_row(one) for one in found[:PAGE]]
    link = partial(_events_link, run_id)
    return rendered(
        "events",
        run=run_id,
        event_href=event_href(run_id),
        rows=rows,
        names=sorted(KINDS),
        tasks=sorted(run.story.view.tasks)[:_MOST_FACTS],
        name=name,
        task=task,
        after=after,
        newest=run.seq,
        link=link,
        before_href=link(name, task, max(0, after - PAGE)) if after else "",
        next_href=link(name, task, rows[-1].seq) if len(found) > PAGE else "",
    )


def call_part(run: LiveRun, call_id: str, found: list[Stored], *, after: int) -> str:
    """Return a page of the messages of a call."""
    run_id, call = run.folder.name, run.story.view.calls[call_id]
    rows = [message_row(one) for one in found[:PAGE]]
    started = next((one.seq for one in run.story.history.spans if one.key == call_id), 0)
    return rendered(
        "call",
        run=run_id,
        event_href=event_href(run_id),
        role=str(call.started.role),
        model=call.started.model,
        task=call.started.task_id if call.started.task_id in run.story.view.tasks else "",
        attempt=call.started.attempt,
        iteration=call.started.iteration,
        prompt=call.started.prompt,
        prompt_is_long=len(call.started.prompt) > LONG,
        started=started,
        first=after <= started,
        rows=rows,
        next_href=f"/run/{part(run_id)}/call/{part(call_id)}?after={rows[-1].seq}"
        if len(found) > PAGE
        else "",
    )


def _attempt(run: LiveRun, task_id: str, number: int) -> dict[str, object]:
    attempts: list[AttemptHistory] = run.story.history.attempts.get(task_id, [])
    if not attempts:
        return {"attempts": [], "shown": None, "facts": [], "left_out": 0}
    shown = next((one for one in attempts if one.number == number), attempts[-1])
    facts = [one for stored in shown.events for one in describe(run.story.view, stored)][::-1]
    return {
        "attempts": attempts[-_MOST_FACTS:],
        "shown": shown,
        "facts": facts[:_MOST_FACTS],
        "glyphs": _GLYPHS,
        "left_out": len(facts[_MOST_FACTS:]),
    }


def _events_link(run_id: str, name: str, task: str, after: int = 0) -> str:
    asked = {key: value for key, value in (("name", name), ("task", task), ("after", after)) if value}
    return f"/run/{part(run_id)}/events" + (f"?{urlencode(asked)}" if asked else "")


# The page stays below 5,000 elements whatever the size of a run.
_MOST_TASKS, _MOST_CRITERIA, _MOST_NEEDS, _MOST_SPENDERS = 60, 40, 20, 40
_MOST_BARS, _MOST_LANES, _MOST_FOLDS = 400, 40, 12
_FIRST = (CriterionStanding.NOT_MET, CriterionStanding.NOT_CHECKED, CriterionStanding.UNDER_WAY)


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
        "r-spend": _spend(seen.spending, show),
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


def _spend(spent: Spending, show: "partial[str]") -> str:
    rows = sorted(spent.rows, key=lambda row: -row.cost_usd)
    more = len(rows[_MOST_SPENDERS:])
    return show("spend", spent=spent, by_role=by_role(spent), rows=rows[:_MOST_SPENDERS], more=more)


_MARKS = {
    RunState.ACTIVE: ("calm", "●"),
    RunState.INTERRUPTED: ("warn", "‖"),
    RunState.KILLED: ("bad", "✗"),
    RunState.NEVER_BEGAN: ("bad", "✗"),
    RunState.UNREADABLE: ("bad", "✗"),
}


def head_region(run: LiveRun) -> str:
    """Return the head that all pages of a run share."""
    view = run.story.view
    summary = summary_of(
        view, run.folder.name, is_active=lambda: run.active, now=run.now, options=run.options
    )
    spent = spending(view)
    tone, glyph, word = chip_of(summary)
    goes_on = summary.standing is RunState.ACTIVE
    return rendered(
        "head",
        run=run.folder.name,
        event_href=event_href(run.folder.name),
        spec=PurePath(summary.spec_name).name or run.folder.name,
        tone=tone,
        glyph=glyph,
        standing=word,
        rehearsal=summary.rehearsal,
        problem=run.problem,
        doing=summary.doing,
        running_since=summary.started_at if goes_on else None,
        seconds=summary.seconds,
        spent=spent,
        share=min(1.0, spent.cost_usd / spent.budget_usd) if spent.budget_usd else 0.0,
        merged=summary.tasks_merged,
        total=summary.tasks_total,
        last_at=run.heard_at,
        cause=view.ended.cause if view.ended else "",
        next_command=summary.next_command,
    )


def chip_of(summary: RunSummary) -> tuple[str, str, str]:
    """Return the tone, the glyph and the word for the standing of a run."""
    if summary.standing is RunState.ENDED:
        good = summary.outcome is Outcome.COMPLETE
        return ("good", "✓", str(summary.outcome)) if good else ("bad", "✗", str(summary.outcome))
    return *_MARKS[summary.standing], str(summary.standing)


def event_href(run_id: str) -> Callable[[int], str]:
    """Return a function that makes the address of an event of this run from its place in the journal."""
    events = f"/run/{part(run_id)}/events"
    return lambda seq: f"{events}?after={max(0, seq - 1)}#seq-{seq}"
