"""Words of agents in Markdown: always in code spans, so that no name, number, address or sign acts."""

import re
from collections.abc import Iterable

from state.hidden import visible

_TICKS = re.compile(r"`+")
_BREAK = re.compile(r"\r\n?|\n")
_MARK = "sq:run="  # by which the pull request of a run is found
_NOTHING = "(nothing)"


def code(text: str) -> str:
    """Return a text as one code span. Its fence is longer than any run of backticks in it."""
    shown = visible(text).replace(_MARK, f"{_MARK[:-1]} =")
    if not shown.strip():
        return _NOTHING if not shown else f"`{shown.replace(' ', chr(0xB7))}`"
    fence = "`" * (1 + max((len(run) for run in _TICKS.findall(shown)), default=0))
    edge = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{edge}{shown}{edge}{fence}"


def said(who: str, text: str, indent: str = "") -> list[str]:
    """Return words of an agent as a quote, each of its lines a code span."""
    parts = [line for line in _BREAK.split(text) if line.strip()]
    lines = [f"{who} says:", *(code(line) for line in parts)]
    return [f"{indent}> {line}{_end(number, lines)}" for number, line in enumerate(lines)]


def _end(number: int, lines: list[str]) -> str:
    return "" if number == len(lines) - 1 else "<br>"


def codes(texts: Iterable[str]) -> str:
    """Return texts as code spans with commas between them."""
    return ", ".join(code(text) for text in texts)
