"""The records of tasks: as rows in groups, and as lanes of a timeline with bars and folded idle times."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from state.journal.task_view import Stage


class Group(StrEnum):
    """The groups of tasks, in the order in which views show them."""

    NEEDS_YOU = "needs you"
    ENDED_BADLY = "not finished"
    WORKING = "working"
    WAITING = "waiting"
    MERGED = "merged"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRow:
    """One task in a line.

    `now` is its present action, or the thing it waits for, or the reason of its end. `seconds` is the time in
    its present stage while it works, else from its start to its end, and None if it never began. `iteration`
    counts exchanges of the newest attempt. `seq` is the place of the event that brought its present stage.
    `needs` are the tasks on which it depends.
    """

    id: str
    title: str
    group: Group
    stage: Stage
    now: str
    attempt: int
    iteration: int
    cost_usd: float
    seconds: float | None
    open_findings: int
    seq: int
    needs: tuple[str, ...] = ()


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
