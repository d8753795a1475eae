"""What a run will probably cost and how long it will take."""

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """In USD and seconds: half of such runs end below `…_p50`, nine of ten below `…_p90`.

    `runs` is the number of earlier runs that it rests on, 0 if it follows from the limits of the preset.
    `basis` says in words what it rests on. `tasks` is the number of tasks of the plan, 0 before there is one.
    """

    usd_p50: float
    usd_p90: float
    seconds_p50: float
    seconds_p90: float
    basis: str
    runs: int = 0
    tasks: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRun:
    """A run that has ended, as far as forecasts need it. `seconds` are those in which processes worked on it.

    `repository` is its `repository_mark`. `turns` are those that its plan estimated for all tasks, and
    `chain` those of the longest chain of tasks that depend on each other. Both are 0 without a plan.
    """

    run_id: str
    repository: str
    effort: str
    workflow: str
    worker: str
    rehearsal: bool
    turns: int
    chain: int
    usd: float
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastBasis:
    """What forecasts of one run rest on: earlier runs, newest first, and the repository of this one."""

    past: tuple[PastRun, ...]
    repository: str
    rehearsal: bool


def repository_mark(repository: str) -> str:
    """Return a name for a repository that does not tell its path."""
    return hashlib.sha256(repository.encode(errors="surrogatepass")).hexdigest()[:12]
