"""Runs with every fault of the model, the API or a process, at every point.

    python -m benchmarks.faults [--only FAULT] [--at POINT]

Each row is a rehearsed run on the real CLI. `once`: the fault happens once. `for good`: it stays. A run may
then recover and complete, or end in a named outcome with the cause. It must never hang, and never be complete
with the fault in it. The last line is JSON: the numbers of runs, of completed ones, of ones that ended with a
named cause, and the errors.
"""

import contextlib
import json
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import click
import psutil  # type: ignore[import-untyped]

from agents.gateway.ledger import Answered, read_ledger
from benchmarks.rehearsed import Reply, notes_with_a_question, own_home, rehearse, request_for
from orchestrator.cli.runs.connected import LEDGER
from state.journal.events import CallResumed, CallRetried, PlanRejected, ReviewUnusable
from state.outcome import Outcome

LIMIT_S = 60.0  # a run with a fault takes a few seconds, and one that takes this long hangs
SETTINGS = {
    "effort": "low",
    "verify": ("test -s notes.txt",),
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


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault. `misbehave` makes the first reply at the point go wrong, `change` rewrites it.

    `hit` is a signal for the Claude Code process that waits there.
    """

    misbehave: Mapping[str, object] | None = None
    change: Callable[[Reply], Reply] | None = None
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


def _says(text: str, **more: object) -> Callable[[Reply], Reply]:
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
    fault, caller = FAULTS[fault_name], POINTS[point]
    folder.mkdir(parents=True)
    callers = notes_with_a_question()
    callers[caller] = _faulty(callers[caller], fault, variant)
    own_port = (fault.misbehave or {}).get(
        "connection"
    ) == "refused"  # a sandbox reaches the shared port alone
    request = request_for(folder, callers, SETTINGS | ({"sandbox": "off"} if own_port else {}))
    with _hitting(fault, request.folder, caller, variant):
        done = rehearse(request)
    view, seconds = done.view, done.seconds
    signs = CallRetried | CallResumed | PlanRejected | ReviewUnusable
    recovered = done.outcome is Outcome.COMPLETE
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
    elif recovered and not (request.folder / "notes.txt").is_file():
        wrong = "complete without the work"
    noticed = any(isinstance(one.event, signs) for one in done.stored)
    return Cell(
        fault=fault_name,
        point=point,
        variant=variant,
        outcome=done.outcome,
        cause=cause,
        recovered=recovered and noticed,
        seconds=seconds,
        wrong=wrong,
    )


def _faulty(replies: list[Reply], fault: Fault, variant: str) -> list[Reply]:
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


@contextlib.contextmanager
def _hitting(fault: Fault, repository: Path, caller: str, variant: str) -> Iterator[None]:
    """Send the fault's signal to the Claude Code process whose request hangs, while the block runs."""
    if fault.hit is None:
        yield
        return
    over = threading.Event()
    watcher = threading.Thread(target=_hit, args=(fault.hit, repository, caller, variant, over))
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def _hit(number: signal.Signals, repository: Path, caller: str, variant: str, over: threading.Event) -> None:
    session = caller.replace("developer", "worker")  # the Developer's question is the Worker's
    seen = 0
    while not over.wait(0.02):
        run = next((repository / ".sq" / "runs").glob("*"), None)
        lines = read_ledger(run / LEDGER) if run else []
        hanging = sum(line.caller == caller and line.part is Answered.MISBEHAVED for line in lines)
        if run and hanging > seen:
            seen = hanging
            for process in _sessions(f"/{run.name}/{session}"):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, number)
            if variant == ONCE:
                return


def _sessions(address: str) -> Iterator[int]:
    """The Claude Code processes of a run's caller, by their server address."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            asks = process.environ().get("ANTHROPIC_BASE_URL", "")
            if asks.endswith(address) and "".join(process.cmdline()[:1]).endswith("claude"):
                yield process.pid


_CAUSE_SHOWN = 90


@click.command()
@click.option("--only", "faults", multiple=True, type=click.Choice(list(FAULTS)), help="These faults alone.")
@click.option("--at", "points", multiple=True, type=click.Choice(list(POINTS)), help="These points alone.")
@click.option("--jobs", default=os.cpu_count() or 1, show_default=True, help="Runs side by side.")
def main(faults: tuple[str, ...], points: tuple[str, ...], jobs: int) -> None:
    """Run the matrix, print a row for each cell, and the figures as JSON."""
    wanted = [
        (fault, point, variant)
        for fault in faults or FAULTS
        for point in points or POINTS
        for variant in FAULTS[fault].variants
    ]
    with own_home() as folder:
        cells = _run_all(wanted, folder, jobs)
    _report(cells)
    sys.exit(any(cell.wrong for cell in cells))


def _run_all(wanted: list[tuple[str, str, str]], folder: Path, jobs: int) -> list[Cell]:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        futures = {
            pool.submit(run_cell, *cell, folder / str(number)): number for number, cell in enumerate(wanted)
        }
        done: dict[int, Cell] = {}
        for future in as_completed(futures):
            done[futures[future]] = future.result()
            click.echo(_row(done[futures[future]]))
    return [done[number] for number in range(len(wanted))]


def _row(cell: Cell) -> str:
    what = "complete after recovery" if cell.recovered else cell.outcome
    cause = cell.cause.replace("\n", " ")
    said = f"WRONG: {cell.wrong}" if cell.wrong else cause[:_CAUSE_SHOWN]
    return f"{cell.fault:24} {cell.point:9} {cell.variant:9} {what:24} {cell.seconds:5.1f} s  {said}"


def _report(cells: list[Cell]) -> None:
    result = {
        "cells": len(cells),
        "complete": sum(cell.outcome == "complete" for cell in cells),
        "named": sum(cell.outcome != "complete" and bool(cell.cause) for cell in cells),
        "wrong": [f"{one.fault}, {one.point}, {one.variant}: {one.wrong}" for one in cells if one.wrong],
        "slowest_s": round(max(cell.seconds for cell in cells), 1),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
