"""What a run needs that nobody watches: each part measures figures of its own, on rehearsed runs.

    python -m benchmarks.left_alone [--quick] [--only PART]

forecast: how often the ends of runs lie within their forecasts, for cost and time. deadlines: runs with a
deadline at a random point. `deadline_kept` counts those that merged and handed over all verified work in
time, nothing unverified, and could be resumed to their end. `late_s_max` is how long after its deadline a
process ended. kills: processes of kept runs killed at random moments, while words are said and notices are
sent. `keep_doubled` counts moments at which two processes of Claude Code had one session. Those with a
deadline play Claude Code in their process, those that are killed start the real one.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from statistics import median
from typing import Any, TypeVar

import psutil  # type: ignore[import-untyped]

from agents.claude_code.executable import find_cli
from benchmarks.figures import ROOT, of_tests
from benchmarks.rehearsed import (
    SQ,
    Callers,
    Reply,
    agreeing,
    calls,
    git,
    own_home,
    rehearse,
    reports,
    request_for,
)
from orchestrator.cli.runs.reported import FilesAtEnd
from orchestrator.cli.runs.request import RunRequest
from state.errors import UsageError
from state.inbox import WordKind, leave, new_word
from state.journal.events import (
    CallStarted,
    CompletionAccepted,
    ForecastMade,
    NoticeSent,
    Stored,
    WordSaid,
    WorkKept,
)
from state.journal.events.tasks import Stage
from state.journal.fold.fold import fold
from state.journal.store import JournalReader
from state.paths import StateFolder
from state.records.plan import Forecast

Figures = Mapping[str, float]
T = TypeVar("T")
PLAYED_SQ = [sys.executable, "-I", str(ROOT / "tests" / "language" / "played_sq.py")]
TASKS = ("one", "two", "three", "four")
LIMIT_S, EXIT_LIMIT = 180.0, 4
_BESIDE = 3  # runs at once: they mostly wait
_KILLS_OF_A_RUN = 4


def later(reply: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Return a reply that comes after so many seconds."""
    return {**reply, "misbehave": {"hang": "before-headers", "seconds": round(seconds, 2)}}


def writing(name: str, text: str) -> dict[str, Any]:
    """Return a reply that writes a file."""
    return calls("Write", file_path=f"{{workspace}}/{name}", content=text)


def claim() -> dict[str, Any]:
    """Return a claim of completion."""
    return reports("task_complete", summary="Done.", tests="All pass.")


