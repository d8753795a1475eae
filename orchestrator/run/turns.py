"""Commands of a run take turns: as many at once as the processors of this machine carry.

A command counts as many processors as it used at the base, or could have used. One that is not known counts
all: a wait costs time, and two suites that want the whole machine cost each other's results. The command of
the work that is nearest to being merged is first in the queue. The others stay behind it, so that a large
command gets its turn.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import anyio

from orchestrator.run.purpose import PROOFS
from state.journal.events import CommandStarted
from state.journal.events.tasks import Stage
from state.journal.view import RunView

ALONE = math.inf  # processors of a command that nothing runs beside
_ROUNDING = 1.1  # a single thread and its starter measure a little more than one processor


@dataclass(slots=True, kw_only=True, eq=False)
class Turn:
    """One command. `share`: its processors, 0 for one that does not count. Of `rank` the least comes first.

    `came` is set when it may run. `beside`: another one ran meanwhile.
    """

    command: str
    share: float
    rank: Callable[[], int]
    came: anyio.Event = field(default_factory=anyio.Event)
    beside: bool = False


class Turns:
    """Who runs and who waits, on a machine with so many processors."""

    def __init__(self, processors: float) -> None:
        """Begin with an empty queue."""
        self.processors = processors
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
            if (is_held and turn.share) or not self._fits(turn):
                is_held = True
                continue
            self._waiting.remove(turn)
            for one in self.running:
                one.beside = turn.beside = True
            self.running.append(turn)
            turn.came.set()

    def _fits(self, turn: Turn) -> bool:
        wanted = turn.share + sum(one.share for one in self.running)
        return not self.running or wanted <= self.processors * _ROUNDING


def distance(view: RunView, about: CommandStarted) -> int:
    """Return how far work is from being merged.

    0 is a merge or the whole, 1 an accepted claim, 2 one that is verified already, 3 another claim, and 4 a
    set-up before the work.
    """
    task = view.tasks.get(about.task_id)
    if task is None or task.stage is Stage.APPROVED:
        return 0
    if task.stage in {Stage.ACCEPTED, Stage.COMMITTED}:
        return 1
    if about.purpose == PROOFS:
        return 2
    return 3 if task.open.calls else 4
