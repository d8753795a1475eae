"""The processes of a session, stopped for the moment in which sq has its folder read.

A process that stands still cannot exchange folders for links meanwhile. Version 2's freezer stops a control
group that is the session's alone. Otherwise each process below the supervisor gets SIGSTOP, again and again
until two counts agree and each process of them stands: one that was interrupted while it made another does
not yet, and the other is in no count. Version 1's freezer is never used: a process that is killed in it does
not die. The supervisor itself goes on, so that it ends the tree if sq is killed meanwhile.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

NAMES = "SQ_PROCESS_FILE"  # the launcher writes its process id into the file that this variable names
LONGEST_S = 10.0  # then the processes go on, whatever is still read
_STOPPING_S = 0.5  # the most that is waited until all stand: one that waits for a disk cannot be stopped
_BETWEEN_S = 0.001
_STILL = frozenset({b"T", b"t", b"Z", b"X"})
TICKS = os.sysconf("SC_CLK_TCK")  # of processor time in a second

_living: dict[Path, list[Path]] = {}


@contextmanager
def living(workspace: Path, named: Path) -> Iterator[None]:
    """Note that a session works in a folder. Its launcher writes its process id to the file `named`."""
    noted = _living.setdefault(workspace, [])
    noted.append(named)
    try:
        yield
    finally:
        noted.remove(named)
        if not noted:
            del _living[workspace]
        named.unlink(missing_ok=True)


def is_living(workspace: Path) -> bool:
    """Whether a session works in this folder."""
    return workspace in _living


@contextmanager
def frozen(workspace: Path, *, longest_s: float = LONGEST_S) -> Iterator[None]:
    """Stop the processes of the sessions in this folder, for `longest_s` seconds at most."""
    roots = [root for named in _living.get(workspace, ()) if (root := _root_in(named))]
    stopped = [_Stopped(root) for root in roots]

    def go_on() -> None:
        for one in stopped:
            one.go_on()

    timer = threading.Timer(longest_s, go_on)
    timer.daemon = True
    try:
        if stopped:
            timer.start()
        for one in stopped:
            one.stop()
        yield
    finally:
        timer.cancel()
        go_on()


class _Stopped:
    """The tree below one supervisor."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._group = _own_group(root, processes_below(root))
        self._lock = threading.Lock()
        self._over = False
        self._processes: set[int] = set()

    def stop(self) -> None:
        end = time.monotonic() + _STOPPING_S
        if self._group:
            with self._lock:
                if not self._over:
                    _write(self._group / "cgroup.freeze", "1")
            while not _is_frozen(self._group) and time.monotonic() < end:
                time.sleep(_BETWEEN_S)
            return
        while time.monotonic() < end:
            now = {*processes_below(self._root)}
            with self._lock:
                if self._over or (now == self._processes and all(map(_stands, now))):
                    return
                for process in now:
                    _signal(process, signal.SIGSTOP)
                self._processes = now
            time.sleep(_BETWEEN_S)

    def go_on(self) -> None:
        with self._lock:
            self._over = True
            if self._group:
                _write(self._group / "cgroup.freeze", "0")
            for process in self._processes:
                _signal(process, signal.SIGCONT)
            self._processes = set()


def _root_in(named: Path) -> int:
    try:
        text = named.read_text("ascii").strip()
    except (OSError, ValueError):
        return 0
    return int(text) if text.isdecimal() else 0


def processes_below(root: int, *, itself: bool = False) -> dict[int, float]:
    """Return the processes below one, and `itself`, each with its processor time in seconds.

    That includes its children that have ended. Empty where there is no /proc.
    """
    children: dict[int, list[int]] = {}
    used: dict[int, float] = {}
    for name in os.listdir("/proc") if sys.platform == "linux" else ():  # noqa: PTH208  each exchange asks
        if name.isdecimal():
            with suppress(OSError, ValueError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                fields = file.read().rpartition(b")")[2].split()  # a program's name may hold anything
                children.setdefault(int(fields[1]), []).append(int(name))
                used[int(name)] = sum(map(int, fields[11:15])) / TICKS
    found, waiting = [root] if itself else [], [root]
    while waiting:
        new = children.get(waiting.pop(), [])
        found += new
        waiting += new
    return {one: used[one] for one in found if one in used}


def _own_group(root: int, below: Iterable[int]) -> Path | None:
    """Return the group of version 2 that a supervisor has made for the processes below it, if any."""
    for process in below:
        with suppress(OSError):
            lines = Path(f"/proc/{process}/cgroup").read_text("utf-8", errors="replace").splitlines()
            path = next((line[3:] for line in lines if line.startswith("0::")), "")
            if path.rpartition("/")[2] == str(root):
                return _version_2() / path.lstrip("/")
    return None


@cache
def _version_2() -> Path:
    """Return where the groups of version 2 are mounted."""
    mounts = (line.split() for line in Path("/proc/self/mounts").read_text("utf-8").splitlines())
    return next((Path(words[1]) for words in mounts if words[2] == "cgroup2"), Path("/sys/fs/cgroup"))


def _stands(process: int) -> bool:
    """Whether a process is stopped, or has ended."""
    try:
        state = Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()[0]
    except (OSError, IndexError):
        return True
    return state in _STILL


def _is_frozen(group: Path) -> bool:
    """Whether all processes of a control group stand, or it is gone."""
    try:
        return "frozen 1" in (group / "cgroup.events").read_text("ascii")
    except OSError:
        return True


def _write(file: Path, text: str) -> None:
    with suppress(OSError):
        file.write_text(text, "ascii")


def _signal(process: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(process, number)
