"""The host of a worker, as the work on a submission needs it."""

import os
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import sqlalchemy as sa
import structlog

from agents.access import find_credentials
from agents.api_key import read_key
from agents.process.containment import Containment, detect_containment
from agents.process.sandbox.choice import why_not_whole
from agents.session.claude_code import find_cli
from orchestrator.fleet.ledger import FleetLedger
from orchestrator.fleet.policy import WorkerPolicy
from orchestrator.fleet.port import Engine
from orchestrator.fleet.records import Submission
from orchestrator.fleet.transport import DATABASE
from state.errors import SqError, UsageError
from state.redaction.places import known_in, known_in_files
from state.redaction.redactor import Redactor, redactor

log = structlog.get_logger(__name__)
Answer = TypeVar("Answer")

CHECKPOINT_S = 60.0
_AGAIN_S = 2.0  # between tries while the database is away
_NOT_FOR_RUNS = (DATABASE, "PGPASSWORD", "PGPASSFILE")


class MovedError(SqError):
    """The run was put down and pushed, so that another worker goes on with it."""


@dataclass(kw_only=True)
class Host:
    """What the work on a submission needs of its worker. `draining` is set by it, and never unset."""

    executor: str
    name: str
    root: Path
    policy: WorkerPolicy
    engine: Engine
    ledger: FleetLedger
    containment: Containment
    sq: tuple[str, ...]
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    checkpoint_s: float = CHECKPOINT_S
    draining: threading.Event = field(default_factory=threading.Event)

    def environment(self, home: Path) -> dict[str, str]:
        """Return the environment of sq, which keeps its state in `home` and knows no database."""
        kept = {name: value for name, value in self.environ.items() if name not in _NOT_FOR_RUNS}
        return kept | {"XDG_STATE_HOME": str(home)}

    def redactor_for(self, checkout: Path) -> Redactor:
        """Return what takes the secrets of this host out of texts."""
        key: dict[str, str] = {}
        with suppress(UsageError):
            found = read_key(self.environ)
            key = dict(found.variables) if found else {}
        home = Path(self.environ.get("HOME") or Path.home())
        database = {name: self.environ[name] for name in _NOT_FOR_RUNS if name in self.environ}
        return redactor({**self.environ, **key}, [*known_in_files(home, checkout), *known_in(database)])

    def reserve(self, asked: Submission) -> str:
        """Reserve the budget of a run, and return why it does not begin, or ""."""

        def reserved() -> float | None:
            return self.ledger.reserve(asked.id, asked.pool, asked.budget_usd)

        if reserved() is None:
            return ""
        self.ledger.settle_abandoned(self.engine)
        if (left := reserved()) is None:
            return ""
        cost = f"${asked.budget_usd:.2f}" if asked.budget_usd else "any sum, as it has no budget"
        return (
            f"the budget {asked.pool} of the fleet has ${left:.2f} left, and this run may cost {cost}. "
            f"Raise it (`sq fleet budget {asked.pool} USD`), then `sq fleet retry {asked.id}`"
        )

    def patiently(self, act: Callable[[], Answer]) -> Answer:
        """Return what `act` returns, as soon as the database is there.

        Raises:
            MovedError: the worker is to stop meanwhile.
        """
        while True:
            try:
                return act()
            except sa.exc.SQLAlchemyError as error:
                log.warning("fleet.database.away", error=type(error).__name__)
                if self.draining.wait(_AGAIN_S):
                    raise MovedError("the database is away") from error


def credentials_problem(environ: Mapping[str, str]) -> str:
    """Return why no model can be asked from here, or ""."""
    try:
        find_credentials(read_key(environ), environ, cli=find_cli())
    except UsageError as error:
        return str(error)
    return ""


def sandbox_problem(environ: Mapping[str, str]) -> str:
    """Return why no run can have the whole sandbox here, or ""."""
    return why_not_whole(detect_containment(environ), environ)
