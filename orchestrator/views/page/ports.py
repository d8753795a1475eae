"""How the parts of the page see a run, and all runs, without knowing how they are read."""

from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

import anyio

from orchestrator.views.models.history import RunFacts
from orchestrator.views.models.summary import RunSummary

Regions = dict[str, str]  # HTML by the id of its element, in the order of the page


@dataclass(frozen=True, slots=True)
class FeedItem:
    """An event in the words of the story."""

    seq: int
    at: datetime
    lines: tuple[str, ...]


class LiveRun(Protocol):
    """A run that is kept up to date.

    `active`: a process works on it. `heard_at` is the time of its newest event. `problem` is why its journal
    cannot be read any more. `changed` is set and replaced when there is something new.
    """

    folder: Path
    options: str
    feed: deque[FeedItem]
    active: bool
    heard_at: datetime | None
    problem: str
    changed: anyio.Event

    @property
    def story(self) -> RunFacts:
        """Its state and its past."""
        ...

    @property
    def seq(self) -> int:
        """The place of the newest event that is folded."""
        ...

    @property
    def now(self) -> datetime:
        """This moment in steps, or that of the last event if no process works on the run."""
        ...

    @property
    def tick(self) -> datetime:
        """The next step after this moment."""
        ...

    def regions(self, key: object, render: "Render") -> Regions:
        """Return the regions of one page of this run. Clients with the same key share one rendering."""
        ...


Render = Callable[[LiveRun], Regions]


class LiveRuns(Protocol):
    """All runs of a state folder. `stopping` is set when the server ends."""

    stopping: anyio.Event

    @property
    def place(self) -> str:
        """The path of the state folder."""
        ...

    @property
    def is_full(self) -> bool:
        """Whether there are as many streams as there may be."""
        ...

    def get(self, run_id: str) -> LiveRun | None:
        """Return a run, up to date, or None if there is none with exactly this id."""
        ...

    def watched(self, run_id: str) -> AbstractContextManager[LiveRun | None]:
        """Keep a run current while the block runs."""
        ...

    def stream(self) -> AbstractContextManager[None]:
        """Count a stream while the block runs."""
        ...

    def summaries(self) -> tuple[list[RunSummary], int]:
        """Return the newest runs in short, newest first, and the number of older ones."""
        ...

    def stop(self) -> None:
        """End all streams."""
        ...
