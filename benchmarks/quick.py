"""Measures what a run costs beside its work: the figures that must not slip, several from other benchmarks.

    python -m benchmarks.quick [--only PARTS] [--events 1000000] [--floor]

- exchange, question, judged: ratios of `run_overhead`, `question_round_trip` and `stop_gate`.
- parallel: eight independent tasks on as many places by one task, from the first start to the last merge. The
  model takes two seconds for each reply.
- start: how long `sq --help` and `sq status` take, each a fresh process as `bin/sq` starts it.
- first: from the shell to the first byte of a request that a model gets, sq in a small repository with
  `--verify true` against a bare SDK client, sandbox on and off in turn. Then Ctrl-C to everything gone.
- overloads: from the first to the sixth of refused requests (529), sq against Claude Code's own retries.
- characters: those of the demo's requests by role, and how many there were at commit 8c65524f^.
- commands: seconds of all commands of a one-task run, divided by those of one run of its suite.
- scale: `status`, the fold of `resume` and the page's first answer with a journal of so many events, and
  `append_growth`, the time of an append to it by that to a short one.
- memory: how much larger sq itself is at the end of 40 tasks on 4 places than after the first four, and
  what sq and Claude Code take with four sessions at once.

Both sides are measured in one run. `--floor` takes the first five parts and exits with 1 where a figure is
more than twice its goal. The last line is JSON.
"""

import gc
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from statistics import median
from threading import Event
from urllib.parse import urljoin

import click
import psutil  # type: ignore[import-untyped]

from agents.claude_code.executable import find_cli
from agents.gateway.ledger import read_ledger
from benchmarks.figures import figures_of, print_figures, served
from benchmarks.lies import commands_ratio
from benchmarks.rehearsed import (
    SQ,
    Callers,
    agreeing,
    calls,
    commit,
    own_home,
    rehearse,
    reports,
    request_for,
)
from benchmarks.watching import dash, environment, made_run
from orchestrator.cli.runs.connected import LEDGER
from state.journal import events as e
from state.journal.fold.fold import fold
from state.journal.store import Journal, JournalReader
from state.outcome import Outcome
from state.settings.sources import user_file

GOALS = {
    "exchange_ratio": 1.10,
    "question_ms": 50,
    "parallel_ratio": 1.6,
    "judged_stop_ratio": 0.3,
    "first_request_to_bare": 1.25,
    "interrupt_s_median": 0.4,
    "five_overloads_ratio": 1.1,
    "judge_share_of_characters": 0.25,
    "demo_input_share_of_before": 0.6,
    "judge_characters_share_of_before": 0.2,
    "commands_ratio": 3.4,
    "status_s": 1.5,
    "resume_s": 8,
    "page_s": 2,
    "rss_growth_mb": 20,
}
OTHERS = {
    "exchange": ("run_overhead", ["--pairs", "3", "--only-sq"], "wall_ratio", "exchange_ratio"),
    "question": ("question_round_trip", [], "median_ms", "question_ms"),
    "judged": ("stop_gate", ["--times", "10", "--model-s", "0.1"], "judge_ratio", "judged_stop_ratio"),
}
PARTS = (*OTHERS, "parallel", "start", "first", "overloads", "characters", "commands", "scale", "memory")
CHARACTERS_BEFORE = {"all": 798_836, "judge": 398_802}  # of the demo's requests, at 8c65524f^
TIMES, FEW = 5, 3
AT_ONCE = 8
REPLIES = 4  # of each Worker
APPENDS = 400
OVERLOADS = 6
AT_WORK_S = 4  # how long a session has been at work when it is interrupted
_GONE_S = 20  # a process that is not gone after that never goes
BARE = """
import anyio, sys
from claude_agent_sdk import ClaudeAgentOptions, query
async def main():
    options = ClaudeAgentOptions(cli_path=sys.argv[1], model="haiku", setting_sources=[], max_turns=1)
    async for _ in query(prompt="Work.", options=options):
        pass
anyio.run(main)
"""


@dataclass
class Silent:
    """A model's server that notes when each request arrives. `status` 0: it never answers."""

    status: int = 0
    arrived: list[float] = field(default_factory=list)
    address: str = ""
    over: Event = field(default_factory=Event)


