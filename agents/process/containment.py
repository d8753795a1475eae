"""How a process tree is held together, so that all of it can be killed, and put around a command.

The last lines of standard error, and how the process ended, are read from the launcher of Claude Code.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import deque
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from agents.process.supervisor import ENDED
from state.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SUPERVISOR = Path(__file__).with_name("supervisor.py")
WORDS_KEPT = 20
PROBE_LIMIT_S = 5.0  # it takes 50 ms, and an overloaded machine still gets the safer way


class Containment(StrEnum):
    """How a process tree is held together. `agents/process/supervisor.py` describes both ways."""

    NAMESPACES = "namespaces"
    SUPERVISOR = "supervisor"


def detect_containment(environ: Mapping[str, str] = os.environ) -> Containment:
    """Return the way that works here: `SQ_CONTAINMENT` if set, else namespaces if a trial run succeeds.

    Takes about 50 ms and blocks. Call it before the event loop starts.

    Raises:
        UsageError: `SQ_CONTAINMENT` does not name a way.
    """
    forced = environ.get("SQ_CONTAINMENT", "")
    if forced:
        try:
            return Containment(forced)
        except ValueError:
            known = ", ".join(Containment)
            raise UsageError(
                f"SQ_CONTAINMENT is {forced!r}. Set it to one of: {known}, or unset it"
            ) from None
    return Containment.NAMESPACES if _namespaces_work() else Containment.SUPERVISOR


def contained(
    argv: Sequence[str],
    containment: Containment,
    *,
    parent: int | None = None,
    report: str = "-",
    limits: Sequence[str] = (),
) -> list[str]:
    """Return the command line that runs `argv` so that its tree ends with process `parent` (this one).

    Only `parent` itself can start it. Started by another process it refuses, exit code 125. The tree also
    ends when `argv` exits (the exit code is that of `argv`, 128 + n if signal n ended it) and two seconds
    after SIGTERM, which `argv` gets first. `report` is described in
    `supervisor.py`. `limits` are those of its sandbox and hold for the whole tree.
    """
    # -I -S: the user's variables, site-packages and the working folder do not affect its imports.
    python = [sys.executable, "-I", "-S", str(SUPERVISOR)]
    how = [str(os.getpid() if parent is None else parent), containment.value, report]
    return [*python, *how, *limits, "--", *argv]


@cache
def _namespaces_work() -> bool:
    if sys.platform != "linux":
        return False
    try:
        trial = subprocess.run(
            contained(["true"], Containment.NAMESPACES),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PROBE_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return trial.returncode == 0


class LastWords:
    """A launcher's standard error: the newest lines, and whether and how the process ended.

    `hear` takes each line. `exit_code` is None until `ended` is set.
    """

    def __init__(self) -> None:
        self.ended = anyio.Event()
        self.exit_code: int | None = None
        self._lines: deque[str] = deque(maxlen=WORDS_KEPT)

    def __str__(self) -> str:
        """Return the lines for the end of a sentence, or "" if there are none."""
        return f" (it said: {' | '.join(self._lines)})" if self._lines else ""

    def hear(self, line: str) -> None:
        """Take the next line. That of the supervisor is not kept for people."""
        code = line.removeprefix(ENDED)
        if code == line or not code.isdecimal():
            self._lines.append(line)
            return
        self.exit_code = int(code)
        self.ended.set()
