"""Values of the sections that the report and the page of a run share (`sections.html.j2`), and how they fit.

Of an attempt at a task the report has the main steps, and the page all with their links. Texts have a size,
and paths of a machine and names of its users are left out.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

from orchestrator.views.descriptions.describe import describe
from orchestrator.views.descriptions.description import Place, Words
from orchestrator.views.models.criteria import CriterionRow, Point
from orchestrator.views.models.decisions import Decision
from orchestrator.views.models.history import AttemptHistory, RunFacts
from orchestrator.views.models.summary import TaskRow, why_not
from orchestrator.views.models.work import Attempt, AttemptStep, LinkedStep, TaskPart, WorkChanges
from orchestrator.views.objections import Urgency
from state.journal import events as e
from state.journal.events import RunStarted, Stored
from state.journal.view import RunView
from state.words import alike


def decided_for(rows: Iterable[CriterionRow], decisions: Iterable[Decision]) -> dict[str, int]:
    """Return how many decisions were made for the tasks of each criterion, by its id."""
    made = [one.task_id for one in answered(decisions)]
    return {row.id: sum(task_id in row.tasks for task_id in made) for row in rows}


def answered(decisions: Iterable[Decision]) -> list[Decision]:
    """Return the decisions that were made without the user and hold."""
    return [one for one in decisions if one.answer and not (one.parked or one.rejected or one.is_yours)]


def grouped(points: Iterable[Point]) -> list[list[Point]]:
    """Return the points to look at, those of one sort together, in the order of the first ones."""
    return alike(points, lambda one: (one.urgency, one.kind))


def gaps_in(points: Iterable[Point]) -> list[Point]:
    """Return the points about something that was not checked."""
    return [point for point in points if point.urgency is Urgency.UNPROVEN]


def merged_commits(works: Iterable[WorkChanges]) -> dict[str, str]:
    """Return the merged commit of each task that has one, by its id."""
    return {work.task_id: work.commit for work in works if work.merged}


def task_part(
    story: RunFacts,
    row: TaskRow,
    attempts: Iterable[Attempt],
    works: Iterable[WorkChanges],
    now: datetime,
    *,
    active: bool,
) -> TaskPart:
    """Return all about the task of a row.

    Args:
        row: the task in a line.
        attempts: those to show.
        works: the changes of the run's merges.
        now: this moment.
        active: whether a process works on the run.
    """
    return TaskPart(
        id=row.id,
        title=row.title,
        description=story.view.tasks[row.id].task.description,
        stage=row.stage,
        now=row.now,
        cost_usd=row.cost_usd,
        seconds=row.seconds,
        seq=row.seq,
        attempts=tuple(attempts),
        work=tuple(work for work in works if work.task_id == row.id),
        why=tuple(why_not(story, row.id, now, active=active)),
    )


_STEPS = (
    e.VerificationFinished,
    e.GateDecided,
    e.ChecksDecided,
    e.ReviewRecorded,
    e.ReviewUnusable,
    e.CheckpointReviewed,
    e.ActionRefused,
    e.TaskCommitted,
    e.MergeConflicted,
    e.MergeFailed,
    e.TaskMerged,
    e.TaskReopened,
    e.TaskStuck,
    e.TaskFailed,
    e.TaskUnverified,
)
_WITH_WORDS = (e.GuidanceGiven, e.MergeBuilt)  # steps if there are words of an agent


def attempt_of(view: RunView, history: AttemptHistory) -> Attempt:
    """Return an attempt with its main steps."""
    return _attempt(history, (step for stored in history.events for step in _steps(view, stored)))


def whole_attempt(view: RunView, history: AttemptHistory) -> Attempt:
    """Return an attempt with a step for each of its events, newest first."""
    return _attempt(history, (step for stored in history.events[::-1] for step in _linked(view, stored)))


def _attempt(history: AttemptHistory, steps: Iterable[AttemptStep]) -> Attempt:
    ended_at = history.ended_at
    return Attempt(
        number=history.number,
        seq=history.seq,
        began_at=history.began_at,
        seconds=(ended_at - history.began_at).total_seconds() if ended_at else None,
        ended=history.ended,
        steps=tuple(steps),
    )


def _steps(view: RunView, stored: Stored) -> Iterator[AttemptStep]:
    if not isinstance(stored.event, _STEPS + _WITH_WORDS):
        return
    for one in describe(view, stored):
        words, tone = one.words, one.words.tone
        who, said = _quoted(words)
        if said or isinstance(stored.event, _STEPS):
            yield AttemptStep(
                seq=one.seq, at=one.at, what=_what(stored, words), tone=tone, who=who, words=said
            )


def _linked(view: RunView, stored: Stored) -> Iterator[LinkedStep]:
    for one in reversed(describe(view, stored)):
        words, (who, said) = one.words, _quoted(one.words)
        yield LinkedStep(
            seq=one.seq,
            at=one.at,
            what=_what(stored, words),
            tone=words.tone,
            who=who,
            words=said,
            quotes=tuple(
                one for one in words.quotes if one.text and (one.place is Place.MORE or one.who != who)
            ),
            changes=words.changes,
            call_id=words.call_id,
        )


def _what(stored: Stored, words: Words) -> str:
    of = "" if isinstance(stored.event, e.VerificationFinished) else words.of
    return words.text + (f" ({of})" if of else "")


def _quoted(words: Words) -> tuple[str, str]:
    """Return the first one who is quoted, and the words."""
    quotes = [one for one in words.quotes if one.place is not Place.MORE and one.text]
    who = quotes[0].who if quotes else ""
    return who, "\n".join(one.text for one in quotes if one.who == who)


_HOMES = re.compile(r"(?:/home/|/Users/|[A-Za-z]:\\Users\\)[^/\\\s:'\"`]+|/root(?=[/\s:'\"`]|$)")
_NAME = r"[^/\s:'\"`]+"
_END = r"(?![\w.-])"
_CUT_OFF = re.compile(r"/[^\s'\"`…]*(?=…)")
_R = TypeVar("_R")
_VERBATIM = frozenset({"patch", "spec_lines"})  # the work and the spec are shown as they are


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportLimits:
    """The most of a report. `text`: characters of one text, `rows`: of one table, `events`: of the index."""

    text: int = 4_000
    rows: int = 1_000
    events: int = 5_000
    diff_bytes: int = 400_000


LIMITS = ReportLimits()
SMALLER = (
    ReportLimits(text=1_000, rows=300, events=1_000, diff_bytes=100_000),
    ReportLimits(text=300, rows=60, events=200, diff_bytes=0),
)
MOST_BYTES = 5_000_000


def path_remover(started: RunStarted | None) -> Callable[[str], str]:
    """Return a function that takes the paths of a run's machine out of a text, and the homes of its users."""
    steps: list[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]] = []
    if started and started.worktrees:
        worktrees = re.escape(started.worktrees)
        steps.append((re.compile(rf"{worktrees}/{_NAME}/"), ""))
        steps.append((re.compile(rf"{worktrees}(?:/{_NAME})?{_END}"), "."))
    if started and started.repository.strip("/"):
        repository = re.escape(started.repository)
        steps.append((re.compile(f"{repository}/"), ""))
        steps.append((re.compile(f"{repository}{_END}"), "."))
    whole = (started.worktrees, started.repository) if started else ()
    steps.append((_CUT_OFF, lambda cut: "" if any(one.startswith(cut[0]) for one in whole) else cut[0]))
    steps.append((_HOMES, "~"))

    def without_paths(text: str) -> str:
        if "/" in text or "\\" in text:
            for pattern, new in steps:
                text = pattern.sub(new, text)
        return text

    return without_paths


def each_text(record: _R, change: Callable[[str], str]) -> _R:
    """Return a record with each of its texts changed, those in records, tuples and mappings inside too."""
    changed: _R = _changed(record, change)
    return changed


def _changed(value: Any, change: Callable[[str], str]) -> Any:  # noqa: ANN401  any value of a record
    if type(value) is str:
        return change(value)
    if isinstance(value, tuple):
        return tuple(_changed(one, change) for one in value)
    if isinstance(value, dict):
        return {key: _changed(one, change) for key, one in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        new = {
            one.name: _changed(getattr(value, one.name), change)
            for one in fields(value)
            if one.name not in _VERBATIM
        }
        return replace(value, **new)
    return value


def clipper(most: int, where: str) -> Callable[[str], str]:
    """Return a function that cuts a long text and says how much is left out, and where all of it is."""

    def clipped(text: str) -> str:
        if len(text) <= most:
            return text
        return f"{text[:most]} … [{len(text) - most:,} more characters: {where}]"

    return clipped
