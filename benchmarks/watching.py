"""`sq watch` in a pseudo-terminal: its first frame, its cost, its delay from a commit to the terminal.

    python -m benchmarks.watching [--quick]

The terminal is that of `tests/language/terminal.py`, and the runs are invented. The last line is JSON.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import psutil  # type: ignore[import-untyped]

from benchmarks.figures import ROOT, of_tests, percentile, print_figures

MAKER = ROOT / "tests" / "language" / "large_runs.py"
SQ = (sys.executable, "-m", "orchestrator.cli")
_ADDRESS = re.compile(r"http://\S+")
_SENT = re.compile(rb"message (\d+) sent at ([0-9.]+)")
_KEYS = "jjjkkk123456" * 6

_terminals = of_tests("language.terminal")


# --- invented runs and the processes around them ------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeRun:
    """An invented run: its state folder and its id."""

    state: Path
    run_id: str

    @property
    def folder(self) -> Path:
        """The folder of its journal."""
        return self.state / "runs" / self.run_id


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


@contextmanager
def dash(run: MadeRun) -> Iterator[str]:
    """Serve the page of a state folder. Yields its address, with the token."""
    command = [*SQ, "dash", "--state-dir", str(run.state), "--port", "0"]
    with subprocess.Popen(
        command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            lines = []
            for line in process.stdout or ():
                lines.append(line)
                if found := _ADDRESS.search(line):
                    yield found.group()
                    break
            else:
                sys.exit(f"sq dash gave no address: {''.join(lines)}")
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(20)


# --- `sq watch` -------------------------------------------------------------------------------------------


def _terminal(command: Sequence[str]) -> Any:  # noqa: ANN401  of the tests' language, which has no types
    return _terminals.Terminal(*command, columns=120, lines=40)


@contextmanager
def _watching(run: MadeRun) -> Iterator[Any]:
    """Watch a run in a terminal, from its first whole frame on."""
    with _terminal([*SQ, "watch", run.run_id, "--state-dir", str(run.state)]) as terminal:
        terminal.until("merged")
        yield terminal
        terminal.press("q")
        terminal.end()


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
    """Return the seconds of a processor that the program has used."""
    used = psutil.Process(terminal.process.pid).cpu_times()
    return float(used.user + used.system)


def first_frame(state: Path, events: int) -> tuple[float, float]:
    """Return the seconds until the first frame of a long run: on the wall, and of a processor."""
    run = made_run(state, events=events)
    times: list[tuple[float, float]] = []
    for _ in range(3):
        with _watching(run) as terminal:
            times.append((time.monotonic() - terminal.started, _used_s(terminal)))
    waited, used = zip(*times, strict=True)
    return median(waited), median(used)


def live(state: Path, *, count: int, pause_s: float) -> dict[str, float]:
    """Return delays from commits to the terminal, and the share of a core that they cost."""
    with _watching(made_run(state)) as terminal:
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
    return {"p95_ms": percentile(delays, 95) * 1000, "share": share, "seen": len(delays) / count}


def keys_p95_ms(state: Path) -> float:
    """Return how long a key takes until the screen changes, while a storm of events goes on."""
    with _watching(made_run(state, events=20_000)) as terminal:
        _read_for(terminal, 1.0)
        delays = []
        for key in _KEYS:
            _read_for(terminal, 0.1)
            began = time.monotonic()
            terminal.press(key)
            if terminal.read(1.0):
                delays.append(time.monotonic() - began)
    return percentile(delays, 95) * 1000


def idle_share(state: Path) -> float:
    """Return the share of a core of a view of a run whose process does nothing for a while."""
    command = [sys.executable, str(MAKER), str(state), "--hold", "20"]
    with subprocess.Popen(command, cwd=ROOT, env=environment(), stdout=subprocess.DEVNULL) as holder:
        while not (found := list((state / "runs").glob("*/journal.db"))):
            time.sleep(0.05)
        time.sleep(2.0)
        with _watching(MadeRun(state=state, run_id=found[0].parent.name)) as terminal:
            _read_for(terminal, 1.5)
            share = _share(terminal, 10.0)
        holder.terminate()
    return share


def measured(*, quick: bool) -> dict[str, float]:
    """Return all figures. `quick`: of few events."""
    with tempfile.TemporaryDirectory() as folder:
        states = [Path(folder) / str(number) for number in range(5)]
        storm = live(states[1], count=60 if quick else 600, pause_s=0.01)
        calm = live(states[2], count=2 if quick else 15, pause_s=1.0)
        waited, used = first_frame(states[0], 1_000 if quick else 100_000)
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


if __name__ == "__main__":
    print_figures(measured(quick="--quick" in sys.argv))
