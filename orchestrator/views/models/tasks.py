"""The first screen of a run, the same for terminal and page: its tasks as rows, and who has to act."""

from collections.abc import Iterator
from datetime import datetime

from orchestrator.views.models.history import RunFacts
from orchestrator.views.models.running import commands_words
from orchestrator.views.models.spend import spending
from orchestrator.views.models.summary import (
    Group,
    Need,
    Overview,
    RunState,
    TaskRow,
    stage_word,
    summary_of,
    why_not,
)
from orchestrator.views.words import retry_cause, short, time_of_day, tool_call
from state.journal.events.calls import CallView
from state.journal.events.tasks import UNMERGED_ENDS, Stage, TaskView
from state.journal.phase import is_under_way
from state.journal.view import RunView
from state.records.calls import MessageKind
from state.records.questions import Basis

_NOW_SHOWN = 80  # characters of a task's present action
_ORDER = list(Group)


def task_rows(story: RunFacts, now: datetime, *, active: bool = True) -> tuple[TaskRow, ...]:
    """Return the tasks of a run: those that need a person first, then ended, working, waiting, merged.

    Args:
        now: this moment.
        active: whether a process works on the run.
    """
    costs = _costs(story.view)
    rows = [
        _row(story, task, now, cost_usd=costs.get(id_, 0.0), active=active)
        for id_, task in story.view.tasks.items()
    ]
    return tuple(sorted(rows, key=lambda row: _ORDER.index(row.group)))


def parked_questions(view: RunView, task_id: str = "") -> Iterator[tuple[str, str, int]]:
    """Yield the questions left to a person: the task, the question, the place of the event.

    `task_id`: only of this task.
    """
    for ask in view.asks.values():
        if ask.parked and not ask.answered and task_id in {"", ask.asked.task_id}:
            yield ask.asked.task_id, ask.parked.question, ask.seq


def _row(story: RunFacts, task: TaskView, now: datetime, *, cost_usd: float, active: bool) -> TaskRow:
    id_ = task.task.id
    group = _group(story.view, task)
    spans = story.history.stages.get(id_, [])
    return TaskRow(
        id=id_,
        title=task.task.title,
        group=group,
        stage=task.stage,
        word="needs you" if group is Group.NEEDS_YOU else stage_word(story.view, id_),
        now=short(_now(story, task, group, now, active=active), _NOW_SHOWN),
        attempt=task.attempt,
        iteration=task.iteration,
        cost_usd=cost_usd,
        seconds=_seconds(story, task, group, now, active=active),
        open_findings=len(task.review.open),
        seq=spans[-1].seq if spans else 0,
        needs=task.task.dependencies,
    )


def _group(view: RunView, task: TaskView) -> Group:
    if task.stage is Stage.MERGED:
        return Group.MERGED
    if next(parked_questions(view, task.task.id), None):
        return Group.NEEDS_YOU
    if task.stage in UNMERGED_ENDS:
        return Group.ENDED_BADLY
    return Group.WORKING if is_under_way(task) else Group.WAITING


def _now(story: RunFacts, task: TaskView, group: Group, now: datetime, *, active: bool) -> str:
    match group:
        case Group.MERGED:
            return ""
        case Group.NEEDS_YOU:
            return next(f"asks: {question}" for _, question, _ in parked_questions(story.view, task.task.id))
        case Group.ENDED_BADLY:
            return task.end.reason
        case Group.WORKING:
            if not active:
                cut = commands_words(story.view, task.task.id, active=False)
                return "; ".join(filter(None, (cut, "no process works on it")))
            own = f"sq's own work on it since {time_of_day(_newest(story, task.task.id) or now)}"
            return next(_actions(story, task, now), own)
        case Group.WAITING:
            return _waits_for(story, task, now, active=active)


def _newest(story: RunFacts, task_id: str) -> datetime | None:
    """Return when the newest event of a task was stored, whatever happened to others since."""
    found = (one.at for one in reversed(story.history.notable) if story.view.task_of(one.event) == task_id)
    return next(found, None)


