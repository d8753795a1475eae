"""What a run will probably cost and how long it will take."""

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
