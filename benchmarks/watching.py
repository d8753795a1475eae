"""`sq watch` in a pseudo-terminal: its first frame, its cost, its delay from a commit to the terminal.

The terminal is that of `tests/language/terminal.py`.
"""

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.view_processes import MAKER, ROOT, SQ, MadeRun, environment, made_run

sys.path.insert(0, str(ROOT / "tests"))

_terminals: Any = import_module("language.terminal")
_SENT = re.compile(rb"message (\d+) sent at ([0-9.]+)")
_KEYS = "jjjkkk123456" * 6


def _terminal(command: Sequence[str]) -> Any:  # noqa: ANN401  of the tests' language, which has no types
    return _terminals.Terminal(*command, columns=120, lines=40)


def _watch(run: MadeRun) -> Any:  # noqa: ANN401
    return _terminal([*SQ, "watch", run.run_id, "--state-dir", str(run.state)])


@contextmanager
def drained(command: Sequence[str]) -> Iterator[None]:
    """Run a program in a terminal, and read what it writes."""
    over = threading.Event()

    def drain() -> None:
        while not over.is_set():
            terminal.read(0.1)

    with _terminal(command) as terminal:
        thread = threading.Thread(target=drain)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


def _read_for(terminal: Any, seconds: float) -> None:  # noqa: ANN401
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        terminal.read(0.02)


def _share(terminal: Any, seconds: float) -> float:  # noqa: ANN401
    """Return the share of a core that the program uses for a time."""
    before, began = _used_s(terminal), time.monotonic()
    _read_for(terminal, seconds)
    return (_used_s(terminal) - before) / (time.monotonic() - began)


def _used_s(terminal: Any) -> float:  # noqa: ANN401
    """Return the seconds of a processor that the program has used, from Linux's accounts."""
    fields = Path(f"/proc/{terminal.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def first_frame(state: Path) -> tuple[float, float]:
    """Return the seconds until the first frame at 100,000 events: on the wall, and of a processor."""
    run = made_run(state, events=100_000)
    times: list[tuple[float, float]] = []
    for _ in range(3):
        with _watch(run) as terminal:
            terminal.until("merged")
            times.append((time.monotonic() - terminal.started, _used_s(terminal)))
            terminal.press("q")
            terminal.end()
    waited, used = zip(*times, strict=True)
    return statistics.median(waited), statistics.median(used)


def live(state: Path, *, count: int, pause_s: float) -> dict[str, float]:
    """Return delays from commits to the terminal, and the share of a core that they cost."""
    with _watch(made_run(state)) as terminal:
        terminal.until("merged")
        terminal.press("j")
        _read_for(terminal, 1.0)
        storm = ["--storm", str(count), "--pause", str(pause_s), "--on"]
        command = [sys.executable, str(MAKER), str(state), *storm]
        delays: list[float] = []
        seen: set[bytes] = set()
        writer = subprocess.Popen(command, cwd=ROOT, env=environment(), stdout=subprocess.DEVNULL)
        before, began, done = 0.0, 0.0, 0
        while writer.poll() is None or time.monotonic() - began < count * pause_s:
            terminal.read(0.005)
            now = time.time()
            for number, sent in _SENT.findall(terminal.written[done:]):
                if number not in seen:
                    if not seen:
                        before, began = _used_s(terminal), time.monotonic()
                    seen.add(number)
                    delays.append(now - float(sent))
            done = max(done, len(terminal.written) - 100)
        share = (_used_s(terminal) - before) / (time.monotonic() - began)
        terminal.press("q")
        terminal.end()
    return {"p95_ms": _p95(delays) * 1000, "share": share, "seen": len(delays) / count}


def keys_p95_ms(state: Path) -> float:
    """Return how long a key takes until the screen changes, while a storm of events goes on."""
    with _watch(made_run(state, events=20_000)) as terminal:
        terminal.until("merged")
        _read_for(terminal, 1.0)
        delays = []
        for key in _KEYS:
            _read_for(terminal, 0.1)
            began = time.monotonic()
            terminal.press(key)
            if terminal.read(1.0):
                delays.append(time.monotonic() - began)
        terminal.press("q")
        terminal.end()
    return _p95(delays) * 1000


def idle_share(state: Path) -> float:
    """Return the share of a core of a view of a run whose process does nothing for a while."""
    command = [sys.executable, str(MAKER), str(state), "--hold", "20"]
    with subprocess.Popen(command, cwd=ROOT, env=environment(), stdout=subprocess.DEVNULL) as holder:
        while not (found := list((state / "runs").glob("*/journal.db"))):
            time.sleep(0.05)
        time.sleep(2.0)
        with _watch(MadeRun(state=state, run_id=found[0].parent.name)) as terminal:
            terminal.until("merged")
            _read_for(terminal, 1.5)
            share = _share(terminal, 10.0)
            terminal.press("q")
            terminal.end()
        holder.terminate()
    return share


def measured() -> dict[str, float]:
    """Return all figures."""
    with tempfile.TemporaryDirectory() as folder:
        states = [Path(folder) / str(number) for number in range(5)]
        storm = live(states[1], count=600, pause_s=0.01)
        calm = live(states[2], count=15, pause_s=1.0)
        waited, used = first_frame(states[0])
        return {
            "first_frame_s": round(waited, 3),
            "first_frame_cpu_s": round(used, 3),
            "storm_share": round(storm["share"], 3),
            "storm_to_terminal_p95_ms": round(storm["p95_ms"], 1),
            "storm_seen": round(storm["seen"], 3),
            "commit_to_terminal_p95_ms": round(calm["p95_ms"], 1),
            "key_p95_ms": round(keys_p95_ms(states[3]), 1),
            "idle_share": round(idle_share(states[4]), 4),
        }


def _p95(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.95)] if values else float("nan")


if __name__ == "__main__":
    print(json.dumps(measured(), indent=2))
