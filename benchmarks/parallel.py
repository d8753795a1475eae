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

import contextlib
import gc
import heapq
import io
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from random import Random
from statistics import mean, median
from typing import Any

import click
import yaml

from orchestrator.cli.runs.compose import run_new
from orchestrator.cli.runs.request import RunEnvironment, RunRequest
from orchestrator.run.machine import next_moves
from state.journal import events as e
from state.journal.events.tasks import Stage, TaskView
from state.journal.fold.fold import fold
from state.journal.store import Journal, JournalReader
from state.outcome import Outcome
from state.paths import StateFolder
from state.records.calls import CallEnd, Message, MessageKind, Usage
from state.records.commands import CommandRun
from state.records.plan import Task
from state.records.reviews import Finding, ReviewIssue
from state.roles import Role
from state.settings.records import Confinement
from state.settings.sources import user_file
from state.verdicts import Verdict

PARTS = ("makespan", "schedule", "journal")
EFFORT = "low"
VERIFY = ("sleep 0.2",)
REPLIES = 4  # of each Worker
SEED = 20260131
BATCH = 1_000  # events of one append while a journal is filled
FEW = 1_000
READINGS = 5
WORDS = "The next module follows from the one before, and its tests say what it does for its caller. "


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
    with tempfile.TemporaryDirectory(prefix="sq-bench-", ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary)
        if "journal" in asked:
            figures |= _measure_journal(folder, events, appends)
        if "schedule" in asked:
            figures |= _measure_schedule(graphs)
        if "makespan" in asked:
            figures |= _measure_makespan(folder, tasks, reply_s, pairs)
    print(f"{'figure':<20} {'value':>10}")
    for name, value in figures.items():
        print(f"{name:<20} {value:>10}")
    print(json.dumps(figures))


# --- runs with one task and with many -----------------------------------------------------------------------


def _measure_makespan(folder: Path, tasks: int, reply_s: float, pairs: int) -> dict[str, float]:
    os.environ["HOME"] = os.environ["CLAUDE_CONFIG_DIR"] = str(folder)
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "ANTHROPIC_API_KEY"):
        os.environ.pop(name, None)
    config = user_file()
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(f'[efforts.{EFFORT}]\nreview_plan = false\npower_steering = "none"\n', "utf-8")
    ones, manys = [], []
    for pair in range(pairs):
        ones.append(_timed_run(folder / f"one-{pair}", 1, places=tasks, reply_s=reply_s))
        manys.append(_timed_run(folder / f"many-{pair}", tasks, places=tasks, reply_s=reply_s))
    return {
        "makespan_ratio": round(
            median(many.tasks / one.tasks for one, many in zip(ones, manys, strict=True)), 3
        ),
        "one_s": round(median(run.tasks for run in ones), 2),
        "many_s": round(median(run.tasks for run in manys), 2),
        "one_wall_s": round(median(run.wall for run in ones), 2),
        "many_wall_s": round(median(run.wall for run in manys), 2),
        "one_cpu_s": round(median(run.cpu for run in ones), 2),
        "many_cpu_s": round(median(run.cpu for run in manys), 2),
        "tasks": tasks,
        "cpus": os.cpu_count() or 1,
    }


def _timed_run(folder: Path, tasks: int, *, places: int, reply_s: float) -> RunTiming:
    repository, spec, scenario = folder / "repository", folder / "spec.md", folder / "scenario.yaml"
    folder.mkdir()
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main", str(repository)], check=True)
    identity = ["-c", "user.name=benchmark", "-c", "user.email=benchmark@localhost"]
    start = ["commit", "--quiet", "--allow-empty", "-m", "Start"]
    subprocess.run(["git", "-C", str(repository), *identity, *start], check=True)
    spec.write_text("# Parts\n\nWrite a file for each part.\n", "utf-8")
    scenario.write_text(
        yaml.safe_dump(_scenario([f"part{number}" for number in range(tasks)], reply_s)), "utf-8"
    )
    given = {"effort": EFFORT, "verify": VERIFY, "max_parallel": places, "budget": "none"}
    flags = {key: (f"--{key}", value) for key, value in given.items()}
    shown = io.StringIO()
    began, used = time.perf_counter(), _cpu_s()
    with contextlib.redirect_stdout(shown):
        outcome = run_new(
            RunRequest(spec=spec, folder=repository, flags=flags, rehearse=scenario), RunEnvironment()
        )
    wall, cpu = time.perf_counter() - began, _cpu_s() - used
    with JournalReader(StateFolder(repository / ".sq").find(None)) as journal:
        stored = journal.read()
    starts = [each.at for each in stored if isinstance(each.event, e.TaskStarted)]
    merges = [each.at for each in stored if isinstance(each.event, e.TaskMerged)]
    if outcome is not Outcome.COMPLETE or (len(starts), len(merges)) != (tasks, tasks):
        sys.exit(f"a run with {tasks} task(s) was {outcome}, so nothing was measured:\n{shown.getvalue()}")
    return RunTiming(tasks=(max(merges) - min(starts)).total_seconds(), wall=wall, cpu=cpu)


