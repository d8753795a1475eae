"""A program in a terminal of its own: what it writes, the keys that it gets, and how it leaves the terminal."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Self

ROOT = Path(__file__).parents[2]
DEADLINE_S = 30.0
_MODES = re.compile(rb"\x1b\[\?(\d+)([hl])")
_SEQUENCES = re.compile(
    r"\x1b\[[0-9;:?<>=!]*[ -/]*[@-~]"  # CSI
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC
    r"|\x1bP[^\x1b]*\x1b\\|\x1b[()][0AB]|\x1b[=>78cMH]"
)
SQ = (sys.executable, "-m", "orchestrator.cli")


class Terminal:
    """A program in a pseudo-terminal. Use it as a context manager."""

    def __init__(
        self,
        *command: str,
        columns: int = 80,
        lines: int = 24,
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self._before = termios.tcgetattr(slave)
        self._slave = slave
        left_out = {"CI", "NO_COLOR", "COLUMNS", "LINES"}  # the last two hold instead of the terminal's size
        inherited = {key: value for key, value in os.environ.items() if key not in left_out}
        told = {**inherited, "TERM": "xterm-256color", "COLORTERM": "truecolor", "PYTHONPATH": str(ROOT)}
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, cwd=cwd or ROOT,
            env={**told, **(environment or {})}, start_new_session=True,
        )  # fmt: skip
        self.written = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._slave)
        os.close(self.master)

    def read(self, seconds: float = 0.05) -> bytes:
        """What comes within this time, empty if nothing."""
        ready, _, _ = select.select([self.master], [], [], seconds)
        if not ready:
            return b""
        try:
            part = os.read(self.master, 65536)
        except OSError:
            return b""
        self.written += part
        return part

    def until(self, met: Callable[[], object] | str, *, deadline_s: float = DEADLINE_S) -> None:
        """Read until something is met, or a text was written. Fails at the deadline with the end of what came."""
        end = time.monotonic() + deadline_s
        while not (met in self.text if isinstance(met, str) else met()):
            if time.monotonic() > end:
                raise AssertionError(f"not within {deadline_s} s: {met}. Written: …{self.text[-3000:]!r}")
            self.read()

    def press(self, keys: str) -> None:
        """Send keys."""
        os.write(self.master, keys.encode())

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the program."""
        self.process.send_signal(number)

    def end(self) -> int:
        """Wait until the program has ended, and return its exit code."""
        end = time.monotonic() + DEADLINE_S
        while self.process.poll() is None:
            if time.monotonic() > end:
                raise AssertionError(f"it does not end. Written: …{self.text[-2000:]!r}")
            self.read()
        while self.read(0.2):
            pass
        return self.process.returncode

    @property
    def text(self) -> str:
        """What was written, without the sequences that steer the terminal."""
        return _SEQUENCES.sub("", self.written.decode(errors="replace"))

    @property
    def modes(self) -> dict[int, bool]:
        """The terminal's private modes as they are now: 1049 is the alternate screen, 25 the cursor."""
        return {int(number): state == b"h" for number, state in _MODES.findall(self.written)}

    @property
    def is_as_before(self) -> bool:
        """Whether line editing and echo are on as before, the cursor is shown, the alternate screen is left."""
        now = termios.tcgetattr(self._slave)
        shown = self.modes.get(25, True) and not self.modes.get(1049, False)
        pasted_or_mouse = any(self.modes.get(mode, False) for mode in (1000, 1002, 1003, 1004, 1006, 2004))
        return now[:4] == self._before[:4] and shown and not pasted_or_mouse
