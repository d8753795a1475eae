"""Requests for a run and its resumption, and the surroundings in which they are fulfilled."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from agents.process.containment import Containment, detect_containment
from orchestrator.views.run.look import Look
from state.journal.store import Journal
from state.settings.sources import Flags

OpenJournal = Callable[..., Journal]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """A request for `sq run`. `flags` are settings: key → (the flag's name, its value)."""

    spec: Path
    folder: Path
    flags: Flags = field(default_factory=dict)
    allow_dirty: bool = False
    edit_dirty: bool = False
    dry_run: bool = False
    rehearse: Path | None = None
    state_dir: Path | None = None


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """The surroundings of a run. Tests inject faults here, by another journal."""

    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    open_journal: OpenJournal = Journal
    look: Look = field(default_factory=Look)

    @cached_property
    def containment(self) -> Containment:
        """How process trees are ended here, detected once."""
        return detect_containment(self.environ)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoOn:
    """The limits and settings of a resumed run from now on, and the ended tasks that it tries again.

    `verify`, `models` (role → alias), `questions` and `sandbox` replace the run's former ones. Empty and None
    mean as before.
    """

    budget_usd: float | None = None
    max_iterations: int | None = None
    retry: tuple[str, ...] = ()
    verify: tuple[str, ...] = ()
    models: Mapping[str, str] = field(default_factory=dict)
    questions: str | None = None
    sandbox: str | None = None
