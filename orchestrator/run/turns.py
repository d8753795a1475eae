"""Commands of a run take turns: as many at once as the processors of this machine carry.

A command counts as many processors as it used at the base, or could have used. One that is not known counts
all: a wait costs time, and two suites that want the whole machine cost each other's results. Who is nearest
to being merged comes first, and nobody overtakes the first one, so that a large command is not put off for
ever.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

import anyio

from agents.process.usage import processors
from state.journal.events.tasks import Stage
from state.journal.view import RunView

ALONE = math.inf  # processors of a command that nothing runs beside
_ROUNDING = 1.1  # a single thread and its starter measure a little more than one processor
_NEAREST = (Stage.APPROVED, Stage.ACCEPTED, Stage.COMMITTED)
_of_task: ContextVar[str] = ContextVar("of_task", default="")


@dataclass(slots=True, kw_only=True, eq=False)
class Turn:
    """One command. `share`: its processors, 0 for one that does not count. `rank`: the least comes first.

    `came` is set when it may run. `beside`: another one ran meanwhile.
    """

    share: float
    rank: Callable[[], int] = int
    command: str = ""
    came: anyio.Event = field(default_factory=anyio.Event)
    beside: bool = False


class Turns:
    """Who runs and who waits. `most`: the processors that those who run may want together."""

    def __init__(self, most: float | None = None) -> None:
        """Begin with nobody."""
        self._most = (processors() if most is None else most) * _ROUNDING
        self.running: list[Turn] = []
        self._waiting: list[Turn] = []

    def ask(self, turn: Turn) -> None:
        """Let a command run as soon as it may. Its `came` is set at once if that is now."""
        self._waiting.append(turn)
        self._admit()

    def leave(self, turn: Turn) -> None:
        """Let the others go on: this one has ended, or waits no longer."""
        (self.running if turn in self.running else self._waiting).remove(turn)
        self._admit()

    def _admit(self) -> None:
        is_held = False
        for turn in sorted(self._waiting, key=lambda one: one.rank()):
            if is_held and turn.share:
                continue
            if not self._fits(turn):
                is_held = True
                continue
            self._waiting.remove(turn)
            for one in self.running:
                one.beside = turn.beside = True
            self.running.append(turn)
            turn.came.set()

    def _fits(self, turn: Turn) -> bool:
        return not self.running or turn.share + sum(one.share for one in self.running) <= self._most


@contextmanager
def commands_of(task_id: str) -> Iterator[None]:
    """Commands that begin in this block are for this task."""
    before = _of_task.set(task_id)
    try:
        yield
    finally:
        _of_task.reset(before)


def current_task() -> str:
    """Return the task whose commands begin here, "" for those of the run itself."""
    return _of_task.get()


def distance(view: RunView, task_id: str) -> int:
    """Return how far the work is from being merged: 0 is the whole or a merge, 3 a set-up before the work."""
    task = view.tasks.get(task_id)
    if task is None:
        return 0
    if task.stage in _NEAREST:
        return 0 if task.stage is Stage.APPROVED else 1
    return 2 if task.open.calls else 3
