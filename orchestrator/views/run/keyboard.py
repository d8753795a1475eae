"""The person on the terminal of a run: lines from the keyboard, beside the display."""

import os
import sys
import termios

import anyio

from orchestrator.views.run.look import Detail, Look, LookMode
from orchestrator.views.screen import say

_MOST = 4096  # bytes of a line, as the terminal keeps them


class Keyboard:
    """As `Person`, at standard input."""

    def __init__(self) -> None:
        """Begin without a line."""
        self._typed = b""
        self._asked = False

    async def line(self) -> str:
        """As `Person`. It can be cancelled, and leaves what was typed for the next line."""
        if not self._asked:  # what was typed before the question answers nothing
            self._asked = True
            termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
        while b"\n" not in self._typed:
            await anyio.wait_readable(sys.stdin)
            more = os.read(sys.stdin.fileno(), _MOST)
            if not more:
                return ""
            self._typed += more
        line, _, self._typed = self._typed.partition(b"\n")
        return line.decode(errors="replace")

    def tell(self, text: str) -> None:
        """As `Person`."""
        say(text)


def person_at(look: Look) -> Keyboard | None:
    """Return the person at the terminal, or None if the run is not shown on one, or cannot be answered."""
    is_shown = look.mode is not LookMode.JSON and look.detail not in {Detail.NONE, Detail.END}
    return Keyboard() if is_shown and sys.stdin.isatty() and sys.stdout.isatty() else None
