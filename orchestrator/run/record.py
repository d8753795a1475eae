"""A run under way: its recorded events and the view that follows from them, and the means to act.

`Run.record` stores events and then applies them, so no action follows an event that was not stored.
"""

import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import anyio

from agents.backend import Platform
from orchestrator.checks.bench import ScratchWorktree
from orchestrator.run.ports import Commands, Integration, Person, Places
from state.journal.events import Event, HostsUsed, ProofsTaken, RunStarted, Stored, VerificationFinished
from state.journal.events.tasks import TaskView
from state.journal.view import RunView
from state.records.commands import CommandRun
from state.records.plan import ForecastBasis
from state.settings.presets import usual_settings
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


class Verify(Protocol):
    """Runs the project's commands on a tree (`orchestrator.run.evidence.verification`)."""

    async def __call__(self, run: "Run", *, task_id: str, folder: Path, tree: str) -> VerificationFinished:
        """Return the result for this tree: this process's earlier one in the same environment, or a new one.

        Args:
            run: the run.
            task_id: the task of this tree, or "" for the merged whole.
            folder: the folder in which commands run without worktrees: the checkout.
            tree: the tree to verify.
        """
        ...


class TakeProofs(Protocol):
    """Checks the worth of a verification (`orchestrator.run.evidence.proof`)."""

    async def __call__(
        self, run: "Run", finished: VerificationFinished, *, task_id: str, base: str
    ) -> ProofsTaken:
        """Check each command that passed on a tree, and record the results.

        Args:
            run: the run.
            finished: the commands' results on the tree.
            task_id: the task of this work, or "" for the merged whole.
            base: the tree that the work began with.
        """
        ...


class ScratchPlaces(Protocol):
    """Gives folders for commands on a tree. `afresh`: without what commands have left there."""

    def __call__(
        self, run: "Run", tree: str, *, afresh: bool = False
    ) -> AbstractAsyncContextManager[ScratchWorktree]:
        """Yield such a folder until the context is left."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceSources:
    """The ways to evidence. `scratch_worktree` makes a folder for commands on a tree.

    `have_outputs`: whether commands have left something in such folders that a later one may find.
    """

    scratch_worktree: ScratchPlaces
    have_outputs: Callable[["Run"], Awaitable[bool]]
    verify: Verify
    take_proofs: TakeProofs


@dataclass(slots=True, kw_only=True)
class Run:
    """Record, view and means of one run."""

    recorder: Record
    folder: Path
    platform: Platform
    places: Places
    integration: Integration
    commands: Commands
    evidence: EvidenceSources
    person: Person | None = None  # on a terminal, before the work
    forecast_basis: ForecastBasis | None = None
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    scratch: ScratchWorktrees = field(default_factory=ScratchWorktrees)
    making_ready: anyio.Lock = field(default_factory=anyio.Lock)  # one set-up after the other
    changed: anyio.Event = field(default_factory=anyio.Event)  # set and renewed as events are stored
    under_way: dict[str, anyio.CancelScope] = field(default_factory=dict)  # by task, "" is the run's own step
    checked: list[str] = field(default_factory=list)  # tasks whose claims are being checked, in this order
    answered: dict[tuple[str, str, tuple[str, ...]], CommandRun] = field(
        default_factory=dict
    )  # of this process, by tree, command and files of tests, () for all

    @property
    def view(self) -> RunView:
        """The run as its events describe it now."""
        return self.recorder.view

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
        return self.view.settings or self.platform.settings

    @property
    def effort(self) -> Effort:
        """How much this run spends on being sure."""
        return self.settings.effort

    @property
    def limits(self) -> Limits:
        """The limits of this run."""
        return self.settings.limits

    @property
    def max_iterations(self) -> int:
        """How many iterations a task may take."""
        return self.view.process.max_iterations or self.limits.max_iterations

    @property
    def repository(self) -> Path:
        """The user's checkout."""
        return Path(self.started.repository)

    def task(self, task_id: str) -> TaskView:
        """Return the view of a task."""
        return self.view.tasks[task_id]


def settings_of(started: RunStarted) -> Settings:
    """Return the settings of a run. A run of an older sq named only its preset and commands."""
    return started.settings or usual_settings(started.effort, started.verify)