@contextmanager
def silent(status: int = 0) -> Iterator[Silent]:
    """Serve a model that does not answer, or refuses each request."""
    found = Silent(status)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            now = time.perf_counter()
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if "count_tokens" not in self.path and "messages" in self.path:
                found.arrived.append(now)
                if not found.status:
                    found.over.wait()
            body = b'{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'
            with suppress(ConnectionError):  # it was interrupted meanwhile
                self.send_response(found.status or 404)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        def do_GET(self) -> None:
            self.do_POST()

        def do_HEAD(self) -> None:
            self.do_POST()

        def log_message(self, *_: object) -> None:
            pass

    with served(Handler) as found.address:
        try:
            yield found
        finally:
            found.over.set()


def started(command: Sequence[str], folder: Path, model: Silent) -> subprocess.Popen[bytes]:
    """Start a process that asks this model."""
    environ = {**os.environ, "ANTHROPIC_BASE_URL": model.address, "ANTHROPIC_API_KEY": "benchmark"}
    return subprocess.Popen(
        command, cwd=folder, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip


def waited(model: Silent, count: int, process: subprocess.Popen[bytes], most_s: float = 120) -> float:
    """Return when the request of this number arrived."""
    deadline = time.perf_counter() + most_s
    while len(model.arrived) < count:
        if process.poll() is not None or time.perf_counter() > deadline:
            _interrupted(process)
            sys.exit(f"{process.args!r} ended or waited without request {count}: {process.returncode}")
        time.sleep(0.001)
    return model.arrived[count - 1]


def sq_run(folder: Path, *more: str) -> list[str]:
    """Return a run of sq in a new repository."""
    folder.mkdir()
    (folder / "notes.txt").write_text("notes\n")
    (folder.parent / "spec.md").write_text("# Notes\n\nWrite notes.\n")
    commit(folder)
    return [*SQ, "run", "--spec", str(folder.parent / "spec.md"), "--verify", "true", *more]


def bare(folder: Path) -> list[str]:
    """Return a client of the bare SDK."""
    folder.mkdir()
    return [sys.executable, "-c", BARE, str(find_cli())]


def first_requests(place: Path, times: int) -> dict[str, float]:
    """Measure how long the first request takes, and how long an interrupt."""
    seconds: dict[str, list[float]] = {"bare": [], "off": [], "whole": []}
    gone: list[float] = []
    for number in range(times + 1):
        for side in seconds if number % 2 else reversed(seconds):
            folder = place / f"{side}-{number}"
            command = bare(folder) if side == "bare" else sq_run(folder, "--sandbox", side)
            with silent() as model:
                began = time.perf_counter()
                process = started(command, folder, model)
                spent = waited(model, 1, process) - began
                time.sleep(0 if side == "bare" else AT_WORK_S)
                ended = _interrupted(process)
            if number:  # the first of each warms the caches
                seconds[side].append(spent)
                gone += [ended] if side != "bare" else []
    for side, found in seconds.items():
        print(f"first request, {side}: {[round(one, 2) for one in found]}")
    least = median(seconds["bare"])
    ratios = {side: round(median(seconds[side]) / least, 3) for side in ("off", "whole")}
    return {
        "first_request_to_bare": max(ratios.values()),
        "first_request_off": ratios["off"],
        "interrupt_s_median": round(median(gone), 3),
    }


def _interrupted(process: subprocess.Popen[bytes]) -> float:
    """Return the seconds from Ctrl-C until no process of the session is left."""
    began = time.perf_counter()
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
    process.wait()
    while _of_session(process.pid) and time.perf_counter() - began < _GONE_S:
        time.sleep(0.005)
    spent = time.perf_counter() - began
    for one in _of_session(process.pid):
        one.kill()
    return spent


def _of_session(session: int) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, ProcessLookupError):  # it has just ended
            if os.getsid(process.pid) == session and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def starts(place: Path) -> dict[str, float]:
    """Measure `sq --help` and `sq status` from start to end, in turn, in a repository with a finished run."""
    subprocess.run(
        [*SQ, "demo", "--plain", "--keep-in", str(place / "started")], check=True, capture_output=True
    )
    spans: dict[str, list[float]] = {"--help": [], "status": []}
    for command, found in [*spans.items()] * TIMES:
        began = time.perf_counter()
        subprocess.run([*SQ, command], cwd=place / "started", check=True, capture_output=True)
        found.append(time.perf_counter() - began)
    return {f"{name.strip('-')}_start_s": round(median(found), 4) for name, found in spans.items()}


