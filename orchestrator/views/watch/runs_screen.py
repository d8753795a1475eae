"""The runs of a state folder, newest first. Enter opens one."""

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen

from orchestrator.views.models.summary import RunState, RunSummary
from orchestrator.views.watch.panel import Panel
from orchestrator.views.watch.sheet_screens import Sheet
from orchestrator.views.watch.text import ScreenLine, line
from orchestrator.views.watch.texts.sheets import keys
from orchestrator.views.words import duration

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
        active = sum(run.standing is RunState.ACTIVE for run in runs)
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
    if run.standing is RunState.UNREADABLE:
        return line((" ✗ unreadable   ", "bad"), (f"{run.run_id}  ", ""), (run.problem, "dim"), indent=-1)
    match run.standing:
        case RunState.ACTIVE:
            sign, style, word = "●", "work", "active"
        case RunState.ENDED if run.outcome and run.outcome.exit_code == 0:
            sign, style, word = "✓", "good", str(run.outcome)
        case RunState.ENDED:
            sign, style, word = "✗", "bad", str(run.outcome)
        case _:
            sign, style, word = "✗", "warn", str(run.standing)
    merged = f"{run.tasks_merged}/{run.tasks_total}" if run.tasks_total else ""
    return line(
        (f" {sign} {word:<12} ", style),
        (f"{run.run_id}  ", ""),
        (f"{merged:>6}  ${run.cost_usd:>6.2f}  {duration(run.seconds):>12}  ", ""),
        (run.spec_name, "dim"),
        (f"  {run.doing}", "work"),
        indent=-1,
    )
