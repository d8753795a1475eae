"""The records of a timeline: a lane a task, with bars and folded idle times."""

from dataclasses import dataclass
from datetime import datetime


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """All lanes. `seconds` is the time from the first to the last moment, idle times included."""

    lanes: tuple[TimelineLane, ...]
    folds: tuple[Fold, ...]
    seconds: float
    began_at: datetime | None
