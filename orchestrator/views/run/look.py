"""The look of a run that is shown (its form, and how much of it), and the person at its terminal."""

import os
import sys
import termios
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import anyio

from orchestrator.views.screen import say


class LookMode(StrEnum):
    """The form in which a run is shown."""

    JSON = "json"
    PLAIN = "plain"
    LIVE = "live"


class Detail(StrEnum):
    """How much of a run is shown: nothing, its end, its story, or every event."""

    NONE = "none"
    END = "end"
    STORY = "story"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """The form in which a run is shown, and how much of it. JSON has always all.

    `follow` are commands that show more of the run, which a live table names.
    """

    mode: LookMode = LookMode.PLAIN
    detail: Detail = Detail.STORY
    follow: tuple[str, ...] = ()


def chosen_look(
    *, as_json: bool, plain: bool, verbose: bool, quiet: bool, environ: Mapping[str, str]
) -> Look:
    """JSON if it was asked for, live on a terminal, and plain elsewhere, under CI and on a dumb terminal."""
    detail = Detail.ALL if verbose else Detail.END if quiet else Detail.STORY
    if as_json:
        return Look(mode=LookMode.JSON, detail=detail)
    no_terminal = environ.get("CI") or environ.get("TERM") == "dumb" or not sys.stdout.isatty()
    return Look(mode=LookMode.PLAIN if plain or quiet or no_terminal else LookMode.LIVE, detail=detail)


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
        say(text)


def person_at(look: Look) -> Keyboard | None:
    """Return the person at the terminal, or None if the run is not shown on one, or cannot be answered."""
    is_shown = look.mode is not LookMode.JSON and look.detail not in {Detail.NONE, Detail.END}
    return Keyboard() if is_shown and sys.stdin.isatty() and sys.stdout.isatty() else None
