"""A run at one moment, as the parts of the screen get it."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from orchestrator.views.models.history import EventLines, RunFacts
from state.journal.events import Stored


@dataclass(slots=True)
class Snapshot:
    """A run at one moment: the newest, or that of an earlier event. `seq` is the place of its last event."""

    story: RunFacts
    told: list[EventLines] = field(default_factory=list)
    seq: int = 0


class WatchedRun(Protocol):
    """A run that is followed by reading alone. A journal that cannot be read any more is a `problem`."""

    folder: Path
    newest: Snapshot
    active: bool
    problem: str

    @property
    def run_id(self) -> str:
        """The run's id."""
        ...

    @property
    def is_over(self) -> bool:
        """Whether nothing more is expected."""
        ...

    def take(self) -> list[Stored]:
        """Read the events that are new, and return them."""
        ...

    def look(self) -> None:
        """Look whether the journal is still there, and whether a process writes it."""
        ...

    async def changed(self) -> bool:
        """Wait until another process has written to the journal. False: it cannot be read any more."""
        ...

    def mark(self) -> None:
        """Remember the journal's state, so that `changed` waits for one after it."""
        ...

    def at(self, seq: int) -> Snapshot:
        """Return the run as it was right after the event at this place."""
        ...

    def messages(self, moment: Snapshot, task_id: str, most: int) -> list[Stored]:
        """Return the newest messages of all calls for a task, in order. "" is the run as a whole."""
        ...

    def close(self) -> None:
        """Close the journal."""
        ...
