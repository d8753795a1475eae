"""The program of `sq watch`: its screens, and its end, which always leaves the terminal as it was."""

import asyncio
import signal
import traceback
from collections.abc import Callable
from typing import ClassVar

from rich.text import Text
from textual.app import App
from textual.binding import Binding, BindingType
from textual.screen import Screen

from orchestrator.views.screen import shown
from orchestrator.views.watch.text import CHOSEN, GROUND, RAISED

_LAYOUT = f"""
Screen {{ background: {GROUND}; overflow: hidden; }}
Panel {{ height: 1; background: {GROUND}; overflow: hidden; }}
#head, #title, #feed-title, #foot, #band, #sheet-title, #sheet-foot {{ background: {RAISED}; }}
#band {{ display: none; }}
#title {{ height: 3; }}
#body {{ height: 1fr; }}
#left {{ width: 46%; max-width: 72; }}
#right {{ width: 1fr; border-left: solid {CHOSEN}; }}
#tasks {{ height: 1fr; }}
#feed {{ height: 34%; }}
#pane, #runs, #sheet {{ height: 1fr; }}
#sheet {{ padding: 0 1; }}
.alone #left {{ display: none; }}
.alone #right {{ border-left: none; }}
.narrow #right {{ display: none; }}
.narrow #left {{ width: 1fr; max-width: 1000; }}
.narrow.alone #right {{ display: block; }}
LinePrompt {{ align: left bottom; background: {GROUND} 0%; }}
#prompt {{ height: auto; }}
#about {{ background: {RAISED}; padding: 0 1; }}
#question {{ background: {CHOSEN}; }}
"""
TERMINATED = 143  # exit code after SIGTERM: 128 and its number


class WatchApp(App[int]):
    """Shows one screen, and others over it. It makes no animation, and takes no mouse."""

    CSS = _LAYOUT
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c", "quit", priority=True, show=False)]

    def __init__(self, first: Callable[["WatchApp"], Screen[None]], *, colours: bool = True) -> None:
        """Make the program.

        Args:
            first: makes its first screen.
            colours: False: the terminal's own colours alone.
        """
        super().__init__(ansi_color=not colours)
        self.animation_level = "none"
        self._first = first

    def on_mount(self) -> None:
        """Show the first screen."""
        if not self.is_headless:
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self.exit, TERMINATED, TERMINATED)
        self.push_screen(self._first(self))

    def _fatal_error(self) -> None:
        """Leave the terminal as it was and print the error, without the values of variables.

        Textual would print these too, and they hold words of agents.
        """
        lines = [one for text in traceback.format_exc().splitlines() for one in shown(text)]
        self.panic(Text("\n".join([*lines, "sq watch: this is a defect of sq. The run goes on."])))