def overloads(place: Path) -> dict[str, float]:
    """Measure the waits between the first refused requests."""
    spans = {}
    for side in ("bare", "sq"):
        folder = place / f"overloads-{side}"
        command = bare(folder) if side == "bare" else sq_run(folder)
        with silent(529) as model:
            process = started(command, folder, model)
            spans[side] = waited(model, OVERLOADS, process) - model.arrived[0]
            _interrupted(process)
    print(f"five overloads: {spans}")
    return {"five_overloads_ratio": round(spans["sq"] / spans["bare"], 3)}


def characters(place: Path) -> dict[str, float]:
    """Count the characters of the demo's requests."""
    subprocess.run(
        [*SQ, "demo", "--plain", "--keep-in", str(place / "demo")], capture_output=True, check=True
    )
    counted: Counter[str] = Counter()
    for ledger in (place / "demo").rglob(LEDGER):
        for line in read_ledger(ledger):
            counted[line.caller.partition("/")[0]] += line.size
    total = counted.total()
    print(f"characters of the demo: {dict(counted)}")
    return {
        "judge_share_of_characters": round(counted["judge"] / total, 3),
        "demo_input_share_of_before": round(total / CHARACTERS_BEFORE["all"], 3),
        "judge_characters_share_of_before": round(counted["judge"] / CHARACTERS_BEFORE["judge"], 3),
    }


def scale(place: Path, events: int) -> dict[str, float]:
    """Measure reading a long journal."""
    run = made_run(place / "long", events=events)
    arguments = ["status", run.run_id, "--state-dir", str(run.state)]
    began = time.perf_counter()
    subprocess.run([*SQ, *arguments], env=environment(), stdout=subprocess.DEVNULL, check=True)
    status = time.perf_counter() - began
    folds = sorted(_folded(run.folder) for _ in range(TIMES))
    with dash(run) as address:
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        browser.open(address, timeout=60).read()
        began = time.perf_counter()
        browser.open(urljoin(address, f"/run/{run.run_id}"), timeout=60).read()
        page = time.perf_counter() - began
    return {
        "status_s": round(status, 2),
        "resume_s": round(median(folds), 3),
        "page_s": round(page, 2),
        "append_growth": round(_append_growth(made_run(place / "short", events=1_000).folder, run.folder), 3),
        "events": events,
    }


def _folded(folder: Path) -> float:
    """Seconds until a run's view is ready."""
    gc.collect()
    began = time.perf_counter()
    with JournalReader(folder) as journal:
        stored = journal.read()
    view = fold(stored)
    spent = time.perf_counter() - began
    if view.clock.last_seq != len(stored) or not view.calls:
        sys.exit("the journal was not read, so nothing was measured")
    return spent


def _append_growth(*folders: Path) -> float:
    """Return how much longer an append to the second journal takes than one to the first, in turn."""
    spans: list[list[float]] = [[], []]
    with Journal(folders[0]) as short, Journal(folders[1]) as long:
        messages = [one.event for one in short.read() if isinstance(one.event, e.MessageReceived)]
        for number in range(APPENDS):
            for journal, found in zip((short, long), spans, strict=True):
                began = time.perf_counter()
                journal.append(messages[number % len(messages)])
                found.append(time.perf_counter() - began)
    return median(spans[1]) / median(spans[0])


def parallel() -> float:
    """Measure how much longer eight tasks take than one, with a place for each."""
    with own_home() as home:
        spans = [timed_run(home / f"{tasks}", tasks, places=AT_ONCE, reply_s=2) for tasks in (1, AT_ONCE)]
    print(f"seconds of one task and of {AT_ONCE}: {spans}")
    return spans[1] / spans[0]


