"""Screens that lie over the others for a moment: a sheet to read, and a line to type."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.events import Key, Resize
from textual.screen import ModalScreen

from orchestrator.views.watch.panel import Panel
from orchestrator.views.watch.text import ScreenLine, line

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


class FindPrompt(ModalScreen[str | None]):
    """One line at the bottom for a word to find. Its result is None if it was left with Esc."""

    def __init__(self, prompt: str) -> None:
        """Make the line.

        Args:
            prompt: stands before the typed word.
        """
        super().__init__()
        self._prompt = prompt
        self._typed = ""

    def compose(self) -> ComposeResult:
        """Return the parts of the screen."""
        yield Panel("question", ground="chosen")

    def on_mount(self) -> None:
        """Show the empty line."""
        self._show()

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
        self.query_one("#question", Panel).replace(
            [line((self._prompt, "key"), (self._typed, "strong"), ("_", "dim"), indent=-1)]
        )
