"""One fault of the model, the API or a process at one point of a run, rehearsed on the real CLI.

A fault happens once or for good. A run may then recover and complete, or end in a named outcome with the
cause. It must never hang, and never be complete with the fault in it.
"""

import contextlib
import io
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from agents.gateway.ledger import Answered, read_ledger
from orchestrator.cli.runs.compose import run_new
from orchestrator.cli.runs.connected import LEDGER
from orchestrator.cli.runs.request import RunEnvironment, RunRequest
from state.journal.events import CallResumed, CallRetried, PlanRejected, ReviewUnusable
from state.journal.fold.fold import fold
from state.journal.store import JournalReader
from state.outcome import Outcome
from state.paths import StateFolder

LIMIT_S = 60.0  # a run with a fault takes a few seconds, and one that takes this long hangs
SETTINGS = {
    "retries.tries": "5",
    "retries.first_wait_s": "0.1",
    "retries.longest_wait_s": "1",
    "limits.idle_s": "2",
    "limits.question_s": "4",
    "limits.max_turns": "10",
    "budget": "none",
}
POINTS = {
    "plan": "planner/plan/1",
    "build": "worker/notes/1",
    "question": "developer/notes/1",
    "review": "reviewer/notes/1",
}
ONCE, FOR_GOOD = "once", "for good"
_QUESTION = {
    "question": "Which colour?",
    "header": "Colour",
    "multiSelect": False,
    "options": [{"label": "red", "description": ""}, {"label": "blue", "description": ""}],
}
Replies = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault. `misbehave` makes the first reply at the point go wrong, `change` rewrites it.

    `hit` is a signal for the Claude Code process that waits there.
    """

    misbehave: Mapping[str, object] | None = None
    change: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    hit: signal.Signals | None = None

    @property
    def variants(self) -> tuple[str, ...]:
        """How often it can happen. The CLI repeats a request after a 400, so that cannot happen once."""
        status = self.misbehave.get("status") if self.misbehave else None
        return (FOR_GOOD,) if status == _BAD_REQUEST else (ONCE, FOR_GOOD)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """The result of a run. `wrong` names its error, or is ""."""

    fault: str
    point: str
    variant: str
    outcome: str
    cause: str
    recovered: bool
    seconds: float
    wrong: str


_BAD_REQUEST = 400
_OFTEN = 60  # more often than any role asks


def _says(text: str, **more: object) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda _: {"text": text, **more}


FAULTS = {
    "400": Fault(misbehave={"status": 400}),
    "401": Fault(misbehave={"status": 401}),
    "403": Fault(misbehave={"status": 403}),
    "429 with retry-after": Fault(misbehave={"status": 429, "retry_after": 1}),
    "500": Fault(misbehave={"status": 500}),
    "529": Fault(misbehave={"status": 529}),
    "refused connection": Fault(misbehave={"connection": "refused"}),
    "cut stream": Fault(misbehave={"stream": "cut"}),
    "cut inside a tool call": Fault(misbehave={"stream": "cut-in-tool"}),
    "hang before headers": Fault(misbehave={"hang": "before-headers"}),
    "hang after headers": Fault(misbehave={"hang": "after-headers"}),
    "malformed JSON": Fault(misbehave={"body": "malformed"}),
    "empty reply": Fault(misbehave={"body": "empty"}),
    "refusal": Fault(change=_says("I will not do that.", stop_reason="refusal")),
    "max tokens": Fault(change=_says("And then, and then", stop_reason="max_tokens")),
    "unknown tool": Fault(change=lambda _: {"tools": [{"name": "Teleport", "input": {}}]}),
    "CLI killed": Fault(misbehave={"hang": "before-headers"}, hit=signal.SIGKILL),
    "CLI exits silently": Fault(misbehave={"hang": "before-headers"}, hit=signal.SIGINT),
}


def run_cell(fault_name: str, point: str, variant: str, folder: Path) -> Cell:
    """Make a repository in `folder`, run with the fault, and return the result."""
    fault, lane = FAULTS[fault_name], POINTS[point]
    repository = folder / "repository"
    repository.mkdir(parents=True)
    _git(repository, "init", "--quiet", "--initial-branch=main")
    _git(repository, "commit", "--quiet", "--allow-empty", "-m", "Start")
    spec, scenario = folder / "spec.md", folder / "scenario.yaml"
    spec.write_text("# Notes\n\nWrite notes.txt with a line of text.\n")
    lanes = _lanes()
    lanes[lane] = _faulty(lanes[lane], fault, variant)
    scenario.write_text(yaml.safe_dump({"scenario": 1, "lanes": lanes}))
    flags: dict[str, tuple[str, object]] = {key: (key, value) for key, value in SETTINGS.items()}
    flags["effort"], flags["verify"] = ("effort", "low"), ("verify", ("test -s notes.txt",))
    request = RunRequest(spec=spec, folder=repository, flags=flags, rehearse=scenario)
    began = time.monotonic()
    with _hitting(fault, repository, lane, variant), contextlib.redirect_stdout(io.StringIO()):
        outcome = run_new(request, RunEnvironment())
    return _looked_at(fault_name, point, variant, outcome, repository, time.monotonic() - began)


def _looked_at(
    fault_name: str, point: str, variant: str, outcome: Outcome, repository: Path, seconds: float
) -> Cell:
    with JournalReader(StateFolder(repository / ".sq").find(None)) as journal:
        stored = journal.read()
    view = fold(stored)
    signs = CallRetried | CallResumed | PlanRejected | ReviewUnusable
    recovered = outcome is Outcome.COMPLETE
    cause = view.ended.cause if view.ended else ""
    wrong = ""
    if view.ended is None:
        wrong = "it has no outcome"
    elif seconds > LIMIT_S:
        wrong = f"it hung for {seconds:.0f} s"
    elif not recovered and not cause:
        wrong = "no cause"
    elif recovered and variant == FOR_GOOD:
        wrong = "complete although nothing was repaired"
    elif recovered and not (repository / "notes.txt").is_file():
        wrong = "complete without the work"
    noticed = any(isinstance(one.event, signs) for one in stored)
    return Cell(
        fault=fault_name,
        point=point,
        variant=variant,
        outcome=outcome,
        cause=cause,
        recovered=recovered and noticed,
        seconds=seconds,
        wrong=wrong,
    )


def _faulty(replies: Replies, fault: Fault, variant: str) -> Replies:
    first, *rest = replies
    if fault.change:
        changed = fault.change(first)
        if variant == FOR_GOOD:
            return [changed] * _OFTEN
        # Each question is its own conversation. The second one names the problem of the answer.
        again = [{**first, "when": ["cannot be used"]}] if "structured" in first else []
        return [*again, changed, first, *rest]
    wrong = dict(fault.misbehave or {})
    if variant == ONCE:
        wrong |= {"seconds": 2} if wrong.get("connection") == "refused" else {"times": 1}
    if wrong.get("stream") == "cut" and "structured" not in first:  # in a text
        first = {"text": "I begin with this. " * 20, **first}
    return [{**first, "misbehave": wrong}, *rest]


def _lanes() -> dict[str, Replies]:
    return {
        "planner/plan/1": [
            _signal(
                "submit_plan",
                tasks=[{"id": "notes", "title": "Notes", "description": "Write notes.txt."}],
                criteria=[{"text": "notes.txt holds a line", "task_ids": ["notes"]}],
            )
        ],
        "worker/notes/1": [
            {"tools": [{"name": "AskUserQuestion", "input": {"questions": [_QUESTION]}}]},
            {"tools": [_call("Write", file_path="{workspace}/notes.txt", content="Red.\n")]},
            _signal("task_complete", summary="Done.", tests="None."),
        ],
        "developer/notes/1": [
            {
                "structured": {
                    "answers": [
                        {
                            "question": "Which colour?",
                            "labels": ["red"],
                            "free_text": "",
                            "reason": "It is the first.",
                            "reversible": True,
                        }
                    ]
                }
            }
        ],
        "judge/*": [{"structured": {"verdict": "satisfied", "reason": "It is.", "quote": ""}}],
        "reviewer/notes/1": [_signal("report_review", passed=True, issues=[], suggestions=[])],
        "reviewer/final/1": [_signal("report_review", passed=True, issues=[], suggestions=[])],
    }


def _call(name: str, **arguments: object) -> dict[str, Any]:
    return {"name": name, "input": arguments}


def _signal(name: str, **arguments: object) -> dict[str, Any]:
    return {"tools": [_call(f"mcp__sq__{name}", **arguments)]}


def _git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=sq", "-c", "user.email=sq@localhost"]
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True)


@contextlib.contextmanager
def _hitting(fault: Fault, repository: Path, lane: str, variant: str) -> Iterator[None]:
    """Send the fault's signal to the Claude Code process whose request hangs, while the block runs."""
    if fault.hit is None:
        yield
        return
    over = threading.Event()
    watcher = threading.Thread(target=_hit, args=(fault.hit, repository, lane, variant, over))
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def _hit(number: signal.Signals, repository: Path, lane: str, variant: str, over: threading.Event) -> None:
    session = lane.replace("developer", "worker")  # the Developer's question is the Worker's
    seen = 0
    while not over.wait(0.02):
        run = _run_of(repository)
        lines = read_ledger(run / LEDGER) if run else []
        hanging = sum(line.lane == lane and line.part is Answered.MISBEHAVED for line in lines)
        if run and hanging > seen:
            seen = hanging
            for process in _sessions(f"/{run.name}/{session}"):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, number)
            if variant == ONCE:
                return


def _run_of(repository: Path) -> Path | None:
    return next((repository / ".sq" / "runs").glob("*"), None)


def _sessions(address: str) -> Iterator[int]:
    """The Claude Code processes of a run's lane, by their server address."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            variables = (folder / "environ").read_bytes().split(b"\0")
            command = (folder / "cmdline").read_bytes().split(b"\0")[0]
            mine = any(
                one.startswith(b"ANTHROPIC_BASE_URL=") and one.decode().endswith(address) for one in variables
            )
            if mine and command.endswith(b"claude"):
                yield int(folder.name)
