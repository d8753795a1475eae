"""The standard error of Claude Code's launcher: its last lines, and how the process ended."""

from collections import deque

import anyio

from agents.process.supervisor import ENDED

WORDS_KEPT = 20


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
