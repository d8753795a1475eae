"""The values of each page of a run, and its regions by their ids.

Events and messages are read from the journal a piece at a time.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path, PurePath
from urllib.parse import urlencode

import anyio
import anyio.lowlevel
import msgspec

from orchestrator.views.descriptions.run import people_words
from orchestrator.views.html.sections import task_part, whole_attempt
from orchestrator.views.models.spend import spending
from orchestrator.views.models.summary import Group, RunState, RunSummary, TaskRow, summary_of, why_not
from orchestrator.views.models.tasks import overview, task_rows
from orchestrator.views.models.work import recorded_work
from orchestrator.views.page.followed import FollowedRun, Regions
from orchestrator.views.page.sections import (
    amount_regions,
    criteria_regions,
    decided_regions,
    evidence_regions,
    fitting,
    part,
    rendered,
    renderer,
)
from orchestrator.views.run.story import RunStory
from orchestrator.views.words import Reason, short
from state.inbox import WordKind
from state.journal import events as e
from state.journal.events import Stored
from state.journal.store import JournalReader
from state.journal.view import RunView
from state.outcome import Outcome

PAGE = 200
_BATCH = 2000  # events that are looked through at a time
_SHORT = 160
KINDS: dict[str, type] = {one.__name__: one for one in e.Event.__args__}


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRow:
    """An event with all its fields. `short` is their beginning on one line."""

    seq: int
    at: datetime
    name: str
    short: str
    body: str


@dataclass(frozen=True, slots=True)
class SaidRow:
    """An event of a person in words, with what was said in it. `unread`: no agent has read that."""

    at: datetime
    seq: int
    text: str
    texts: tuple[str, ...]
    unread: bool


async def found_events(
    folder: Path, after: int, fits: Callable[[Stored], bool], kinds: tuple[type, ...] = ()
) -> list[Stored]:
    """Return the first events after a place that fit, a page of them and one more if there are more.

    Other requests are answered between two batches.
    """
    found: list[Stored] = []
    with JournalReader(folder) as journal:
        while len(found) <= PAGE:
            batch = journal.read(after, only=kinds, limit=_BATCH)
            found += filter(fits, batch)
            if len(batch) < _BATCH:
                break
            after = batch[-1].seq
            await anyio.lowlevel.checkpoint()
    return found[: PAGE + 1]


def one_event(folder: Path, seq: int) -> Stored | None:
    """Return the event at a place of the journal, or None."""
    with JournalReader(folder) as journal:
        found = journal.read(max(0, seq - 1), limit=1)
    return found[0] if found and found[0].seq == seq else None


def is_about(view: RunView, task_id: str) -> Callable[[Stored], bool]:
    """Return whether an event is about a task. An empty id fits all events."""
    return lambda stored: not task_id or view.task_of(stored.event) == task_id


def event_row(stored: Stored) -> EventRow:
    fields = msgspec.to_builtins(stored.event)
    said = (
        f"{name}={short(str(value), 60)}"
        for name, value in fields.items()
        if value not in ("", None, [], (), {}, 0, False)
    )
    return EventRow(
        seq=stored.seq,
        at=stored.at,
        name=type(stored.event).__name__,
        short=short(" ".join(said), _SHORT),
        body=whole_text(stored),
    )


def whole_text(stored: Stored) -> str:
    """Return an event with all its fields. A text of several lines stays one."""
    fields = msgspec.to_builtins(stored.event)
    return "\n".join(f"{name}: {_plain(value)}" for name, value in fields.items())


def _plain(value: object) -> str:
    if isinstance(value, str):
        return value if "\n" not in value else "\n    " + value.replace("\n", "\n    ")
    return json.dumps(value, indent=2, ensure_ascii=False)


_MOST_STEPS, _MOST_TASKS, _MOST_NEEDS, _MOST_SAID, _MOST_FEED = 250, 60, 20, 40, 100
_MARKS = {
    RunState.ACTIVE: ("calm", "●"),
    RunState.INTERRUPTED: ("warn", "‖"),
    RunState.KILLED: ("bad", "✗"),
    RunState.NEVER_BEGAN: ("bad", "✗"),
    RunState.UNREADABLE: ("bad", "✗"),
}


def overview_regions(run: FollowedRun) -> Regions:
    """Return the regions of a run's overview, in the order in which the page shows them."""
    run_id, story = run.folder.name, run.story
    show = renderer(run_id)
    seen = overview(story, run_id, run.now, active=run.active, options=run.options)
    tasks = [_task(run, row) for row in seen.tasks[:_MOST_TASKS]]
    answered = {one.about: one for one in run.left if one.kind is WordKind.ANSWER}
    about = {"active": run.active, "options": run.options}
    said = list(reversed(said_in(story)))
    return {
        "r-head": head_region(run),
        "r-needs": show("needs", needs=seen.needs[:_MOST_NEEDS], answered=answered, **about),
        "r-words": show("words", left=run.left, said=said[:_MOST_SAID], more=len(said[_MOST_SAID:]), **about),
        **criteria_regions(story, run_id),
        "r-tasks": show("tasks", tasks=tasks, more=len(seen.tasks[_MOST_TASKS:])),
        **evidence_regions(story, run_id),
        **amount_regions(story, run_id, run.tick),
        "r-feed": show("feed", feed=run.newest.told[: -_MOST_FEED - 1 : -1]),
    }


