"""Parts of `benchmarks.left_alone`: deadlines, windows of a limit, words of people, killed processes.

Each run is a process of its own. Those with a deadline or words play Claude Code in it, those that are killed
start the real one. `deadline_kept` counts runs that merged and handed over all verified work in time, nothing
unverified, and could be resumed to their end. `late_s_max` is how long after its deadline a process ended.
`keep_doubled` counts moments at which two processes of Claude Code had one session.
"""

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
from statistics import median
from typing import Any, TypeVar

import psutil  # type: ignore[import-untyped]

from agents.claude_code.executable import find_cli
from benchmarks.figures import ROOT
from benchmarks.rehearsed import SQ, Callers, agreeing, calls, git, own_home, reports, request_for
from state.errors import UsageError
from state.inbox import WordKind, leave, new_word
from state.journal.events import (
    CallEnded,
    CallStarted,
    CompletionAccepted,
    NoticeSent,
    Stored,
    WordSaid,
    WorkKept,
)
from state.journal.events.calls import CallRetried
from state.journal.events.tasks import Stage
from state.journal.fold.fold import fold
from state.journal.store import JournalReader
from state.paths import StateFolder
from state.roles import Role

Figures = dict[str, float]
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


# --- deadlines ----------------------------------------------------------------------------------------------


def deadlines(quick: bool) -> Figures:
    """Run with a deadline at a random point, and resume without one."""
    count = 4 if quick else 30
    with own_home() as home, ThreadPoolExecutor(_BESIDE) as beside:
        found = list(beside.map(lambda seed: _deadline_run(home / str(seed), seed), range(count)))
    for seed, (kept, late_s, problem) in enumerate(found):
        if problem:
            print(f"deadline, seed {seed}: {problem}", file=sys.stderr)
        del kept, late_s
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


# --- windows of a limit -------------------------------------------------------------------------------------


def resets(quick: bool) -> Figures:
    """Count the ends of a limit that one run waits for and survives."""
    del quick
    callers = agreeing("one")
    asked = calls("AskUserQuestion", questions=[_colour()])
    callers["worker/one/*"] = [asked, writing("one.txt", "1\n"), claim()]
    answer = {
        "question": "Which colour?",
        "labels": ["red"],
        "free_text": "",
        "reason": "It is.",
        "reversible": True,
    }
    full = {"status": 429, "retry_after": 1, "times": 3}
    callers["developer/one/*"] = [{"structured": {"answers": [answer]}, "misbehave": full}]
    with own_home() as home:
        (home / "sq.toml").write_text("[retries]\nlongest_wait_s = 0.2\nreset_slack_s = 0.3\ntries = 1\n")
        process = begun(home, callers, PLAYED_SQ)
        with no_longer(process):
            process.communicate(timeout=LIMIT_S)
        stored = events_of(home)
    waited = [event for _, event in of(stored, CallRetried) if event.resets_at]
    return {"reset_windows_survived": len(waited) if process.returncode == 0 else 0}


def _colour() -> dict[str, Any]:
    options = [{"label": label, "description": label} for label in ("red", "blue")]
    return {"question": "Which colour?", "header": "Colour", "options": options, "multiSelect": False}


# --- words --------------------------------------------------------------------------------------------------


def words(quick: bool) -> Figures:
    """Say words to a run at random moments, and look when the next prompt holds them."""
    drawn, count = random.Random(1), 3 if quick else 8  # noqa: S311  no secret
    report = {"done": "a line", "test_status": "", "next_step": "the next", "blockers": []}
    steps: list[dict[str, Any]] = []
    for number in range(count):
        steps += [
            later(writing("one.txt", f"{number}\n"), drawn.uniform(0.5, 1.5)),
            reports("iteration_done", **report),
        ]
    callers = agreeing("one")
    callers["worker/one/*"] = [*steps, claim(), claim()]
    with own_home() as home:
        process = begun(home, callers, PLAYED_SQ)
        with no_longer(process):
            said = 0
            while process.poll() is None and said < count:
                time.sleep(drawn.uniform(0.2, 1.0))
                if any(
                    call.end is None
                    for call in fold(events_of(home)).calls.values()
                    if call.started.role is Role.WORKER
                ):
                    said += 1
                    leave(
                        StateFolder(home / "repository" / ".sq").find(None),
                        new_word(WordKind.SAY, "bench", f"Word {said}."),
                    )
            process.communicate(timeout=LIMIT_S)
        stored = events_of(home)
    return {"say_to_prompt_s_median": median(_delays(stored) or [LIMIT_S])}


def _delays(stored: list[Stored]) -> list[float]:
    """Return for each word the seconds from the end of the exchange under way to the prompt with it."""
    found = []
    for said, word in of(stored, WordSaid):
        prompts = [one for one, event in of(stored, CallStarted) if word.word_id in event.words]
        if prompts:
            ends = [one.at for one, _ in of(stored, CallEnded) if one.seq < prompts[0].seq]
            found.append((prompts[0].at - max([said.at, *ends[-1:]])).total_seconds())
    return found


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


PARTS: Mapping[str, Callable[[bool], Figures]] = {
    "deadlines": deadlines,
    "resets": resets,
    "words": words,
    "kills": kills,
}
AT_LEAST = {"deadline_runs": 30.0, "deadline_kept": 30.0, "reset_windows_survived": 3.0}
AT_MOST = {
    "late_s_max": 5.0,
    "say_to_prompt_s_median": 1.0,
    "keep_doubled": 0.0,
    "said_twice": 0.0,
    "notices_doubled": 0.0,
    "failed": 0.0,
}