def timed_run(folder: Path, tasks: int, *, places: int, reply_s: float) -> float:
    """Run independent tasks on so many places, by the home's settings.

    Returns the seconds from the first start to the last merge.
    """
    config = user_file()
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text('[efforts.low]\npower_steering = "none"\n', "utf-8")
    folder.mkdir()
    flags = {"effort": "low", "verify": ("sleep 0.2",), "budget": "none", "max_parallel": places}
    done = rehearse(
        request_for(folder, _callers([f"part{number}" for number in range(tasks)], reply_s), flags)
    )
    starts = [each.at for each in done.stored if isinstance(each.event, e.TaskStarted)]
    merges = [each.at for each in done.stored if isinstance(each.event, e.TaskMerged)]
    if done.outcome is not Outcome.COMPLETE or (len(starts), len(merges)) != (tasks, tasks):
        sys.exit(f"a run with {tasks} task(s) was {done.outcome}, so nothing was measured:\n{done.shown}")
    return (max(merges) - min(starts)).total_seconds()


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


def memory() -> dict[str, float]:
    """Measure how sq itself grows over forty tasks, and what four sessions at once take."""
    grown = {}
    for tasks in (4, 40):
        with _tasks(tasks, reply_s=0.01) as process:
            written, _ = process.communicate()
        grown[tasks] = float(written.splitlines()[-1])
    print(f"largest resident set of sq, MB by tasks: {grown}")
    return {
        "rss_growth_mb": round(grown[40] - grown[4], 1),
        "rss_mb": round(grown[40], 1),
        **_four_sessions(),
    }


def _tasks(count: int, *, reply_s: float) -> subprocess.Popen[str]:
    """Start a process that runs so many tasks on four places and prints its largest resident set in MB."""
    code = (
        "import resource\nfrom benchmarks.quick import timed_run\n"
        "from benchmarks.rehearsed import own_home\n"
        f"with own_home() as home: timed_run(home / 'many', {count}, places=4, reply_s={reply_s})\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    )
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)


def _four_sessions() -> dict[str, float]:
    """Return the MB of Claude Code and of all else while it takes the most. Shared pages count in parts."""
    cli, most = find_cli().resolve(), Counter[str]()
    with _tasks(4, reply_s=2) as process:
        root = psutil.Process(process.pid)
        while process.poll() is None:
            found = Counter[str]()
            for one in (root, *root.children(recursive=True)):
                with suppress(psutil.Error):  # it has just ended
                    side = "claude_code" if Path(one.exe()) == cli else "sq"
                    found[side] += one.memory_full_info().pss
            most = max(most, found, key=lambda one: one["claude_code"])
            time.sleep(0.2)
    return {f"four_sessions_{side}_mb": round(most[side] / 2**20, 1) for side in ("sq", "claude_code")}


@click.command()
@click.option("--only", default=",".join(PARTS), show_default=True, help="What is measured.")
@click.option("--events", default=1_000_000, show_default=True, help="Of the long journal.")
@click.option("--floor", is_flag=True, help="The first five. Exit code 1 beyond twice a goal.")
def main(only: str, events: int, *, floor: bool) -> None:
    """Measure what a run costs beside its work."""
    asked = [*OTHERS, "parallel", "first"] if floor else [part.strip() for part in only.split(",")]
    if unknown := set(asked) - set(PARTS):
        raise click.BadParameter(f"{', '.join(sorted(unknown))}; known are {', '.join(PARTS)}")
    figures: dict[str, float] = {}
    for part in (one for one in OTHERS if one in asked):
        module, options, theirs, ours = OTHERS[part]
        figures[ours] = round(figures_of(module, *options)[0][theirs], 3)
    figures |= {"parallel_ratio": round(parallel(), 3)} if "parallel" in asked else {}
    with own_home() as place:
        figures |= starts(place) if "start" in asked else {}
        figures |= first_requests(place, FEW if floor else TIMES) if "first" in asked else {}
        figures |= overloads(place) if "overloads" in asked else {}
        figures |= characters(place) if "characters" in asked else {}
        figures |= scale(place, events) if "scale" in asked else {}
    figures |= {"commands_ratio": commands_ratio()} if "commands" in asked else {}
    figures |= memory() if "memory" in asked else {}
    print_figures(figures, GOALS)
    if floor and any(figures[name] > 2 * goal for name, goal in GOALS.items() if name in figures):
        sys.exit(1)


if __name__ == "__main__":
    main()
