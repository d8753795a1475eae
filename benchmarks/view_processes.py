"""Journals and processes of `benchmarks.views`: a writer, the page, the report."""

import gzip
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles

from state.journal.events import ActionRefused, CallStarted, Event, MessageReceived
from state.journal.store import Journal
from state.records.calls import Message, MessageKind

ROOT = Path(__file__).resolve().parents[1]
MAKER = ROOT / "tests" / "language" / "large_runs.py"
SQ = (sys.executable, "-m", "orchestrator.cli")
RATES = ((1.0, 20), (0.01, 400))  # seconds between events, and how many
_ADDRESS = re.compile(r"http://\S+")


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeRun:
    """An invented run: its state folder and its id."""

    state: Path
    run_id: str


def environment() -> dict[str, str]:
    """The environment of sq's processes here: this checkout, and no colours asked for."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color"}


def made_run(state: Path, *, events: int = 0, ended: bool = False) -> MadeRun:
    """Write an invented run into a new state folder."""
    state.mkdir(parents=True)
    options = [*(["--events", str(events)] if events else []), *(["--ended"] if ended else [])]
    done = subprocess.run(
        [sys.executable, str(MAKER), str(state), *options],
        env=environment(), stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    return MadeRun(state=state, run_id=done.stdout.strip())


def report_figures(long: MadeRun, twelve: MadeRun) -> dict[str, object]:
    """How long a report of the long run takes, and how large that of twelve tasks is."""
    began = time.perf_counter()
    write_report(long, long.state / "report.html")
    seconds = time.perf_counter() - began
    write_report(twelve, twelve.state / "report.html")
    packed = len(gzip.compress((twelve.state / "report.html").read_bytes()))
    return {"report_s": round(seconds, 2), "report_kb_gz": round(packed / 1024, 1)}


def write_report(run: MadeRun, file: Path) -> None:
    """Have sq write the report of a run into this file."""
    subprocess.run(
        [*SQ, "report", run.run_id, "--state-dir", str(run.state), "-o", str(file)],
        env=environment(), stdout=subprocess.DEVNULL, check=True,
    )  # fmt: skip


@contextmanager
def dash(run: MadeRun, *, port: int = 0) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Serve the page of a state folder. Yields its address, with the token, and the process."""
    command = [*SQ, "dash", "--state-dir", str(run.state), "--port", str(port)]
    with subprocess.Popen(
        command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            lines = []
            for line in process.stdout or ():
                lines.append(line)
                if found := _ADDRESS.search(line):
                    yield found.group(), process
                    break
            else:
                sys.exit(f"sq dash gave no address: {''.join(lines)}")
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(20)


@contextmanager
def writer(run: MadeRun, count: int, pause_s: float) -> Iterator[dict[int, float]]:
    """Append probes to a run from another process. Yields the time at which each was stored, by number."""
    stored: dict[int, float] = {}
    command = [sys.executable, "-m", "benchmarks.view_processes", str(run.state / "runs" / run.run_id)]
    with subprocess.Popen(
        [*command, str(count), str(pause_s)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:

        def listen() -> None:
            for line in process.stdout or ():
                number, at = line.split()
                stored[int(number)] = float(at)

        thread = threading.Thread(target=listen)
        thread.start()
        yield stored
        process.wait()
        thread.join()


def p95_ms(stored: dict[int, float], seen: dict[int, float]) -> float:
    """The 95th percentile of the time from an event's storage until it, or a later one, was seen."""
    if not seen or max(seen) < max(stored):
        sys.exit(f"of {max(stored)} events the last one seen is {max(seen, default=0)}")
    waits, first = [], float("inf")
    for number in sorted(stored, reverse=True):
        first = min(first, seen.get(number, first))
        waits.append((first - stored[number]) * 1000)
    return quantiles(waits, n=20)[-1]


_BATCH = 200
_PROBE_EACH = 20  # of the events of a batch, the others are messages


def main() -> None:
    """Append events to a run as its process does, and print when each was stored.

    `python -m benchmarks.view_processes FOLDER COUNT PAUSE`: seconds between probes, below 0 batches.
    """
    folder, count, pause_s = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    with Journal(folder) as journal:
        call_id = [one.event.call_id for one in journal.read() if isinstance(one.event, CallStarted)][-1]
        size = _BATCH if pause_s < 0 else 1
        for start in range(1, count + 1, size):
            numbers = range(start, start + size)
            journal.append(*(_event(call_id, number, alone=size == 1) for number in numbers))
            sys.stdout.write(f"{numbers[-1]} {time.time():.6f}\n")
            sys.stdout.flush()
            time.sleep(max(0.0, pause_s))


def _event(call_id: str, number: int, *, alone: bool) -> Event:
    if alone or number % _PROBE_EACH == 0:
        return ActionRefused(call_id=call_id, tool="Bash", reason=f"probe-{number:06}")
    return MessageReceived(call_id=call_id, message=Message(kind=MessageKind.TEXT, text=f"{number} " * 60))


if __name__ == "__main__":
    main()
