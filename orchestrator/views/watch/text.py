"""Lines of styled text, their colours, and the rows of a terminal that show them.

All text passes `rows_of`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from rich.cells import cell_len, set_cell_size
from rich.style import Style

from orchestrator.views.screen import BREAK, cell

GROUND, RAISED, CHOSEN, FOUND = "#10151b", "#1d2732", "#2b3d52", "#5c4a00"
GROUNDS = {"ground": GROUND, "raised": RAISED, "chosen": CHOSEN, "found": FOUND}
# A style: its colour, and whether it is bold. A word or a sign always says the same as the colour.
# Each text has a contrast of at least 4.5 on every ground.
STYLES: dict[str, tuple[str, bool]] = {
    "": ("#e8edf2", False),
    "dim": ("#b4c0cb", False),
    "strong": ("#ffffff", True),
    "title": ("#ffffff", True),
    "good": ("#8fe39a", False),
    "bad": ("#ffb0a8", True),
    "warn": ("#ffd479", False),
    "work": ("#8ed8f8", False),
    "wait": ("#b4c0cb", False),
    "need": ("#f5b7ff", True),
    "key": ("#ffd479", True),
    "agent": ("#d5dfe8", False),
    "added": ("#8fe39a", False),
    "removed": ("#ffb0a8", False),
    "hunk": ("#8ed8f8", False),
}
_REVERSED = frozenset({"chosen", "found"})

Span = tuple[str, str]  # a text and the name of its style
Row = tuple[Span, ...]

_LONGEST = 2_000  # characters of a line. More are cut
_TAB = "    "
_SPACES_LOOKED_AT = 0.7  # a row ends at its last space, if this is in the last part of it
_MORE = "…"
_WIDEST = 2  # columns of one character


@dataclass(frozen=True, slots=True)
class ScreenLine:
    """One line. Its further rows are indented by `indent` columns, or cut off if `indent` is below 0."""

    spans: Row
    indent: int = 0

    @property
    def plain(self) -> str:
        """The line without its styles."""
        return "".join(text for text, _ in self.spans)


def line(*spans: Span | str, indent: int = 0) -> ScreenLine:
    """Return a line of spans. A text alone has the ordinary style."""
    return ScreenLine(tuple((one, "") if isinstance(one, str) else one for one in spans), indent)


def text_of(text: str, style: str = "", *, before: str = "", most: int = 0) -> list[ScreenLine]:
    """Return a text as lines, each with `before` in front of it.

    `most`: of a longer text the first lines are kept, and the number of the others is named. 0 keeps all.
    """
    each = BREAK.split(text)
    kept = each[:most] if most and len(each) > most + 1 else each
    lines = [line((before, "dim"), (one, style), indent=len(before)) for one in kept]
    if left := len(each) - len(kept):
        lines.append(line((f"{before}{_MORE} {left} more lines", "dim")))
    return lines


def rows_of(one: ScreenLine, width: int) -> list[Row]:
    """Return the rows that show a line on `width` columns. Hidden and steering characters are escaped."""
    spans = _shown(one)
    if sum(cell_len(text) for text, _ in spans) <= width:
        return [spans]
    if one.indent < 0:
        return [_cut(spans, width)]
    return list(_wrapped(spans, width, min(one.indent, width // 2)))


def _shown(one: ScreenLine) -> Row:
    left = _LONGEST
    spans = []
    for text, style in one.spans:
        short = text if len(text) <= left else f"{text[:left]}{_MORE}"
        left = max(0, left - len(text))
        spans.append((cell(short.replace("\t", _TAB)), style))
    return tuple(spans)


def _cut(spans: Row, width: int) -> Row:
    """Return the beginning of a row with a sign that there was more."""
    left, kept = width - 1, []
    for text, style in spans:
        if cell_len(text) <= left:
            kept.append((text, style))
            left -= cell_len(text)
            continue
        kept.append((set_cell_size(text, left).rstrip() + _MORE, style))
        break
    return tuple(kept)


def _wrapped(spans: Row, width: int, indent: int) -> Iterator[Row]:
    if width - indent < _WIDEST:
        indent = 0
    if width < _WIDEST:
        yield _cut(spans, max(1, width))
        return
    rest: list[Span] = list(spans)
    before: Row = ()
    room = width
    while rest:
        row, rest = _first_row(rest, room)
        yield (*before, *row)
        if rest and rest[0][0].startswith(" ") and not rest[0][0].startswith("  "):
            rest[0] = (rest[0][0][1:], rest[0][1])  # the space between two words at the end of a row
        before, room = ((" " * indent, ""),) if indent else (), width - indent


def _first_row(spans: list[Span], width: int) -> tuple[list[Span], list[Span]]:
    row: list[Span] = []
    left = width
    for number, (text, style) in enumerate(spans):
        taken = cell_len(text)
        if taken <= left:
            row.append((text, style))
            left -= taken
            continue
        size = _fitting(text, left)
        space = text.rfind(" ", 0, size)
        if space >= size * _SPACES_LOOKED_AT and space > 0:
            size = space + 1
        if size == 0 and not row:
            size = 1
        if size:
            row.append((text[:size], style))
        return row, [(text[size:], style), *spans[number + 1 :]]
    return row, []


def _fitting(text: str, columns: int) -> int:
    """Return how many characters of a text fit into this many columns."""
    if text.isascii():
        return min(len(text), columns)
    low, high = 0, min(len(text), columns)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if cell_len(text[:middle]) <= columns else (low, middle - 1)
    return low


@cache
def style_of(name: str, ground: str = "ground", *, colours: bool = True) -> Style:
    """Return the style of this name on this ground.

    Args:
        ground: `ground`, `raised`, `chosen` or `found`.
        colours: False: only bold and reversed text, in the terminal's own colours.
    """
    colour, bold = STYLES[name]
    if not colours:
        return Style(bold=bold, reverse=ground in _REVERSED)
    return Style(color=colour, bgcolor=GROUNDS[ground], bold=bold)
