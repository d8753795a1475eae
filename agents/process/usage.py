"""What the process tree of a command uses: processor time, silence, and whether the machine had more to give.

Processor time does not depend on what else the machine does, so a limit on it holds on a loaded machine too.
It is read for the whole tree below the supervisor in /proc, while the command runs, and the supervisor tells
it at the end. A control group would count the same, but is not to be had everywhere.
"""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

LOOK_S = 0.5  # between two looks at a command
_TICKS = os.sysconf("SC_CLK_TCK")
_QUIET = 0.02  # of a processor: who uses less is waiting for something, and only looks whether it came
_SPARE = 0.1  # of all processors: with less idle than this, somebody may have had to wait for one


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a command has used so far, in seconds.

    `cpu_s` is the processor time of its tree. None: it cannot be had on this system. `silent_s` is how long
    it has neither printed nor used processor time by now, `silence_s` the longest such time. `is_crowded`:
    the machine had no processor to spare, so the command may have waited for one.
    """

    seconds: float
    cpu_s: float | None
    silent_s: float = 0.0
    silence_s: float = 0.0
    is_crowded: bool = False

    @property
    def processors(self) -> float | None:
        """How many processors it uses: all, if it may have had to wait for more. None: unknown."""
        if self.cpu_s is None or not self.seconds:
            return None
        used = self.cpu_s / self.seconds
        return max(used, processors()) if self.is_crowded else used


class Meter:
    """Measures one command. `root` is its supervisor, and `printed` says how many bytes it has printed."""

    def __init__(self, root: int, printed: Callable[[], int]) -> None:
        """Begin to measure."""
        self._root, self._printed = root, printed
        self._begun = self._looked = time.monotonic()
        self._idle = _idle_s()
        self._cpu, self._bytes, self._silent, self._silence = 0.0, 0, 0.0, 0.0

    def look(self) -> Usage:
        """Return what the command has used so far. To be called every `LOOK_S`."""
        now, printed = time.monotonic(), self._printed()
        read = sum(processes_below(self._root, itself=True).values())
        cpu, passed = max(self._cpu, read), now - self._looked
        if printed > self._bytes or cpu - self._cpu >= _QUIET * passed:
            self._silent = 0.0
        else:
            self._silent += min(passed, 2 * LOOK_S)  # sq itself may have been stopped meanwhile
        self._silence = max(self._silence, self._silent)
        self._looked, self._cpu, self._bytes = now, cpu, printed
        return self._usage(self._cpu or None)

    def at_the_end(self, told_s: float | None) -> Usage:
        """Return what an ended command used. `told_s`: its processor time as the supervisor has told it."""
        return self._usage(max(self._cpu, told_s) if told_s is not None else self._cpu or None)

    def _usage(self, cpu: float | None) -> Usage:
        seconds, idle = time.monotonic() - self._begun, _idle_s()
        spare = _SPARE * processors() * seconds
        return Usage(
            seconds=seconds,
            cpu_s=cpu,
            silent_s=self._silent,
            silence_s=self._silence,
            is_crowded=self._idle is not None and idle is not None and idle - self._idle < spare,
        )


def processes_below(root: int, *, itself: bool = False) -> dict[int, float]:
    """Return the processes below one, and `itself`, each with its processor time in seconds.

    That includes its children that have ended. Empty where there is no /proc.
    """
    children: dict[int, list[int]] = {}
    used: dict[int, float] = {}
    for name in os.listdir("/proc") if Path("/proc").is_dir() else ():  # noqa: PTH208  each exchange asks
        if name.isdecimal():
            with suppress(OSError, ValueError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                fields = file.read().rpartition(b")")[2].split()  # a program's name may hold anything
                children.setdefault(int(fields[1]), []).append(int(name))
                used[int(name)] = sum(map(int, fields[11:15])) / _TICKS
    found, waiting = [root] if itself else [], [root]
    while waiting:
        new = children.get(waiting.pop(), [])
        found += new
        waiting += new
    return {one: used[one] for one in found if one in used}


def processors() -> float:
    """Return how many processors this process may use: those of its mask, or fewer by its control group."""
    most = len(_own()) or os.cpu_count() or 1
    for file, period in (("cpu.max", ""), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):
        with suppress(OSError, ValueError):
            root = Path("/sys/fs/cgroup")
            words = (root / file).read_text("ascii").split() + (
                (root / period).read_text("ascii").split() if period else []
            )
            if float(words[0]) > 0:  # -1 or "max": no limit
                return min(most, float(words[0]) / float(words[1]))
    return float(most)


def _own() -> set[int]:
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()


def _idle_s() -> float | None:
    """Return how long the processors of this process had nothing to do, together. None: unknown."""
    try:
        lines = Path("/proc/stat").read_text("ascii").splitlines()
    except OSError:
        return None
    own = {f"cpu{number}" for number in _own()}
    words = (line.split() for line in lines if line.startswith("cpu"))
    return sum(int(one[4]) + int(one[5]) for one in words if one[0] in own) / _TICKS