def _cpu_s() -> float:
    """Processor seconds of this process and of its ended children."""
    spans = os.times()
    return spans.user + spans.system + spans.children_user + spans.children_system


def _scenario(tasks: list[str], reply_s: float) -> dict[str, Any]:
    plan = [
        {"id": id_, "title": id_, "description": f"Write {id_}.txt.", "estimated_iterations": 1}
        for id_ in tasks
    ]
    criteria = [{"text": f"{id_}.txt is there", "task_ids": [id_]} for id_ in tasks]
    passed = _reports("report_review", passed=True, issues=[], suggestions=[])
    late = {"misbehave": {"hang": "before-headers", "seconds": reply_s}}
    lanes: dict[str, Any] = {
        "planner/analysis/*": [_reports("report_analysis", project_type="parts", stack=[])],
        "planner/plan/*": [_reports("submit_plan", tasks=plan, criteria=criteria)],
        "reviewer/final/*": [passed],
        "reviewer/*": [passed | late],
    }
    for id_ in tasks:
        write = _calls("Write", file_path=f"{{workspace}}/{id_}.txt", content=f"{id_}\n" * 40)
        looks = [_calls("Bash", command=f"wc -l {id_}.txt", description="Look") for _ in range(REPLIES - 2)]
        done = _reports("task_complete", summary="Written.", tests="The file is there.")
        lanes[f"worker/{id_}/*"] = [reply | late for reply in (write, *looks, done)]
    return {"scenario": 1, "description": "a benchmark", "lanes": lanes}


def _calls(tool: str, **given: object) -> dict[str, Any]:
    return {"tools": [{"name": tool, "input": given}]}