def said_in(story: RunStory) -> list[SaidRow]:
    """Return what people said to a run, oldest first."""
    unread = {word.word_id for word in story.view.unheard_words}
    rows = []
    for stored in story.history.notable:
        if isinstance(stored.event, e.PeopleEvent):
            words = people_words(story.view, stored.event)
            texts = tuple(text for quote in words.quotes for text in quote.texts if text)
            row = SaidRow(stored.at, stored.seq, words.text, texts, stored.event.word_id in unread)
            rows.append(row)
    return rows


def decisions_regions(run: FollowedRun) -> Regions:
    return {"r-head": head_region(run), **decided_regions(run.story, run.folder.name)}


def task_regions(run: FollowedRun, *, task_id: str, attempt: int) -> Regions:
    """Return the regions of a task's page. `attempt` is its number, 0 for the newest one."""
    show, task = renderer(run.folder.name), run.story.view.tasks[task_id]
    [row] = [one for one in task_rows(run.story, run.now, active=run.active) if one.id == task_id]
    branch = task.place.branch
    return {
        "r-head": head_region(run),
        "r-task": show("task", row=row, task=task.task, since=_since(run, row), branch=branch),
        "r-attempt": show("attempt", **_attempt(run, row, attempt)),
    }


def runs_region(summaries: list[RunSummary], more: int, place: str) -> Regions:
    rows = [
        (
            one,
            PurePath(one.spec_name).name or one.run_id,
            *chip_of(one),
            one.started_at if one.state is RunState.ACTIVE else None,
        )
        for one in summaries
    ]
    return {"r-runs": rendered("runs", rows=rows, more=more, place=place)}


def head_region(run: FollowedRun) -> str:
    """Return the head that all pages of a run share."""
    view, run_id = run.story.view, run.folder.name
    summary = summary_of(view, run_id, is_active=lambda: run.active, now=run.now, options=run.options)
    spent = spending(view)
    tone, glyph, word = chip_of(summary)
    return renderer(run_id)(
        "head",
        spec=PurePath(summary.spec_name).name or run_id,
        tone=tone,
        glyph=glyph,
        state=word,
        summary=summary,
        problem=run.problem,
        running_since=summary.started_at if summary.state is RunState.ACTIVE else None,
        spent=spent,
        share=min(1.0, spent.cost_usd / spent.budget_usd) if spent.budget_usd else 0.0,
        last_at=run.heard_at,
        cause=view.ended.cause if view.ended else "",
    )


def events_part(run: FollowedRun, found: list[Stored], *, after: int, name: str, task: str) -> str:
    """Return a page of events. One event more than a page is a sign that there are more."""
    rows, link = [event_row(one) for one in found[:PAGE]], partial(_events_link, run.folder.name)
    return renderer(run.folder.name)(
        "events",
        rows=rows,
        names=sorted(KINDS),
        tasks=sorted(run.story.view.tasks)[:_MOST_STEPS],
        name=name,
        task=task,
        newest=run.seq,
        link=link,
        before_href=link(name, task, max(0, after - PAGE)) if after else "",
        next_href=link(name, task, rows[-1].seq) if len(found) > PAGE else "",
    )


def call_part(run: FollowedRun, call_id: str, found: list[Stored], *, after: int) -> str:
    """Return a page of the messages of a call."""
    call = run.story.view.calls[call_id].started
    rows = found[:PAGE]
    started = next((one.seq for one in run.story.history.spans if one.key == call_id), 0)
    return renderer(run.folder.name)(
        "call",
        call=call,
        task=call.task_id if call.task_id in run.story.view.tasks else "",
        started=started,
        first=after <= started,
        rows=rows,
        next_after=rows[-1].seq if len(found) > PAGE else 0,
    )


def chip_of(summary: RunSummary) -> tuple[str, str, str]:
    """Return the tone, the glyph and the word for the state of a run."""
    if summary.state is RunState.ENDED:
        good = summary.outcome is Outcome.COMPLETE
        return ("good", "✓", str(summary.outcome)) if good else ("bad", "✗", str(summary.outcome))
    return *_MARKS[summary.state], str(summary.state)


def _since(run: FollowedRun, row: TaskRow) -> datetime | None:
    """Return the start of a task's present stage if it works now."""
    spans = run.story.history.stages.get(row.id, [])
    return spans[-1].since if row.group is Group.WORKING and run.active and spans else None


def _task(run: FollowedRun, row: TaskRow) -> tuple[int, TaskRow, datetime | None, list[Reason]]:
    """Return a number for ids, a row, the start of its present stage if it works now, why it does nothing."""
    reasons = why_not(run.story, row.id, run.now, active=run.active)
    return list(run.story.view.tasks).index(row.id), row, _since(run, row), reasons


def _attempt(run: FollowedRun, row: TaskRow, number: int) -> dict[str, object]:
    """Return the values of a task's part, with one attempt of it: that of this number, or the newest."""
    view, attempts = run.story.view, run.story.history.attempts.get(row.id, [])
    chosen = [one for one in attempts if one.number == number] or attempts[-1:]
    whole = [whole_attempt(view, one) for one in chosen[:1]]
    few = [replace(one, steps=one.steps[:_MOST_STEPS]) for one in whole]
    made = task_part(run.story, row, few, recorded_work(view), run.now, active=run.active)
    return {
        "attempts": attempts[-_MOST_STEPS:],
        "shown": chosen[0].number if chosen else 0,
        "part": fitting(made, run.folder.name),
        "left_out": sum(len(one.steps[_MOST_STEPS:]) for one in whole),
    }


def _events_link(run_id: str, name: str, task: str, after: int = 0) -> str:
    asked = {key: value for key, value in (("name", name), ("task", task), ("after", after)) if value}
    return f"/run/{part(run_id)}/events" + (f"?{urlencode(asked)}" if asked else "")
