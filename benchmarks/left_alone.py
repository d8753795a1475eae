"""What a run needs that nobody watches: each part measures figures of its own, on rehearsed runs.

`python -m benchmarks.left_alone` prints the figures of all parts and their goals, `--quick` fewer runs, and
`--only PART` one part. A part is a function that takes whether it is quick and returns its figures. It is
added with one line in `PARTS`, and its goals with one line each in `AT_LEAST` or `AT_MOST`.
"""

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from statistics import median

from benchmarks import left_alone_night as night
from benchmarks.figures import of_tests
from benchmarks.rehearsed import (
    Callers,
    Rehearsed,
    Reply,
    agreeing,
    calls,
    own_home,
    rehearse,
    reports,
    request_for,
)
from orchestrator.cli.runs.plans import plan_of
from orchestrator.cli.runs.reported import FilesAtEnd
from orchestrator.cli.runs.request import BeforeWork, RunRequest
from state.journal.events import ForecastMade, PlanAccepted
from state.records.plan import Forecast

_scripted = of_tests("language.scripted_agent")

Figures = Mapping[str, float]


# --- a plan that is given back -----------------------------------------------------------------------------


def plan_round_trip(quick: bool) -> Figures:
    """Return whether all plans give the same events when their files are built unedited."""
    shapes = _SHAPES[3:4] if quick else _SHAPES
    return {"plan_round_trip_equal": all(map(_comes_back, shapes))}


def _comes_back(shape: "Shape") -> bool:
    with own_home() as home:
        first = _rehearsed(_request(home / "first", shape, Random(0)))  # noqa: S311
        request = _request(home / "second", shape, Random(0))  # noqa: S311
        plan = home / "plan.toml"
        plan.write_text(plan_of(first.view, str(plan)), "utf-8")
        second = _rehearsed(replace(request, before=BeforeWork(plan=plan)))
    return bool(_plans(first)) and _plans(first) == _plans(second)


def _plans(run: Rehearsed) -> list[PlanAccepted]:
    return [one.event for one in run.stored if isinstance(one.event, PlanAccepted)]


# --- forecasts ---------------------------------------------------------------------------------------------

Shape = tuple[
    tuple[str, int, tuple[str, ...]], ...
]  # of each task: its name, its turns, the tasks that it needs
_SHAPES: tuple[Shape, ...] = (
    (("one", 1, ()),),
    (("one", 3, ()),),
    (("one", 1, ()), ("two", 1, ())),
    (("one", 2, ()), ("two", 1, ("one",))),
    (("one", 1, ()), ("two", 1, ()), ("three", 2, ("one", "two"))),
    (("one", 1, ()), ("two", 2, ()), ("three", 1, ()), ("four", 1, ("three",))),
)
_RUNS, _FEW = 40, 4


def forecasts(quick: bool) -> Figures:
    """Return how often the ends of runs lie within their forecasts, for cost and time together.

    The runs have six shapes in random order. Workers need more turns or fewer than their plan estimates, and
    their tokens vary. Each run knows those before it. The first has no experience and is left out.
    """
    chance, found = Random(11), []  # noqa: S311  the same runs each time
    with own_home() as home:
        for number in range(_FEW if quick else _RUNS):
            run = _rehearsed(_request(home / f"run {number}", chance.choice(_SHAPES), chance))
            forecast = [one.event.forecast for one in run.stored if isinstance(one.event, ForecastMade)][-1]
            if forecast.runs:
                found.append((forecast, run.view.cost_usd, run.view.clock.worked_s))
    ends = [end for one in found for end in _ends(*one)]
    return {
        "forecast_p90_share": sum(value <= most for _, value, most in ends) / len(ends),
        "forecast_band_share": sum(half <= value <= most for half, value, most in ends) / len(ends),
        "forecast_width": median(most / half for half, _, most in ends),
        "cost_band_share": sum(half <= value <= most for half, value, most in ends[::2]) / len(found),
        "time_band_share": sum(half <= value <= most for half, value, most in ends[1::2]) / len(found),
    }


