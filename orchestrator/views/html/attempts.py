"""The attempts at a task step by step: for the report the main steps, for the page all with their links."""

from collections.abc import Iterable, Iterator

from orchestrator.views.descriptions.describe import describe
from orchestrator.views.descriptions.description import Place, Words
from orchestrator.views.models.history import AttemptHistory
from orchestrator.views.models.work import Attempt, AttemptStep, LinkedStep
from state.journal import events as e
from state.journal.events import Stored
from state.journal.view import RunView

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
