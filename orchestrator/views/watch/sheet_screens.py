"""Screens that lie over the others for a moment: a sheet to read, and a line to type."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.events import Key, Resize
from textual.screen import ModalScreen

from orchestrator.views.watch.panel import Panel
from orchestrator.views.watch.text import ScreenLine, line, rows_of

_CLOSING = "Esc closes · j k scroll · g G"


class Sheet(ModalScreen[None]):
    """Shows lines over the whole screen until it is closed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape,q,enter,w,d,t,question_mark", "close", ""),
        ("j,down", "scroll(1)", ""),
        ("k,up", "scroll(-1)", ""),
        ("pagedown,space", "page(1)", ""),
        ("pageup", "page(-1)", ""),
        ("g,home", "start", ""),
        ("G,end", "end", ""),
    ]

    def __init__(self, title: str, make: Callable[[int], Sequence[ScreenLine]]) -> None:
        """Make a sheet.

        Args:
            title: its first line.
            make: returns its lines for a width in columns.
        """
        super().__init__()
        self._title = title
        self._make = make

    def compose(self) -> ComposeResult:
        """Return the parts of the screen."""
        yield Panel("sheet-title", ground="raised")
        yield Panel("sheet")
        yield Panel("sheet-foot", ground="raised")

    def on_mount(self) -> None:
        """Fill the parts."""
        self.query_one("#sheet-title", Panel).replace([line((f" {self._title}", "title"), indent=-1)])
        self.query_one("#sheet-foot", Panel).replace([line((f" {_CLOSING}", "dim"), indent=-1)])
        self.query_one("#sheet", Panel).focus()

    def on_resize(self, event: Resize) -> None:
        """Make the lines for the new width."""
        self.query_one("#sheet", Panel).replace(self._make(max(20, event.size.width - 2)))

    def action_close(self) -> None:
        """Close the sheet."""
        self.dismiss()

    def action_scroll(self, rows: int) -> None:
        """Scroll by rows."""
        self.query_one("#sheet", Panel).scroll(rows)

    def action_page(self, pages: int) -> None:
        """Scroll by pages."""
        panel = self.query_one("#sheet", Panel)
        panel.scroll(pages * max(1, panel.size.height - 1))

    def action_start(self) -> None:
        """Show the beginning."""
        self.query_one("#sheet", Panel).to_start()

    def action_end(self) -> None:
        """Show the end."""
        self.query_one("#sheet", Panel).to_end()


class LinePrompt(ModalScreen[str | None]):
    """A line to type at the bottom, the screen stays above it. Its result is None if it was left with Esc."""

    def __init__(self, prompt: str, about: Sequence[ScreenLine] = ()) -> None:
        """Make the line.

        Args:
            prompt: stands before the typed words.
            about: lines above it that say what is asked.
        """
        super().__init__()
        self._prompt = prompt
        self._about = about
        self._typed = ""

    def compose(self) -> ComposeResult:
        """Return the parts of the screen."""
        with Vertical(id="prompt"):
            yield Panel("about", ground="raised")
            yield Panel("question", ground="chosen")

    def on_mount(self) -> None:
        """Show the empty line."""
        self._show()

    def on_resize(self, event: Resize) -> None:
        """Give what is asked the rows that it needs, at most half of the screen."""
        panel = self.query_one("#about", Panel)
        rows = sum(len(rows_of(one, max(1, event.size.width - 2))) for one in self._about)
        panel.display = rows > 0
        panel.styles.height = max(1, min(rows, event.size.height // 2))
        panel.replace(self._about)

    def on_key(self, event: Key) -> None:
        """Take what is typed."""
        event.stop()
        match event.key:
            case "escape":
                self.dismiss(None)
            case "enter":
                self.dismiss(self._typed)
            case "backspace":
                self._typed = self._typed[:-1]
            case "ctrl+u":
                self._typed = ""
            case _ if event.is_printable and event.character:
                self._typed += event.character
        if self.is_current:
            self._show()

    def _show(self) -> None:
        """Show what was typed, of a long text the end."""
        room = max(1, self.app.size.width - cell_len(self._prompt) - 1)
        typed = self._typed
        while cell_len(typed) > room:
            typed = typed[1:]
        self.query_one("#question", Panel).replace(
            [line((self._prompt, "key"), (typed, "strong"), ("_", "dim"), indent=-1)]
        )