def _reports(tool: str, **given: object) -> dict[str, Any]:
    """A report through a typed tool, which ends the turn."""
    return _calls(f"mcp__sq__{tool}", **given)


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
    _fill(folder / "short", min(FEW, events))
    _fill(folder / "long", events)
    readings = sorted(_reading(folder / "long") for _ in range(READINGS))
    total, read = readings[READINGS // 2]
    spans: dict[str, list[float]] = {"short": [], "long": []}
    with Journal(folder / "short") as short, Journal(folder / "long") as long:
        journals = {"short": short, "long": long}
        for number, event in enumerate(islice(_life(1), appends)):
            for name in sorted(journals, reverse=bool(number % 2)):
                began = time.perf_counter()
                journals[name].append(event)
                spans[name].append(time.perf_counter() - began)
    return {
        "fold_s": round(total, 3),
        "read_s": round(read, 3),
        "append_growth": round(median(spans["long"]) / median(spans["short"]), 3),
        "append_short_ms": round(1000 * median(spans["short"]), 3),
        "append_long_ms": round(1000 * median(spans["long"]), 3),
        "events": events,
    }


def _fill(folder: Path, events: int) -> None:
    folder.mkdir()
    life = islice(_life(8), events)
    with Journal(folder) as journal:
        while batch := list(islice(life, BATCH)):
            journal.append(*batch)


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


def _life(tasks: int) -> Iterator[e.Event]:
    """The events of an unfinished run with tasks in turn, mostly messages."""
    ids = [f"task-{number}" for number in range(tasks)]
    yield e.RunStarted(
        run_id="bench",
        spec_name="spec.md",
        spec_text=WORDS * 20,
        repository="/repository",
        worktrees="/worktrees",
        base_commit="c0",
        base_branch="main",
        effort=EFFORT,
        verify=VERIFY,
        rehearsal=None,
        credentials="api key",
        confined=Confinement(containment="supervisor"),
        sq_version="benchmark",
    )
    yield e.PlanAccepted(tasks=tuple(Task(id=id_, title=id_, description=WORDS) for id_ in ids), criteria=())
    for id_ in ids:
        yield e.TaskStarted(task_id=id_, branch=f"b/{id_}", worktree=f"/worktrees/{id_}", base_commit="c0")
    for number, id_ in enumerate(cycle(ids)):
        yield from _attempt(id_, number // tasks + 1)


def _attempt(task_id: str, attempt: int) -> Iterator[e.Event]:
    """Six iterations, of which only the last is accepted, and a review with findings."""
    place: dict[str, Any] = {"task_id": task_id, "attempt": attempt}
    tree = f"tree-{task_id}-{attempt}"
    yield e.AttemptStarted(**place, session_id=f"session-{task_id}-{attempt}", tree=tree)
    for iteration in range(1, 7):
        tree, last = f"{tree}{iteration}", iteration == 6  # noqa: PLR2004  that many
        yield from _call(Role.WORKER, task_id, attempt, iteration)
        yield e.IterationMeasured(**place, iteration=iteration, tree=tree)
        yield e.VerificationStarted(task_id=task_id, tree=tree, commands=VERIFY)
        ran = CommandRun(command=VERIFY[0], exit_code=int(not last), seconds=0.2, output_tail=WORDS * 3)
        yield e.VerificationFinished(task_id=task_id, tree=tree, runs=(ran,))
        verdict = Verdict.ALLOW if last else Verdict.BLOCK
        decided: dict[str, Any] = {"iteration": iteration, "gate": "verification", "verdict": verdict}
        yield e.GateDecided(**place, **decided, reason="" if last else WORDS, tree=tree)
        if not last:
            yield e.CompletionRefused(**place, iteration=iteration, feedback=WORDS, fingerprint=tree)
    yield e.CompletionAccepted(**place, tree=tree)
    yield e.TaskCommitted(**place, commit=f"commit-{task_id}-{attempt}", tree=tree)
    yield from _call(Role.REVIEWER, task_id, attempt, 1)
    issue = ReviewIssue(task_id=task_id, file="module.py", description=WORDS, suggestion=WORDS)
    commit = f"commit-{task_id}-{attempt}"
    yield e.ReviewRecorded(**place, commit=commit, passed=False, issues=(issue,))
    yield e.TaskReopened(
        task_id=task_id, issues=(issue,), findings=(Finding(id="f1", issue=issue),), by="the review"
    )


def _call(role: Role, task_id: str, attempt: int, iteration: int) -> Iterator[e.Event]:
    """An exchange of fifteen messages."""
    call_id = f"{role}-{task_id}-{attempt}-{iteration}"
    yield e.CallStarted(
        call_id=call_id,
        role=role,
        task_id=task_id,
        attempt=attempt,
        iteration=iteration,
        session_id=f"session-{task_id}-{attempt}",
        model="opus",
        prompt=WORDS * 6,
        reserved_usd=0.2,
        allowed_usd=3.0,
    )
    for number in range(5):
        for message in (
            Message(kind=MessageKind.TEXT, text=f"Step {number}: {WORDS * 2}"),
            Message(kind=MessageKind.TOOL_CALL, text=json.dumps({"command": WORDS * 2}), tool="Bash"),
            Message(kind=MessageKind.TOOL_RESULT, text=f"{WORDS}\n" * 6, tool="Bash"),
        ):
            yield e.MessageReceived(call_id=call_id, message=message)
    yield e.SignalReceived(call_id=call_id, name="task_complete", payload=json.dumps({"summary": WORDS}))
    usage = Usage(input_tokens=20_000, output_tokens=2_000, cache_read_tokens=90_000)
    yield e.CallEnded(
        call_id=call_id, end=CallEnd.COMPLETED, cost_usd=0.18, usage=usage, seconds=41.5, turns=6
    )


if __name__ == "__main__":
    main()