def begun(folder: Path, callers: Callers, sq: list[str], *flags: str) -> "subprocess.Popen[str]":
    """Begin a run of these callers in `folder`."""
    request = request_for(folder, callers, {})
    request.folder.joinpath("sq.toml").write_text(
        (folder / "sq.toml").read_text() if (folder / "sq.toml").exists() else ""
    )
    command = [*sq, "run", "--spec", str(request.spec), "--plain", "--effort", "low", "--verify", "true"]
    return subprocess.Popen(
        [*command, "--rehearse", str(request.rehearse), *flags],
        cwd=request.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def events_of(folder: Path) -> list[Stored]:
    """Return the events of the newest run in a repository, none if there is none yet."""
    try:
        with JournalReader(StateFolder(folder / "repository" / ".sq").find(None)) as journal:
            return journal.read()
    except UsageError:
        return []


def of(stored: list[Stored], kind: type[T]) -> list[tuple[Stored, T]]:
    """Return the events of a kind, each with its place and time."""
    return [(one, one.event) for one in stored if isinstance(one.event, kind)]


@contextmanager
def no_longer(process: "subprocess.Popen[str]") -> Iterator[None]:
    """Kill a process that outlives the block."""
    try:
        yield
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


# --- forecasts ----------------------------------------------------------------------------------------------

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
    scripted = of_tests("language.scripted_agent")
    chance, found = Random(11), []  # noqa: S311  the same runs each time
    with own_home() as home:
        for number in range(_FEW if quick else _RUNS):
            request = _request(home / f"run {number}", chance.choice(_SHAPES), chance)
            run = rehearse(request, scripted.played, end_report=FilesAtEnd())
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


# --- deadlines ----------------------------------------------------------------------------------------------


def deadlines(quick: bool) -> Figures:
    """Run with a deadline at a random point, and resume without one."""
    count = 4 if quick else 30
    with own_home() as home, ThreadPoolExecutor(_BESIDE) as beside:
        found = list(beside.map(lambda seed: _deadline_run(home / str(seed), seed), range(count)))
    for seed, (_, _, problem) in enumerate(found):
        if problem:
            print(f"deadline, seed {seed}: {problem}", file=sys.stderr)
    return {
        "deadline_runs": len(found),
        "deadline_kept": sum(kept for kept, _, _ in found),
        "late_s_max": max(late_s for _, late_s, _ in found),
    }


def _deadline_run(folder: Path, seed: int) -> tuple[bool, float, str]:
    """Return whether a run kept its deadline, by how many seconds it missed it, and what was wrong."""
    drawn = random.Random(seed)  # noqa: S311  no secret
    callers = agreeing(*TASKS)
    callers["reviewer/*"] = [later(callers["reviewer/*"][0], drawn.uniform(0.05, 2))]
    for id_ in TASKS:
        work = later(writing(f"{id_}.txt", f"{id_}\n"), drawn.uniform(0.05, 8))
        callers[f"worker/{id_}/*"] = [work, claim()]
    deadline = datetime.now(UTC) + timedelta(seconds=drawn.uniform(8, 24))
    process = begun(folder, callers, PLAYED_SQ, "--deadline", deadline.isoformat())
    with no_longer(process):
        output, _ = process.communicate(timeout=LIMIT_S)
    late_s = (datetime.now(UTC) - deadline).total_seconds()
    problem = _kept_problem(events_of(folder), deadline, process.returncode)
    again = subprocess.run(
        [*PLAYED_SQ, "resume", "--plain", "--deadline", "none"],
        cwd=folder / "repository",
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_S,
    )
    if again.returncode and not problem:
        problem = f"the resumed run ended with {again.returncode}: {(again.stdout + again.stderr)[-500:]}"
    missing = {f"{id_}.txt" for id_ in TASKS} - {
        *git(folder / "repository", "ls-tree", "--name-only", "main").split()
    }
    problem = problem or (f"not merged in the end: {missing}" if missing else "")
    return not problem, max(0.0, late_s), problem and f"{problem}\n{output[-1500:]}"


def _kept_problem(stored: list[Stored], deadline: datetime, code: int | None) -> str:
    view = fold(stored)
    if view.ended is None:
        return f"the run has no end (exit code {code})"
    if code == 0:
        return ""
    if code != EXIT_LIMIT:
        return f"exit code {code}: {view.ended.cause}"
    accepted = {event.task_id for _, event in of(stored, CompletionAccepted)}
    merged = {id_ for id_, task in view.tasks.items() if task.stage is Stage.MERGED}
    if left := accepted - merged:
        return f"verified and not merged: {', '.join(left)}"
    verified = view.evidence.verifications.get(view.whole.tree)
    if merged and not (verified and all(one.passed for one in verified.runs)):
        return "the merged tree is not verified"
    kept = of(stored, WorkKept)
    if merged and not (kept and kept[-1][0].at <= deadline and kept[-1][1].commit == view.whole.commit):
        return "the merged work was not handed over in time"
    return ""


# --- killed processes ---------------------------------------------------------------------------------------


def kills(quick: bool) -> Figures:
    """Kill the process of kept runs at random moments, while words are said and notices are sent."""
    runs = 1 if quick else 20 // _KILLS_OF_A_RUN
    totals: Counter[str] = Counter()
    for seed in range(runs):
        with own_home() as home:
            totals += _killed_run(home, seed)
    if totals["failed"]:
        print(f"{totals['failed']} kept runs did not end complete", file=sys.stderr)
    return {
        name: totals[name] for name in ("kills", "keep_doubled", "said_twice", "notices_doubled", "failed")
    }


def _killed_run(home: Path, seed: int) -> "Counter[str]":
    drawn = random.Random(seed)  # noqa: S311  no secret
    told = home / "told.jsonl"
    command = json.dumps(f"cat >> {told}; echo >> {told}")
    (home / "sq.toml").write_text(f'[[notify]]\non = ["ended"]\ncommand = {command}\n')
    callers = agreeing("one", "two")
    for id_ in ("one", "two"):
        callers[f"worker/{id_}/*"] = [later(writing(f"{id_}.txt", "1\n"), 2), later(claim(), 1), claim()]
    found: Counter[str] = Counter()
    process = begun(home, callers, SQ, "--keep")
    with no_longer(process):
        due = time.monotonic() + drawn.uniform(2, 4)
        while process.poll() is None:
            found["keep_doubled"] += _doubled(home)
            if time.monotonic() > due and found["kills"] < _KILLS_OF_A_RUN and events_of(home):
                folder = StateFolder(home / "repository" / ".sq").find(None)
                leave(folder, new_word(WordKind.SAY, "bench", f"Word {found['kills']}."))
                time.sleep(drawn.uniform(0, 0.4))
                for child in psutil.Process(process.pid).children():
                    child.kill()
                    found["kills"] += 1
                due = time.monotonic() + drawn.uniform(1.5, 4)
            time.sleep(0.05)
        process.communicate()
    stored = events_of(home)
    found["failed"] += process.returncode != 0
    found["said_twice"] += _said_twice(stored)
    ids = (
        Counter(json.loads(line)["id"] for line in told.read_text().splitlines() if line)
        if told.exists()
        else Counter()
    )
    found["notices_doubled"] += sum(number - 1 for number in ids.values())
    sent = Counter((event.of_seq, event.to) for _, event in of(stored, NoticeSent))
    found["notices_doubled"] += sum(number - 1 for number in sent.values())
    return found


def _said_twice(stored: list[Stored]) -> int:
    """Count the words that were taken twice, or stand in two prompts of one conversation."""
    taken = Counter(event.text for _, event in of(stored, WordSaid))
    prompts = Counter(
        (event.role, event.task_id, event.attempt, event.subject, word)
        for _, event in of(stored, CallStarted)
        for word in event.words
    )
    return sum(number - 1 for number in (*taken.values(), *prompts.values()))


def _doubled(home: Path) -> int:
    """Return how many sessions have two processes of Claude Code at this moment."""
    cli, found = str(find_cli()), Counter[str]()
    for process in psutil.process_iter():
        try:
            if process.exe() == cli and str(home) in process.environ().get("CLAUDE_CONFIG_DIR", ""):
                line = process.cmdline()
                found[
                    next(
                        (line[i + 1] for i, one in enumerate(line) if one in {"--session-id", "--resume"}), ""
                    )
                ] += 1
        except (psutil.Error, OSError):
            continue
    return sum(number > 1 for session, number in found.items() if session)


# --- the parts ----------------------------------------------------------------------------------------------

PARTS: Mapping[str, Callable[[bool], Figures]] = {
    "forecast": forecasts,
    "deadlines": deadlines,
    "kills": kills,
}
COUNTS = {"deadline_runs": 30.0, "deadline_kept": 30.0}
AT_LEAST = {"forecast_p90_share": 0.85, "forecast_band_share": 0.35, **COUNTS}
AT_MOST = {
    "forecast_width": 3.0,
    "late_s_max": 5.0,
    "keep_doubled": 0.0,
    "said_twice": 0.0,
    "notices_doubled": 0.0,
    "failed": 0.0,
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
    counts = {*COUNTS, "forecast_band_share"} if quick else set()  # six values have no share to speak of
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