def _actions(story: RunFacts, task: TaskView, now: datetime) -> Iterator[str]:
    """Yield the things under way for a task."""
    view, id_ = story.view, task.task.id
    if running := commands_words(view, id_):
        yield running
    for call in reversed(view.calls.values()):
        if call.started.task_id == id_ and call.end is None and call.since:
            yield _call(story, task, call, now)
    if task.merge:
        yield f"merging {task.merge.commit[:8]} onto {task.merge.onto[:8]}"


def _call(story: RunFacts, task: TaskView, call: CallView, now: datetime) -> str:
    role, model = call.started.role, call.started.model
    if call.since and call.since > now:
        last = call.retries[-1]
        return f"{role} waits until {time_of_day(call.since)}: {retry_cause(last.end, last.resets_at)}"
    newest = story.history.doing.get(call.started.call_id)
    if newest and newest.message.kind is MessageKind.TOOL_CALL:
        return f"{role}: {tool_call(story.view.root, newest.message)}"
    if task.stage is Stage.COMMITTED:
        return f"{role} reads {task.claim.commit[:8]} ({model})"
    return f"{role} thinks ({model})"


def _waits_for(story: RunFacts, task: TaskView, now: datetime, *, active: bool) -> str:
    needed = [one for one in task.task.dependencies if story.view.tasks[one].stage is not Stage.MERGED]
    if needed:
        return f"for {', '.join(needed)}"
    reasons = why_not(story, task.task.id, now, active=active)
    soon = "not begun" if story.view.ended else "begins soon"
    return reasons[0].text.removeprefix(f"{task.task.id} waits ") if reasons else soon


def _seconds(story: RunFacts, task: TaskView, group: Group, now: datetime, *, active: bool) -> float | None:
    spans = [one for one in story.history.stages.get(task.task.id, ()) if one.stage is not Stage.WAITING]
    if not spans:
        return None
    last = story.view.clock.last_at or now
    if group is Group.WORKING:
        return ((now if active else last) - spans[-1].since).total_seconds()
    ended = spans[-1].stage is Stage.MERGED or task.stage in UNMERGED_ENDS
    return ((spans[-1].since if ended else last) - spans[0].since).total_seconds()


def _costs(view: RunView) -> dict[str, float]:
    costs: dict[str, float] = {}
    for call in view.calls.values():
        costs[call.started.task_id] = costs.get(call.started.task_id, 0.0) + call.cost_usd
    return costs


def overview(story: RunFacts, run_id: str, now: datetime, *, active: bool, options: str = "") -> Overview:
    """Return a run on one screen.

    Args:
        now: this moment.
        active: whether a process works on it.
        options: options for a command to find this run again, such as `--state-dir X`.
    """
    view = story.view
    summary = summary_of(view, run_id, is_active=lambda: active, now=now, options=options)
    rows = task_rows(story, now, active=summary.state is RunState.ACTIVE)
    parked = list(parked_questions(view))
    answered = (ask.answered.answers for ask in view.asks.values() if ask.answered)
    by = [answer.basis is Basis.PERSON for answers in answered for answer in answers]
    return Overview(
        summary=summary,
        tasks=rows,
        needs=tuple(_needs(story, rows)),
        spending=spending(view),
        answered=by.count(False),
        yours=by.count(True),
        parked=len(parked),
        seq=view.clock.last_seq,
        last_at=view.clock.last_at,
    )


def _needs(story: RunFacts, rows: tuple[TaskRow, ...]) -> list[Need]:
    needs = [
        Need(
            what="a question is parked",
            text=question.text,
            task_id=ask.asked.task_id,
            seq=ask.seq,
            name=name,
            options=tuple(option.label for option in question.options),
        )
        for name, (ask, question) in story.view.waiting_questions.items()
    ]
    shown = {need.seq for need in needs}
    needs += [
        Need(what="a question is parked", text=question, task_id=task_id, seq=seq)
        for task_id, question, seq in parked_questions(story.view)
        if seq not in shown
    ]
    needs += [
        Need(what=f"a task is {row.stage}", text=row.now, task_id=row.id, seq=row.seq)
        for row in rows
        if row.group is Group.ENDED_BADLY
    ]
    if (ended := story.view.ended) and ended.cause and not needs:
        seq = story.view.clock.last_seq
        needs.append(Need(what=f"the run ended: {ended.outcome}", text=ended.cause, task_id="", seq=seq))
    return needs
