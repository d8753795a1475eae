"""A run under way: its journal and the view folded from it, kept in step, and the means to act.

`Run.record` stores events and then applies them: nothing is acted on that was not stored.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agents.platform import Platform
from state.events import Event, RunStarted
from state.fold import RunView, TaskView, fold
from state.journal import Journal
from state.presets import Effort

MAX_ITERATIONS = 50  # per task
VERIFY_DEADLINE_S = 600.0  # one verification command


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a run may use up before it stops."""

    max_iterations: int = MAX_ITERATIONS
    verify_deadline_s: float = VERIFY_DEADLINE_S


@dataclass(slots=True, kw_only=True)
class Run:
    """Journal, view and means of one run. `not_dirt`: files of the checkout that are not the user's work."""

    journal: Journal
    folder: Path
    platform: Platform
    effort: Effort
    limits: Limits = field(default_factory=Limits)
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    not_dirt: list[Path] = field(default_factory=list)
    view: RunView = field(default_factory=RunView)

    def __post_init__(self) -> None:
        self.view = fold(self.journal.read())

    def record(self, *events: Event) -> None:
        """Store facts, all or none, and take them in.

        Raises:
            JournalError: they could not be stored.
        """
        for stored in self.journal.append(*events):
            self.view.apply(stored)

    @property
    def started(self) -> RunStarted:
        """What was asked of this run."""
        if self.view.started is None:
            raise RuntimeError("a run is recorded as started before it is worked on")
        return self.view.started

    @property
    def repository(self) -> Path:
        """The user's checkout."""
        return Path(self.started.repository)

    @property
    def reading_room(self) -> Path:
        """The worktree in which planners and the final review read; on the run's own branch."""
        return Path(self.started.worktrees) / "run"

    def task(self, task_id: str) -> TaskView:
        """The view of a task."""
        return self.view.tasks[task_id]