def _ends(forecast: Forecast, usd: float, seconds: float) -> list[tuple[float, float, float]]:
    """Return half, end and nine of ten, for cost and for time."""
    return [
        (forecast.usd_p50, usd, forecast.usd_p90),
        (forecast.seconds_p50, seconds, forecast.seconds_p90),
    ]


def _request(folder: Path, shape: Shape, chance: Random) -> RunRequest:
    tasks = [
        {
            "id": id_,
            "title": id_,
            "description": f"Write {id_}.txt.",
            "estimated_iterations": turns,
            "dependencies": [*needs],
        }
        for id_, turns, needs in shape
    ]
    callers: Callers = agreeing(*(id_ for id_, _, _ in shape), tasks=tasks)
    for id_, turns, _ in shape:
        callers[f"worker/{id_}/*"] = _worker(id_, max(1, turns + chance.choice((-1, 0, 0, 1, 2))))
    request = request_for(folder, callers, {"verify": ("true",), "merge": False, "sandbox": "off"})
    scenario = (folder / "scenario.yaml").read_text("utf-8")
    usage = (
        f"usage: {{input_tokens: {chance.randint(2_000, 6_000)}, output_tokens: {chance.randint(200, 600)}}}"
    )
    (folder / "scenario.yaml").write_text(f"{scenario}{usage}\n", "utf-8")
    return request


def _worker(id_: str, turns: int) -> list[Reply]:
    """Return the replies of a Worker that writes in each of its turns, and claims completion in the last."""
    replies: list[Reply] = []
    for turn in range(1, turns + 1):
        replies.append(calls("Write", file_path=f"{{workspace}}/{id_}.txt", content=f"{id_} {turn}\n"))
        done = reports("task_complete", summary="Done.", tests="None.")
        replies.append(done if turn == turns else reports("iteration_done", done=f"Turn {turn}."))
    return replies


def _rehearsed(request: RunRequest) -> Rehearsed:
    return rehearse(request, _scripted.played, end_report=FilesAtEnd())


# --- the parts ---------------------------------------------------------------------------------------------

PARTS: dict[str, Callable[[bool], Figures]] = {
    "plan": plan_round_trip,
    "forecast": forecasts,
    **night.PARTS,
}
AT_LEAST: dict[str, float] = {
    "plan_round_trip_equal": 1.0,
    "forecast_p90_share": 0.85,
    "forecast_band_share": 0.35,
    **night.AT_LEAST,
}
AT_MOST: dict[str, float] = {
    "forecast_width": 3.0,
    **night.AT_MOST,
}


def measured(parts: Mapping[str, Callable[[bool], Figures]], *, quick: bool) -> dict[str, float]:
    """Return the figures of these parts, each of which has a home of its own."""
    figures: dict[str, float] = {}
    for part in parts.values():
        with own_home():
            figures |= part(quick)
    return figures


def missed(figures: Figures, *, quick: bool) -> list[str]:
    """Return the names of the figures that miss their goals. Quick parts have fewer runs to count."""
    counts = night.AT_LEAST if quick else {}
    low = [
        name for name, goal in AT_LEAST.items() if name in figures.keys() - counts and figures[name] < goal
    ]
    return low + [name for name, goal in AT_MOST.items() if name in figures and figures[name] > goal]


def main() -> None:
    """Measure, print each figure with its goal, and end with code 1 if a goal is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.left_alone")
    parser.add_argument("--quick", action="store_true", help="fewer runs, in less than a minute")
    parser.add_argument("--only", choices=sorted(PARTS), action="append", help="this part alone. Repeatable")
    given = parser.parse_args()
    chosen = {name: part for name, part in PARTS.items() if name in (given.only or PARTS)}
    figures = measured(chosen, quick=given.quick)
    low_or_high = missed(figures, quick=given.quick)
    for name, value in figures.items():
        goal = f"  goal ≥ {AT_LEAST[name]:g}" if name in AT_LEAST else ""
        goal = f"  goal ≤ {AT_MOST[name]:g}" if name in AT_MOST else goal
        print(f"{name:<28} {value:>10.3f}{goal}{': missed' if name in low_or_high else ''}")
    print(json.dumps(figures))
    sys.exit(bool(low_or_high))


if __name__ == "__main__":
    main()
