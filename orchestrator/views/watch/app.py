"""The program of `sq watch`, and the list of the runs of a state folder, newest first. Enter opens one."""

import asyncio
import signal
import traceback
from collections.abc import Callable
from typing import ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from orchestrator.views.models.summary import RunState, RunSummary
from orchestrator.views.screen import shown
from orchestrator.views.watch.panel import Panel
from orchestrator.views.watch.sheets import Sheet, keys
from orchestrator.views.watch.text import CHOSEN, GROUND, RAISED, ScreenLine, line
from orchestrator.views.words import duration

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


_AGAIN_S = 2.0
_HINT = " j k choose · Enter open · Esc back here · ? help · q quit"


class RunsScreen(Screen[None]):
    """A line a run."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("j,down", "move(1)", ""),
        ("k,up", "move(-1)", ""),
        ("g,home", "move(-100000)", ""),
        ("G,end", "move(100000)", ""),
        ("enter", "open", ""),
        ("question_mark", "help", ""),
        ("q,escape", "app.quit", ""),
    ]

    def __init__(
        self, folder: str, look: Callable[[], list[RunSummary]], show: Callable[[str], None]
    ) -> None:
        """Make the screen.

        Args:
            folder: the state folder, as it is named to people.
            look: returns the runs, newest first. It is called in a thread.
            show: opens the run of an id.
        """
        super().__init__()
        self._folder = folder
        self._look = look
        self._show = show
        self._runs: list[RunSummary] = []
        self._chosen = ""

    def compose(self) -> ComposeResult:
        """Return the parts of the screen."""
        yield Panel("head", ground="raised")
        yield Panel("runs")
        yield Panel("foot", ground="raised")

    def on_mount(self) -> None:
        """Show the runs, and look again from time to time."""
        self._panel("foot").replace([line((_HINT, "dim"), indent=-1)])
        self._panel("runs").focus()
        self._read()
        self.set_interval(_AGAIN_S, self._read)

    def _panel(self, name: str) -> Panel:
        return self.query_one(f"#{name}", Panel)

    def _read(self) -> None:
        if self.is_current or not self._runs:
            self.run_worker(self._look_in_thread, thread=True, exclusive=True, group="runs")

    def _look_in_thread(self) -> None:
        runs = self._look()
        self.app.call_from_thread(self._draw, runs)

    def _draw(self, runs: list[RunSummary]) -> None:
        self._runs = runs
        active = sum(run.state is RunState.ACTIVE for run in runs)
        head = f" {len(runs)} run{'s' * (len(runs) != 1)}, {active} active"
        self._panel("head").replace(
            [line(("sq", "title"), (head, ""), (f"  {self._folder}", "dim"), indent=-1)]
        )
        self._panel("runs").replace([_run(run) for run in runs] or [line(("no runs yet", "dim"))])
        if self._chosen not in [run.run_id for run in runs]:
            self._chosen = runs[0].run_id if runs else ""
        self._mark()

    def _mark(self) -> None:
        ids = [run.run_id for run in self._runs]
        self._panel("runs").choose(ids.index(self._chosen) if self._chosen in ids else None)

    def action_move(self, runs: int) -> None:
        """Choose another run."""
        ids = [run.run_id for run in self._runs]
        if ids:
            self._chosen = ids[max(0, min(ids.index(self._chosen) + runs, len(ids) - 1))]
            self._mark()

    def action_open(self) -> None:
        """Open the chosen run."""
        if self._chosen:
            self._show(self._chosen)

    def action_help(self) -> None:
        """Show the keys."""
        self.app.push_screen(Sheet("keys", lambda _: keys()))


def _run(run: RunSummary) -> ScreenLine:
    if run.state is RunState.UNREADABLE:
        return line((" ✗ unreadable   ", "bad"), (f"{run.run_id}  ", ""), (run.problem, "dim"), indent=-1)
    match run.state:
        case RunState.ACTIVE:
            sign, style, word = "●", "work", "active"
        case RunState.ENDED if run.outcome and run.outcome.exit_code == 0:
            sign, style, word = "✓", "good", str(run.outcome)
        case RunState.ENDED:
            sign, style, word = "✗", "bad", str(run.outcome)
        case _:
            sign, style, word = "✗", "warn", str(run.state)
    merged = f"{run.tasks_merged}/{run.tasks_total}" if run.tasks_total else ""
    return line(
        (f" {sign} {word:<12} ", style),
        (f"{run.run_id}  ", ""),
        (f"{merged:>6}  ${run.cost_usd:>6.2f}  {duration(run.seconds):>12}  ", ""),
        (run.spec_name, "dim"),
        (f"  {run.doing}", "work"),
        indent=-1,
    )
