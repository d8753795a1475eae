"""Measures the cost of work on many tasks at once: waiting, the order of starts, and a long journal.

    python -m benchmarks.parallel [--only makespan,schedule,journal]

makespan: rehearsed runs on the real CLI, one task and eight independent ones on as many places, whose model
takes two seconds for each reply. `makespan_ratio` is eight by one, from the first start to the last merge.

schedule: random graphs of tasks played on `next_moves` with known durations. `schedule_ratio` is the mean of
the time taken divided by the lower bound, which is the longest path or all work divided by the places.

journal: 100,000 events as a run stores them. `fold_s` is the time to read, decode and fold all of them, the
median of a few. `append_growth` is the median time of an append after them divided by that after 1,000, in
turns.

The last line is JSON with these figures and their parts.
"""

import gc
import heapq
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import mean, median

import click

from benchmarks.figures import print_figures
from benchmarks.rehearsed import Callers, agreeing, calls, own_home, rehearse, reports, request_for
from benchmarks.watching import made_run
from orchestrator.run.moves import next_moves
from state.journal import events as e
from state.journal.events.tasks import Stage, TaskView
from state.journal.fold.fold import fold
from state.journal.store import Journal, JournalReader
from state.outcome import Outcome
from state.records.plan import Task
from state.settings.sources import user_file

PARTS = ("makespan", "schedule", "journal")
SETTINGS = {"effort": "low", "verify": ("sleep 0.2",), "budget": "none"}
REPLIES = 4  # of each Worker
SEED = 20260131
FEW = 1_000
READINGS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTiming:
    """Seconds of a run: from its first task's start to the last merge, in all, and of processors."""

    tasks: float
    wall: float
    cpu: float


@click.command()
@click.option("--only", default=",".join(PARTS), show_default=True, help="What is measured.")
@click.option("--tasks", default=8, show_default=True, help="Independent tasks, and places for them.")
@click.option("--reply-s", default=2.0, show_default=True, help="How long the model takes for each reply.")
@click.option("--pairs", default=1, show_default=True, help="Times that one task and many are run.")
@click.option("--graphs", default=200, show_default=True, help="Random graphs.")
@click.option("--events", default=100_000, show_default=True, help="Of the long journal.")
@click.option("--appends", default=400, show_default=True, help="Measured, to each journal.")
def main(only: str, tasks: int, reply_s: float, pairs: int, graphs: int, events: int, appends: int) -> None:
    """Measure many tasks at once."""
    asked = [part.strip() for part in only.split(",")]
    if unknown := set(asked) - set(PARTS):
        raise click.BadParameter(f"{', '.join(sorted(unknown))}; known are {', '.join(PARTS)}")
    figures: dict[str, float] = {}
    with own_home() as folder:
        if "journal" in asked:
            figures |= _measure_journal(folder, events, appends)
        if "schedule" in asked:
            figures |= _measure_schedule(graphs)
        if "makespan" in asked:
            figures |= _measure_makespan(folder, tasks, reply_s, pairs)
    print_figures(figures)


# --- runs with one task and with many -----------------------------------------------------------------------


def _measure_makespan(folder: Path, tasks: int, reply_s: float, pairs: int) -> dict[str, float]:
    ones, manys = [], []
    for pair in range(pairs):
        ones.append(timed_run(folder / f"one-{pair}", 1, places=tasks, reply_s=reply_s))
        manys.append(timed_run(folder / f"many-{pair}", tasks, places=tasks, reply_s=reply_s))
    ratio = median(many.tasks / one.tasks for one, many in zip(ones, manys, strict=True))
    sides = {"one": ones, "many": manys}
    spans = {"s": "tasks", "wall_s": "wall", "cpu_s": "cpu"}
    seconds = {
        f"{side}_{name}": round(median(getattr(run, span) for run in runs), 2)
        for name, span in spans.items()
        for side, runs in sides.items()
    }
    return {"makespan_ratio": round(ratio, 3), **seconds, "tasks": tasks, "cpus": os.cpu_count() or 1}


def timed_run(folder: Path, tasks: int, *, places: int, reply_s: float) -> RunTiming:
    """Run independent tasks on so many places, in a new folder, without judges, by the home's settings."""
    config = user_file()
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text('[efforts.low]\npower_steering = "none"\n', "utf-8")
    folder.mkdir()
    callers = _callers([f"part{number}" for number in range(tasks)], reply_s)
    request = request_for(folder, callers, SETTINGS | {"max_parallel": places})
    used = _cpu_s()
    done = rehearse(request)
    cpu = _cpu_s() - used
    starts = [each.at for each in done.stored if isinstance(each.event, e.TaskStarted)]
    merges = [each.at for each in done.stored if isinstance(each.event, e.TaskMerged)]
    if done.outcome is not Outcome.COMPLETE or (len(starts), len(merges)) != (tasks, tasks):
        sys.exit(f"a run with {tasks} task(s) was {done.outcome}, so nothing was measured:\n{done.shown}")
    return RunTiming(tasks=(max(merges) - min(starts)).total_seconds(), wall=done.seconds, cpu=cpu)


