"""The records of a timeline: a lane a task, with bars and folded idle times, and what the time went to."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from orchestrator.views.words import duration
from state.roles import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bar of a lane. `start` and `width` are shares of the whole width, from 0 to 1.

    `good` is None if the span has no result, `spans` the number of spans that it stands for.
    """

    what: str
    start: float
    width: float
    seconds: float
    good: bool | None
    seq: int
    spans: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineLane:
    """The bars of one task, or of the whole (empty `task_id`), in the order of their starts."""

    task_id: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """An idle time that is folded away, at `start` (0 to 1), `seconds` long."""

    start: float
    width: float
    seconds: float


class TimeUse(StrEnum):
    """What takes the time of a run: what sq waits for, or sq itself.

    Those of sq's own (`OWN_USES`) have only the moments in which it waits for nothing.
    """

    MODEL = "model"  # sessions, with the commands that agents run in them, and single requests
    COMMANDS = "commands"  # of the project, run by sq
    SET_UP = "set-up"
    WAITING = "waiting"  # for limits of the API, another set-up, `sq resume`, a person before the work
    PLACES = "making places"  # in set-ups and the baseline, between their commands
    CHECKING = "checking work"  # of a task or the whole, between calls and commands: trees, sources
    MERGING = "merging"
    SQ = "sq itself"  # all moments without any of these


OWN_USES = frozenset({TimeUse.CHECKING, TimeUse.PLACES, TimeUse.MERGING, TimeUse.SQ})


@dataclass(frozen=True, slots=True, kw_only=True)
class TimePart:
    """The time for one use. `seconds` is its part of the run's time: uses side by side share a moment.

    So the parts add up to the run's time. `added_up_s` counts each place in full.
    """

    use: TimeUse
    seconds: float
    added_up_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """All lanes. `seconds` is the time from the first to the last moment, idle times included."""

    lanes: tuple[TimelineLane, ...]
    folds: tuple[Fold, ...]
    seconds: float
    began_at: datetime | None
    parts: tuple[TimePart, ...] = ()


_KINDS = (*map(str, Role), "merge")
COMMANDS = "commands"  # baseline, set-up, verification: run by sq itself


def bar_kind(what: str) -> str:
    """Return the class of a bar: a role, `merge`, or `commands` for all that sq runs itself."""
    first = what.split(" ", 1)[0]
    return first if first in _KINDS else COMMANDS


def bar_kinds(shown: Timeline) -> list[str]:
    """Return the kinds that a timeline has, for its legend."""
    found = {bar_kind(bar.what) for lane in shown.lanes for bar in lane.bars}
    return [kind for kind in (*_KINDS, COMMANDS) if kind in found]


def lane_words(lane: TimelineLane) -> str:
    """Return a lane as a sentence: its kinds of work, each with its number and time."""
    parts = []
    for kind in (*_KINDS, COMMANDS):
        bars = [bar for bar in lane.bars if bar_kind(bar.what) == kind]
        if bars:
            times = sum(bar.spans for bar in bars)
            parts.append(f"{kind} {times} times, {duration(sum(bar.seconds for bar in bars))}")
    return f"{lane.task_id or 'the whole'}: {'; '.join(parts) or 'nothing'}"
