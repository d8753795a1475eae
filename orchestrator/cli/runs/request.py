"""Requests for a run and its resumption, and the surroundings in which they are fulfilled."""

import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Protocol, Self

from agents.access import Credentials
from agents.api_key import ApiKey, read_key, take_key
from agents.process.containment import Containment, detect_containment
from agents.process.sandbox.choice import Choice, SandboxLevel
from agents.session.exchange import OpenTransport
from orchestrator.cli.runs.credentials import credentials_of
from orchestrator.cli.runs.notes import how_exposed
from orchestrator.views.run.look import Look
from state.errors import UsageError
from state.journal.store import Journal
from state.redaction.known import Known
from state.redaction.places import known_in, known_in_files
from state.redaction.redactor import Redact, Redactor, redactor
from state.settings.records import Settings
from state.settings.sources import Flags

OpenJournal = Callable[..., Journal]


class EndReport(Protocol):
    """Reports on a run at the end of its process."""

    async def leave(self, run_folder: Path, look: Look, redact: Redact) -> None:
        """Write the report into the run's folder, and tell where it is."""
        ...

    def tell(self, run_folder: Path, look: Look) -> None:
        """Tell where the report is, if there is one."""
        ...


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
class RunEnvironment:
    """The surroundings of a run. Tests inject faults here, by another journal.

    `taken` are the variables of the API key, which are no longer in the environment, and `addresses` those of
    notices and telemetry. `known` are further secrets, which they hold. The terminal
    rings at the end of a process that works on a run for longer than `long_s` seconds. Without `end_report`
    no report is written. With `transport`, sessions are played in this process
    (`agents.session.exchange.Start`).
    """

    taken: Mapping[str, str] = field(default_factory=lambda: take_key(os.environ), repr=False)
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    open_journal: OpenJournal = Journal
    look: Look = field(default_factory=Look)
    addresses: Mapping[str, str] = field(default_factory=dict, repr=False)
    known: tuple[Known, ...] = field(default=(), repr=False)
    long_s: float = 60.0
    end_report: EndReport | None = None
    transport: OpenTransport | None = None

    @cached_property
    def containment(self) -> Containment:
        """How process trees are ended here, detected once."""
        return detect_containment(self.environ)

    @cached_property
    def key(self) -> ApiKey | None:
        """The user's API key, read once.

        Raises:
            UsageError: its file cannot be read.
        """
        return read_key(self.taken)

    def credentials(self, *, rehearsed: bool) -> Credentials:
        """Return the credentials of a run.

        Raises:
            UsageError: there are none, or the address of the API is none.
        """
        return Credentials.REHEARSAL if rehearsed else credentials_of(self.key, self.environ)

    def holding_back(self, names: Collection[str]) -> Self:
        """Return surroundings whose environment lacks these variables. `addresses` has their values.

        They are taken out of this process's environment too, which the SDK passes on to sessions.
        """
        values = {name: self.environ[name] for name in names if name in self.environ}
        for name in names:
            os.environ.pop(name, None)
        left = {name: value for name, value in self.environ.items() if name not in values}
        return replace(self, environ=left, addresses=values, known=known_in(values))

    def how_exposed(self, settings: Settings, credentials: Credentials, choice: Choice) -> str:
        """Return how agents could read the API key, and the remedy, or ""."""
        if credentials is not Credentials.API_KEY:
            return ""
        hidden = self.containment is Containment.NAMESPACES or choice.level is SandboxLevel.WHOLE
        return how_exposed(self.key, settings, hidden=hidden)

    def redactor_for(self, checkout: Path) -> Redactor:
        """Return the function that replaces every secret in a text by its name.

        It knows those of the environment, of the files that usually hold some, and of the checkout.
        """
        try:
            key = self.key.variables if self.key else {}
        except UsageError:  # said where the key is needed: a rehearsal needs none
            key = {}
        home = Path(self.environ.get("HOME") or Path.home())
        return redactor({**self.environ, **key}, [*known_in_files(home, checkout), *self.known])


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
