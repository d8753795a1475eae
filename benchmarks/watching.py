"""`sq watch` in a pseudo-terminal: its first frame, its cost, its delay from a commit to the terminal.

The runs are made by `tests/language/large_runs.py`, the terminal by `tests/language/terminal.py`.
"""

import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from language.large_runs import RUN_ID, many_events, twelve_tasks, write  # noqa: E402
from language.terminal import SQ, Terminal  # noqa: E402

_SENT = re.compile(rb"message (\d+) sent at ([0-9.]+)")
_WRITER = ROOT / "tests" / "language" / "large_runs.py"
_KEYS = "jjjkkk123456" * 6


def _watch(state: Path) -> Terminal:
    return Terminal(*SQ, "watch", RUN_ID, "--state-dir", str(state), columns=120, lines=40)


def _read_for(terminal: Terminal, seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        terminal.read(0.02)


def _share(terminal: Terminal, seconds: float) -> float:
    """Return the share of a core that the program uses for a time."""
    process = psutil.Process(terminal.process.pid)
    before, began = sum(process.cpu_times()[:2]), time.monotonic()
    _read_for(terminal, seconds)
    return (sum(process.cpu_times()[:2]) - before) / (time.monotonic() - began)


def first_frame_s(state: Path) -> float:
    """Return the time from the start of the program to its first frame, at a hundred thousand events."""
    write(state / "runs" / RUN_ID, many_events(100_000))
    times = []
    for _ in range(3):
        with _watch(state) as terminal:
            terminal.until("merged")
            times.append(time.monotonic() - terminal.started)
            terminal.press("q")
            terminal.end()
    return statistics.median(times)


def live(state: Path, *, count: int, pause_s: float) -> dict[str, float]:
    """Return delays from commits to the terminal, and the share of a core that they cost."""
    write(state / "runs" / RUN_ID, twelve_tasks())
    with _watch(state) as terminal:
        terminal.until("merged")
        terminal.press("j")
        _read_for(terminal, 1.0)
        command = [
            sys.executable,
            str(_WRITER),
            str(state),
            "--storm",
            str(count),
            "--pause",
            str(pause_s),
            "--on",
        ]
        delays: list[float] = []
        seen: set[bytes] = set()
        process = psutil.Process(terminal.process.pid)
        writer = subprocess.Popen(command, cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL)
        before, began, done = 0.0, 0.0, 0
        while writer.poll() is None or time.monotonic() - began < count * pause_s:
            terminal.read(0.005)
            now = time.time()
            for number, sent in _SENT.findall(terminal.written[done:]):
                if number not in seen:
                    if not seen:
                        before, began = sum(process.cpu_times()[:2]), time.monotonic()
                    seen.add(number)
                    delays.append(now - float(sent))
            done = max(done, len(terminal.written) - 100)
        share = (sum(process.cpu_times()[:2]) - before) / (time.monotonic() - began)
        terminal.press("q")
        terminal.end()
    return {"p95_ms": _p95(delays) * 1000, "share": share, "seen": len(delays) / count}


def keys_p95_ms(state: Path) -> float:
    """Return how long a key takes until the screen changes, while a storm of events goes on."""
    write(state / "runs" / RUN_ID, many_events(20_000))
    with _watch(state) as terminal:
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
    command = [sys.executable, str(_WRITER), str(state), "--hold", "20"]
    with subprocess.Popen(
        command, cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL
    ) as holder:
        while not (state / "runs" / RUN_ID / "journal.db").exists():
            time.sleep(0.05)
        time.sleep(2.0)
        with _watch(state) as terminal:
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
        return {
            "first_frame_s": round(first_frame_s(states[0]), 3),
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
