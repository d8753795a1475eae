"""What the process tree of a command uses: processor time, silence, and whether the machine had more to give.

Processor time does not depend on what else the machine does, so a limit on it holds on a loaded machine too.
It is read for the whole tree below the supervisor, which tells it at the end. A control group would count the
same, but is not to be had everywhere.
"""

import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from agents.process.frozen import TICKS, processes_below
from state.records.commands import CommandUse

LOOK_S = 0.5  # between two looks at a command
_QUIET = 0.02  # of a processor: who uses less is waiting for something, and only looks whether it came
_SPARE = 0.1  # of all processors: with less idle than this, the command may have waited for one


class Meter:
    """Measures one command. `root` is its supervisor, and `printed` says how many bytes it has printed."""

    def __init__(self, root: int, printed: Callable[[], int]) -> None:
        """Begin to measure."""
        self._root, self._printed = root, printed
        self._begun = self._looked = time.monotonic()
        self._idle = _idle_s()
        self._cpu, self._bytes, self._silent, self._silence = 0.0, 0, 0.0, 0.0

    def look(self) -> CommandUse:
        """Return what the command has used so far. To be called every `LOOK_S`."""
        now, printed = time.monotonic(), self._printed()
        passed, self._looked = now - self._looked, now
        cpu = max(self._cpu, sum(processes_below(self._root, itself=True).values()))
        is_active = printed > self._bytes or cpu - self._cpu >= _QUIET * passed
        # sq itself may have been stopped meanwhile, which is no silence
        self._silent = 0.0 if is_active else self._silent + min(passed, 2 * LOOK_S)
        self._silence = max(self._silence, self._silent)
        self._cpu, self._bytes = cpu, printed
        return self.at_the_end(None)

    def at_the_end(self, told_s: float | None) -> CommandUse:
        """Return what an ended command used. `told_s`: its processor time as the supervisor tells it."""
        seconds, idle = time.monotonic() - self._begun, _idle_s() - self._idle
        cpu = self._cpu or None if told_s is None else max(self._cpu, told_s)
        crowded = idle < _SPARE * processors() * seconds
        used = None if cpu is None else cpu / seconds
        return CommandUse(
            seconds=seconds,
            cpu_s=cpu,
            silent_s=self._silent,
            silence_s=self._silence,
            is_crowded=crowded,
            processors=max(used, processors()) if used is not None and crowded else used,
        )


def processors() -> float:
    """Return how many processors this process may use: those of its mask, or fewer by its control group."""
    most = float(len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1)
    with suppress(OSError, ValueError):  # "max": no limit
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text("ascii").split()
        return min(most, int(quota) / int(period))
    return most


def _idle_s() -> float:
    """Return how long the processors of this process had nothing to do, together. Unknown: all the time."""
    if sys.platform != "linux":
        return time.monotonic() * processors()
    words = map(str.split, Path("/proc/stat").read_text("ascii").splitlines())
    own = {f"cpu{number}" for number in os.sched_getaffinity(0)}
    return sum(int(one[4]) + int(one[5]) for one in words if one[0] in own) / TICKS
