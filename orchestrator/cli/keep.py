"""`sq run --keep`, `sq resume --keep`: a small parent resumes a run that was killed, and loads nothing of it.

The parent forks before the run begins, so each process of the run begins as sq itself would: with the whole
environment, at the same terminal. What sq ends itself, by any exit code, is never resumed here.
"""

import os
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from orchestrator.views.screen import say
from state.outcome import Outcome

MOST = 5  # resumptions within an hour
_HOUR_S = 3_600.0
_KILLS = {signal.SIGKILL, signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL}
_STOPS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
_LONGEST = 4_096  # bytes of a path

Note = Callable[[Path], None]


def kept(begin: Callable[[Note], int], again: Callable[[Path | None, Note], int], name: str = "") -> int:
    """Return the exit code of a run, whose process is begun anew when it was killed.

    In a process of the run this returns when its work is over, so the caller ends as without a parent.

    Args:
        begin: begins its first process, and calls what it is given with the run's folder once all that was
            asked for can be read there.
        again: begins another one, with that folder, or None if it did not come so far.
        name: of the run, if it has one.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {*_STOPS, signal.SIGCHLD})
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    folder: Path | None = None
    resumed: list[float] = []
    while True:
        child = os.fork()
        if child == 0:
            os.close(reading)
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            note = partial(_write, writing)
            return again(folder, note) if resumed else begin(note)
        status, stopped = _wait(child)
        folder = _read(reading) or folder
        name = folder.name if folder else name
        if not os.WIFSIGNALED(status):
            return os.waitstatus_to_exitcode(status)
        number = os.WTERMSIG(status)
        by = signal.Signals(number).name
        resumed = [at for at in resumed if time.monotonic() - at < _HOUR_S]
        if stopped or number not in _KILLS:
            say(f"sq: the run's process was ended by {by}. {_how(name)}", error=True)
            return Outcome.INTERRUPTED.exit_code
        if len(resumed) >= MOST:
            times = f"{len(resumed) + 1} times within an hour"
            say(f"sq: the run's process was killed {times}, so something is wrong. {_how(name)}", error=True)
            return Outcome.FAILED.exit_code
        resumed.append(time.monotonic())
        count = f"{len(resumed)} of at most {MOST} times in an hour"
        goes_on = f"It is resumed: {name}" if name else "It is begun anew"
        say(f"sq: the run's process was killed ({by}). {goes_on} ({count})", error=True)


def _how(name: str) -> str:
    return f"Go on with: sq resume {name}" if name else "There was no run yet, so begin it anew"


def _wait(child: int) -> tuple[int, bool]:
    """Wait for a process of the run: (its status, whether anybody asked this one to stop).

    A signal to this process alone is passed on. What a terminal sends reaches both.
    """
    stopped = False
    while True:
        got = signal.sigwaitinfo({*_STOPS, signal.SIGCHLD})
        if got.si_signo != signal.SIGCHLD:
            stopped = True
            if got.si_code <= 0:  # from a process, not from the kernel
                os.kill(child, got.si_signo)
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status, stopped


def _write(writing: int, folder: Path) -> None:
    os.write(writing, os.fsencode(folder))
    os.close(writing)


def _read(reading: int) -> Path | None:
    try:
        found = os.read(reading, _LONGEST)
    except BlockingIOError:
        return None
    return Path(os.fsdecode(found)) if found else None
