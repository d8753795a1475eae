"""The database of a fleet, as a command has it: where it lies, and that DBOS is installed."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from state.errors import UsageError

if TYPE_CHECKING:
    from orchestrator.fleet.ledger import FleetLedger, WorkerRow
    from orchestrator.fleet.records import Engine, Progress, Unit

DATABASE = "SQ_FLEET_DATABASE"
_AGAIN_S = 2.0
_LABEL = re.compile(r"[a-z0-9][a-z0-9-]{0,30}")
_MOST_LABELS = 5
Answer = TypeVar("Answer")


def fleet_root() -> Path:
    """Return the folder where a worker keeps mirrors and runs, and a database of SQLite lies."""
    import platformdirs

    return platformdirs.user_state_path("sq", appauthor=False) / "fleet"


def database_url() -> str:
    """Return the address of the database: the variable, or a file of this user's.

    Raises:
        UsageError: the extra is missing, or the address is none.
    """
    if not _is_installed():
        from agents.sdks import extra_command, this_place

        command = extra_command("fleet", this_place())
        raise UsageError(f"DBOS, which `sq fleet` needs, is not installed. Install it with `{command}`")
    url = os.environ.get(DATABASE, "").strip() or f"sqlite:///{fleet_root() / 'fleet.db'}"
    import sqlalchemy as sa

    try:
        parsed = sa.make_url(url)
    except (ValueError, sa.exc.ArgumentError):
        parsed = None
    if not (parsed and parsed.database and parsed.drivername in {"postgresql", "sqlite"}):
        raise UsageError(
            f"{DATABASE} is no address of a database. Write postgresql://USER@HOST/NAME or sqlite:////FILE"
        )
    return url


def _is_installed() -> bool:
    try:
        return find_spec("dbos") is not None
    except ModuleNotFoundError:
        return False


def shown_url(url: str) -> str:
    """Return the address of a database without its password."""
    import sqlalchemy as sa

    return sa.make_url(url).render_as_string(hide_password=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """The engine and sq's own tables of one database."""

    url: str
    engine: "Engine"
    ledger: "FleetLedger"

    def patiently(self, ask: Callable[[], Answer]) -> Answer:
        """Return an answer of the database, as soon as it is there."""
        import sqlalchemy as sa
        from tenacity import Retrying, retry_if_exception_type, wait_fixed

        away = retry_if_exception_type(sa.exc.SQLAlchemyError)
        return Retrying(retry=away, wait=wait_fixed(_AGAIN_S))(ask)

    def living(self) -> "list[WorkerRow]":
        """Return the workers that hold their locks."""
        from orchestrator.fleet.liveness import locks_of

        locks = locks_of(self.url, self.ledger.database)
        workers = self.ledger.workers()
        dead = {one.executor for one in workers if locks.take(one.executor)}
        for executor in dead:
            locks.give(executor)
        return [one for one in workers if one.executor not in dead]

    def find(self, name: str) -> "Unit":
        """Return the submission with this id, a beginning of it, or the id of its run.

        Raises:
            UsageError: there is none, or several fit.
        """
        units, progress = self.engine.units(), self.ledger.progress()
        runs = {id_: one.run for id_, one in progress.items()}
        fitting = [one for one in units if one.id.startswith(name) or (runs.get(one.id) or "-") == name]
        if len(fitting) != 1:
            found = "several submissions fit" if fitting else "no such submission"
            raise UsageError(f"{name}: {found} in {shown_url(self.url)}. `sq fleet list` shows all")
        return fitting[0]


@contextmanager
def opened() -> Iterator[Fleet]:
    """Provide the fleet of this user or of `SQ_FLEET_DATABASE`.

    Raises:
        UsageError: the database does not answer.
    """
    url = database_url()
    import sqlalchemy as sa

    from orchestrator.fleet.dbos_engine import DbosEngine
    from orchestrator.fleet.ledger import FleetLedger

    try:
        with closing(DbosEngine(url)) as engine:
            yield Fleet(url=url, engine=engine, ledger=FleetLedger(engine.database))
    except sa.exc.SQLAlchemyError as error:
        said = [*str(getattr(error, "orig", error)).strip().splitlines(), type(error).__name__][0]
        raise UsageError(f"the database {shown_url(url)} does not answer: {said}. Is it running?") from error


def row_of(unit: "Unit", progress: "Progress | None") -> dict[str, Any]:
    """Return a submission as JSON values."""
    report, asked = unit.report, unit.submission
    return {
        "id": unit.id,
        "state": unit.state.value,
        "phase": progress.phase if progress and unit.state.value == "working" else "",
        "outcome": report.outcome.value if report else "",
        "exit_code": unit.exit_code,
        "run": report.run if report else progress.run if progress else "",
        "branch": report.branch if report else "",
        "commit": report.commit if report else "",
        "pull_request": report.pull_request if report else "",
        "problem": report.problem if report else unit.error,
        "cost_usd": report.cost_usd if report else progress.cost_usd if progress else 0.0,
        "merged": progress.merged if progress else 0,
        "tasks": progress.tasks if progress else 0,
        "claims": progress.claims if progress else 0,
        "worker": (progress.executor if progress else "") or unit.executor,
        "repository": asked.repository,
        "base": asked.base,
        "title": asked.title,
        "labels": list(asked.labels),
        "priority": asked.priority,
        "pool": asked.pool,
        "budget_usd": asked.budget_usd,
        "submitted_at": unit.submitted_at,
    }


def state_of(row: dict[str, Any]) -> str:
    """Return how a submission stands, in a word or two."""
    phase = f"{row['phase']} {row['merged']}/{row['tasks']}" if row["phase"] else row["state"]
    return str(row["outcome"] or phase)


def checked_labels(labels: Sequence[str]) -> tuple[str, ...]:
    """Return labels in the order of their queue.

    Raises:
        click.BadParameter: one is none, or there are too many.
    """
    if wrong := next((one for one in labels if not _LABEL.fullmatch(one)), None):
        raise click.BadParameter(
            f"{wrong!r} is no label. Write small letters, digits and -", param_hint="--label"
        )
    if len(set(labels)) > _MOST_LABELS:
        raise click.BadParameter(f"at most {_MOST_LABELS} labels", param_hint="--label")
    return tuple(sorted(set(labels)))