def _cpu_s() -> float:
    """Processor seconds of this process and of its ended children."""
    spans = os.times()
    return spans.user + spans.system + spans.children_user + spans.children_system


def _callers(tasks: list[str], reply_s: float) -> Callers:
    late = {"misbehave": {"hang": "before-headers", "seconds": reply_s}}
    callers = agreeing(*tasks)
    callers["reviewer/final/*"], (passed,) = callers["reviewer/*"], callers.pop("reviewer/*")
    callers["reviewer/*"] = [passed | late]
    for id_ in tasks:
        write = calls("Write", file_path=f"{{workspace}}/{id_}.txt", content=f"{id_}\n" * 40)
        looks = [calls("Bash", command=f"wc -l {id_}.txt", description="Look") for _ in range(REPLIES - 2)]
        done = reports("task_complete", summary="Written.", tests="The file is there.")
        callers[f"worker/{id_}/*"] = [reply | late for reply in (write, *looks, done)]
    return callers


# --- the order of starts ------------------------------------------------------------------------------------


def _measure_schedule(graphs: int) -> dict[str, float]:
    random = Random(SEED)  # noqa: S311  the same graphs each time
    ratios = []
    for _ in range(graphs):
        tasks, places = _graph(random), random.randint(2, 8)
        ratios.append(_played(tasks, places) / _least(tasks, places))
    return {
        "schedule_ratio": round(mean(ratios), 4),
        "schedule_worst": round(max(ratios), 4),
        "graphs": graphs,
    }


def _graph(random: Random) -> dict[str, TaskView]:
    """Up to forty tasks, each of which needs some earlier ones."""
    ids = [f"t{number}" for number in range(random.randint(10, 40))]
    density = random.uniform(0.02, 0.3)
    return {
        id_: TaskView(
            Task(
                id=id_,
                title=id_,
                description="",
                dependencies=tuple(needed for needed in ids[:number] if random.random() < density),
                estimated_iterations=random.randint(1, 8),
            )
        )
        for number, id_ in enumerate(ids)
    }


def _played(tasks: dict[str, TaskView], places: int) -> int:
    """The time of the last merge, if a build takes as long as estimated and all else no time."""
    after = {
        Stage.WAITING: Stage.ACCEPTED,
        Stage.ACCEPTED: Stage.COMMITTED,
        Stage.COMMITTED: Stage.APPROVED,
        Stage.APPROVED: Stage.MERGED,
    }
    now, ends, busy = 0, list[tuple[int, str]](), set[str]()
    while True:
        for id_ in next_moves(tasks, busy, places):
            builds = tasks[id_].stage is Stage.WAITING
            busy.add(id_)
            heapq.heappush(ends, (now + (tasks[id_].task.estimated_iterations if builds else 0), id_))
        if not ends:
            break
        now, id_ = heapq.heappop(ends)
        busy.remove(id_)
        tasks[id_].stage = after[tasks[id_].stage]
    if any(task.stage is not Stage.MERGED for task in tasks.values()):
        sys.exit("a graph was not played to its end, so nothing was measured")
    return now


def _least(tasks: dict[str, TaskView], places: int) -> float:
    """The lower bound for the time of any order of starts."""
    path: dict[str, int] = {}
    for id_, task in tasks.items():  # dependencies come first
        before = max((path[needed] for needed in task.task.dependencies), default=0)
        path[id_] = before + task.task.estimated_iterations
    return max(*path.values(), sum(task.task.estimated_iterations for task in tasks.values()) / places)


# --- a long journal -----------------------------------------------------------------------------------------


def _measure_journal(folder: Path, events: int, appends: int) -> dict[str, float]:
    counts = {"short": min(FEW, events), "long": events}
    folders = {name: made_run(folder / name, events=count).folder for name, count in counts.items()}
    readings = sorted(_reading(folders["long"]) for _ in range(READINGS))
    total, read = readings[READINGS // 2]
    spans: dict[str, list[float]] = {"short": [], "long": []}
    with Journal(folders["short"]) as short, Journal(folders["long"]) as long:
        journals = {"short": short, "long": long}
        messages = [one.event for one in short.read() if isinstance(one.event, e.MessageReceived)]
        for number in range(appends):
            for name in sorted(journals, reverse=bool(number % 2)):
                began = time.perf_counter()
                journals[name].append(messages[number % len(messages)])
                spans[name].append(time.perf_counter() - began)
    return {
        "fold_s": round(total, 3),
        "read_s": round(read, 3),
        "append_growth": round(median(spans["long"]) / median(spans["short"]), 3),
        "append_short_ms": round(1000 * median(spans["short"]), 3),
        "append_long_ms": round(1000 * median(spans["long"]), 3),
        "events": events,
    }


def _reading(folder: Path) -> tuple[float, float]:
    """Seconds until a run's view is ready, and those of them until its events are read."""
    gc.collect()
    began = time.perf_counter()
    with JournalReader(folder) as journal:
        stored = journal.read()
    read = time.perf_counter() - began
    view = fold(stored)
    total = time.perf_counter() - began
    if view.clock.last_seq != len(stored) or not view.calls:
        sys.exit("the journal was not read, so nothing was measured")
    return total, read


if __name__ == "__main__":
    main()
