"""A run under way: its recorded events and the view that follows from them, and the means to act.

`Run.record` stores events and then applies them, so no action follows an event that was not stored.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import anyio

from agents.backend import Platform
from orchestrator.checks.answers import Answers
from orchestrator.checks.bench import Bench
from orchestrator.checks.change import Change
from orchestrator.checks.results.verdict import Judged
from orchestrator.run.ports import Commands, Integration, Person, Places
from state.journal.events import Event, HostsUsed, RunStarted, Stored
from state.journal.events.tasks import TaskView
from state.journal.view import RunView
from state.records.commands import CommandRun
from state.records.plan import ForecastBasis
from state.settings.records import Effort, Limits, Settings


@dataclass(slots=True)
class ScratchWorktrees:
    """The scratch worktrees of this process that are not in use, and how many were made.

    `shown` are the trees that commands ran on last, by folder. `seals` are the digests of what is kept of
    set-ups, by the key of the step. `failed` are trees and keys of steps that failed.
    """

    free: list[Path] = field(default_factory=list)
    made: int = 0
    shown: dict[Path, str] = field(default_factory=dict)
    seals: dict[str, str] = field(default_factory=dict)
    failed: set[tuple[str, str]] = field(default_factory=set)


class Record(Protocol):
    """The events of a run and the view that follows from them (`state.journal.recorder`)."""

    @property
    def view(self) -> RunView:
        """The view after the newest event."""
        ...

    def record(self, *events: Event) -> None:
        """Store events, all or none, and apply them to the view.

        Raises:
            JournalError: they could not be stored.
        """
        ...

    def for_model(self, text: str) -> str:
        """Return a text as a model may read it: without known secrets."""
        ...

    def read(self) -> list[Stored]:
        """Return all events, in order."""
        ...


class AnswersAbout(Protocol):
    """Asks all checks about a work (`orchestrator.checks.order`)."""

    async def __call__(
        self, change: Change, bench: Bench, results: Sequence[Judged], *, again: bool = False
    ) -> Answers:
        """Return the answers. `again`: those that last are known, and are not asked for."""
        ...


@dataclass(slots=True, kw_only=True)
class Trial:
    """The part of a run that tries work: record, view, places and commands, without agents."""

    recorder: Record
    folder: Path
    commands: Commands
    # Given where a run is put together: imported by name, they would make a chain of 14 modules (D46).
    bench_of: Callable[["Trial"], Bench]
    answers_about: AnswersAbout
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    scratch: ScratchWorktrees = field(default_factory=ScratchWorktrees)
    making_ready: anyio.Lock = field(default_factory=anyio.Lock)  # one set-up after the other
    changed: anyio.Event = field(default_factory=anyio.Event)  # set and renewed as events are stored
    answered: dict[tuple[str, str, tuple[str, ...]], CommandRun] = field(
        default_factory=dict
    )  # of this process, by tree, command and files of tests, () for all

    @property
    def view(self) -> RunView:
        """The run as its events describe it now."""
        return self.recorder.view

    @property
    def bench(self) -> Bench:
        """The places and commands of this run for the checks, with what it knows already."""
        return self.bench_of(self)

    def record(self, *events: Event) -> None:
        """Store events, all or none, and apply them to the view.

        Raises:
            JournalError: they could not be stored.
        """
        self.recorder.record(*events)
        changed, self.changed = self.changed, anyio.Event()
        changed.set()

    async def until(self, holds: Callable[[RunView], bool]) -> None:
        """Wait until the view fulfils a condition."""
        while not holds(self.view):
            await self.changed.wait()

    def record_hosts(self) -> None:
        """Record which hosts sandboxes of this run used since this was done last, if any."""
        if uses := self.commands.hosts_used():
            self.record(HostsUsed(hosts=uses))

    @property
    def started(self) -> RunStarted:
        """The event with everything that was asked of this run."""
        if self.view.started is None:
            raise RuntimeError("a run is recorded as started before it is worked on")
        return self.view.started

    @property
    def settings(self) -> Settings:
        """The settings of this run now."""
        return self.view.settings or self.started.settings

    @property
    def effort(self) -> Effort:
        """How much this run spends on being sure."""
        return self.settings.effort

    @property
    def limits(self) -> Limits:
        """The limits of this run."""
        return self.settings.limits

    @property
    def repository(self) -> Path:
        """The user's checkout."""
        return Path(self.started.repository)


@dataclass(slots=True, kw_only=True)
class Run(Trial):
    """Record, view and means of one run."""

    platform: Platform
    places: Places
    integration: Integration
    person: Person | None = None  # on a terminal, before the work
    forecast_basis: ForecastBasis | None = None
    under_way: dict[str, anyio.CancelScope] = field(default_factory=dict)  # by task, "" is the run's own step
    checked: list[str] = field(default_factory=list)  # tasks whose claims are being checked, in this order

    @property
    def max_iterations(self) -> int:
        """How many iterations a task may take."""
        return self.view.process.max_iterations or self.limits.max_iterations

    def task(self, task_id: str) -> TaskView:
        """Return the view of a task."""
        return self.view.tasks[task_id]
