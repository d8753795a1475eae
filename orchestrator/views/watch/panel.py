"""A part of the screen that shows lines: it scrolls, follows its end, marks found words and a chosen line."""

from collections.abc import Sequence

from rich.segment import Segment
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from orchestrator.views.watch.text import Row, ScreenLine, rows_of, style_of

MOST_LINES = 2_000


class Panel(Widget):
    """Shows lines from `top` on. Only rows that changed are drawn anew."""

    can_focus = True

    def __init__(self, id: str, *, ground: str = "ground", follows: bool = False) -> None:  # noqa: A002
        """Make an empty panel.

        Args:
            id: as in the style sheet.
            ground: the name of its background.
            follows: it shows its end and goes on doing so until somebody scrolls up.
        """
        super().__init__(id=id)
        self.top = 0
        self.chosen: int | None = None  # the number of a line
        self.unseen = 0  # lines that came while it was scrolled up
        self.word = ""  # it is marked
        self._ground = ground
        self._follows = follows
        self._at_end = follows
        self._lines: list[ScreenLine] = []
        self._rows: list[Row] = []
        self._line_of: list[int] = []  # by row
        self._wrapped_for = 0

    @property
    def lines(self) -> Sequence[ScreenLine]:
        """The lines that it holds."""
        return self._lines

    @property
    def is_at_end(self) -> bool:
        """Whether its last row is shown."""
        return self.top >= self._last_top

    @property
    def _last_top(self) -> int:
        return max(0, len(self._rows) - max(1, self.size.height))

    def replace(self, lines: Sequence[ScreenLine], *, anew: bool = False) -> None:
        """Show other lines. `anew`: they are about something else, so the place in them is forgotten."""
        if anew:
            self.top, self.unseen, self.chosen = 0, 0, None
            self._at_end = self._follows
        if not anew and self._lines == lines:
            return
        before = self._visible()
        self._lines = list(lines[-MOST_LINES:])
        self._wrap()
        self._settle()
        self._draw(before)

    def add(self, lines: Sequence[ScreenLine]) -> None:
        """Add lines at the end. The oldest beyond the limit go."""
        if not lines:
            return
        before = self._visible()
        first = len(self._lines)
        self._lines.extend(lines)
        self._wrap_from(first)
        self._forget_oldest()
        if not self._at_end:
            self.unseen += len(lines)
        self._settle()
        self._draw(before)

    def put_before(self, lines: Sequence[ScreenLine]) -> None:
        """Show lines of which those that it holds are the last. The same rows stay on the screen."""
        rows = len(self._rows)
        self._lines = list(lines[-MOST_LINES:])
        self._wrap()
        self.top += max(0, len(self._rows) - rows)
        self._settle()
        self.refresh()

    def scroll(self, rows: int) -> None:
        """Move by this many rows, up if below zero."""
        before = self._visible()
        self.top = max(0, min(self.top + rows, self._last_top))
        self._at_end = self._follows and self.is_at_end
        self.unseen = 0 if self.is_at_end else self.unseen
        self._draw(before)

    def to_end(self) -> None:
        """Show the end, and follow it again."""
        self.scroll(len(self._rows))

    def to_start(self) -> None:
        """Show the beginning."""
        self.scroll(-len(self._rows))

    def choose(self, number: int | None) -> None:
        """Mark a line and show it."""
        before = self._visible()
        self.chosen = number
        if number is not None and number in self._line_of:
            self._show_row(self._line_of.index(number))
        self._draw(before)

    def find(self, word: str, *, backwards: bool = False, again: bool = False) -> bool:
        """Mark a word and show the next row that holds it. Returns whether there is one."""
        before = self._visible()
        self.word = word
        rows = range(len(self._rows))
        hits = [row for row in rows if word and word.lower() in _plain(self._rows[row]).lower()]
        if hits:
            below = [row for row in hits if row > self.top] if again else [r for r in hits if r >= self.top]
            above = [row for row in hits if row < self.top]
            to = (above or hits)[-1] if backwards else (below or hits)[0]
            self.top = min(to, self._last_top)
            self._at_end = self._follows and self.is_at_end
        self._draw(before)
        return bool(hits)

    def render_line(self, y: int) -> Strip:
        """Return one row of the screen, as Textual asks for it."""
        if self._wrapped_for != self.size.width:
            self._wrap()
            self._settle()
        number = self.top + y
        ground = self._ground
        row: Row = ()
        if 0 <= number < len(self._rows):
            row = self._rows[number]
            ground = "chosen" if self._line_of[number] == self.chosen else ground
        colours = not self.app.no_color
        segments = [
            Segment(text, style_of(style, on, colours=colours))
            for text, style, on in _marked(row, self.word, ground)
        ]
        return Strip(segments).adjust_cell_length(self.size.width, style_of("", ground, colours=colours))

    def on_resize(self) -> None:
        """Wrap the lines for the new width."""
        if self._wrapped_for != self.size.width:
            self._wrap()
        self._settle()
        self.refresh()

    def _wrap(self) -> None:
        self._rows, self._line_of = [], []
        self._wrapped_for = self.size.width
        self._wrap_from(0)

    def _wrap_from(self, first: int) -> None:
        width = self._wrapped_for
        if not width:  # it has no place on the screen yet
            return
        for number in range(first, len(self._lines)):
            rows = rows_of(self._lines[number], width)
            self._rows.extend(rows)
            self._line_of.extend([number] * len(rows))

    def _forget_oldest(self) -> None:
        extra = len(self._lines) - MOST_LINES
        if extra <= 0:
            return
        rows = self._line_of.index(extra) if self._rows else 0
        del self._lines[:extra], self._rows[:rows]
        self._line_of = [number - extra for number in self._line_of[rows:]]
        self.top = max(0, self.top - rows)

    def _settle(self) -> None:
        self.top = self._last_top if self._at_end else min(self.top, self._last_top)
        if self._at_end:
            self.unseen = 0
        if self.chosen is not None and self.chosen in self._line_of:
            self._show_row(self._line_of.index(self.chosen))

    def _show_row(self, row: int) -> None:
        height = max(1, self.size.height)
        if row < self.top:
            self.top = row
        elif row >= self.top + height:
            self.top = row - height + 1

    def _visible(self) -> list[tuple[Row, bool]]:
        last = self.top + self.size.height
        numbers = self._line_of[self.top : last]
        return list(zip(self._rows[self.top : last], (one == self.chosen for one in numbers), strict=True))

    def _draw(self, before: list[tuple[Row, bool]]) -> None:
        """Draw the rows that differ from those before."""
        after = self._visible()
        if self.word:
            self.refresh()
            return
        width = self.size.width
        changed = [
            Region(0, y, width, 1) for y in range(self.size.height) if before[y : y + 1] != after[y : y + 1]
        ]
        if changed:
            self.refresh(*changed)


def _plain(row: Row) -> str:
    return "".join(text for text, _ in row)


def _marked(row: Row, word: str, ground: str) -> list[tuple[str, str, str]]:
    """Return the spans of a row with their grounds: a found word has its own."""
    if not word or word.lower() not in _plain(row).lower():
        return [(text, style, ground) for text, style in row]
    spans = []
    for text, style in row:
        rest, low = text, word.lower()
        while low in rest.lower() and len(rest.lower()) == len(rest):
            at = rest.lower().index(low)
            spans += [(rest[:at], style, ground), (rest[at : at + len(word)], style, "found")]
            rest = rest[at + len(word) :]
        spans.append((rest, style, ground))
    return [one for one in spans if one[0]]
