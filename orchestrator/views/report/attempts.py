"""The attempts at a task, and the index of events: descriptions with the places that they rest on."""

from collections.abc import Collection, Iterable, Iterator

from orchestrator.views.descriptions.describe import describe
from orchestrator.views.descriptions.description import Place, Words
from orchestrator.views.models.history import AttemptHistory
from orchestrator.views.report.contents import Attempt, IndexRow, ReportStep
from orchestrator.views.words import short
from state.journal import events as e
from state.journal.events import Stored
from state.journal.view import RunView

_SHOWN = 160  # characters of a row of the index
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
    """Return an attempt as it is shown."""
    ended_at = history.ended_at
    return Attempt(
        number=history.number,
        seq=history.seq,
        began_at=history.began_at,
        seconds=(ended_at - history.began_at).total_seconds() if ended_at else None,
        ended=history.ended,
        steps=tuple(step for stored in history.events for step in _steps(view, stored)),
    )


def _steps(view: RunView, stored: Stored) -> Iterator[ReportStep]:
    if not isinstance(stored.event, _STEPS + _WITH_WORDS):
        return
    for one in describe(view, stored):
        who, words = _quoted(one.words)
        if words or isinstance(stored.event, _STEPS):
            of = "" if isinstance(stored.event, e.VerificationFinished) else one.words.of
            what = one.words.text + (f" ({of})" if of else "")
            yield ReportStep(seq=one.seq, at=one.at, what=what, tone=one.words.tone, who=who, words=words)


def _quoted(words: Words) -> tuple[str, str]:
    """Return the first one who is quoted, and the words."""
    quotes = [one for one in words.quotes if one.place is not Place.MORE and one.text]
    who = quotes[0].who if quotes else ""
    return who, "\n".join(one.text for one in quotes if one.who == who)


def index_of(
    view: RunView, events: Iterable[Stored], most: int, needed: Collection[int]
) -> tuple[tuple[IndexRow, ...], int]:
    """Return the rows of the index, and how many events are left out.

    Args:
        view: the run at its end.
        events: its events without messages.
        most: of the rows. The first and the last events are kept, and all that are needed.
        needed: places of events that the report refers to.
    """
    every = list(events)
    if len(every) > most:
        half = most // 2
        kept = {stored.seq for stored in (*every[:half], *every[len(every) - half :])} | set(needed)
        shown = [stored for stored in every if stored.seq in kept]
    else:
        shown = every
    return tuple(_row(view, stored) for stored in shown), len(every) - len(shown)


def _row(view: RunView, stored: Stored) -> IndexRow:
    described = describe(view, stored)
    found = [one for one in described if one.words.is_told] or described
    return IndexRow(
        seq=stored.seq,
        at=stored.at,
        name=type(stored.event).__name__,
        task_id=view.task_of(stored.event),
        text=short(found[0].words.line, _SHOWN) if found else "",
    )
