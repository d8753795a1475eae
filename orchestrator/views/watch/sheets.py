"""What lies over the other screens for a moment: a sheet to read with its lines, and a line to type."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.events import Key, Resize
from textual.screen import ModalScreen

from orchestrator.views.models.decisions import decision_lines, decisions_of
from orchestrator.views.models.history import Snapshot
from orchestrator.views.models.lanes import Bar, Timeline, TimelineLane
from orchestrator.views.models.summary import why_not
from orchestrator.views.models.timeline import timeline
from orchestrator.views.screen import cell
from orchestrator.views.watch.panel import Panel
from orchestrator.views.watch.text import ScreenLine, Span, line, rows_of, text_of
from orchestrator.views.words import duration
from state.journal.events.questions import AskView
from state.journal.events.tasks import Stage
from state.records.questions import Question

_NAME = 12
_KINDS = {
    "worker": ("█", "work", "builds"),
    "reviewer": ("▒", "warn", "reviews"),
    "verification": ("▓", "good", "verification"),
    "merge": ("╪", "good", "merge"),
    "resolver": ("▞", "need", "resolves"),
}
_OTHERS = ("░", "dim", "others (planning, questions, judges, set-up)")
_FOLD = "┆"
KEYS = (
    ("j k ↓ ↑", "choose a task, or scroll the part that has the keyboard"),
    ("Enter Tab", "give the keyboard to the next part; Enter on a task shows it alone, Esc goes back"),
    ("1 … 6", "now, diff, checks, review, prompt, cost of the chosen task"),
    ("w", "why the chosen task does not go on, with the events that say so"),
    ("d", "questions and their answers"),
    ("t", "timeline, long idle times folded"),
    ("o", "write the report, and say where it is"),
    ("s", "say a word to the chosen task, or to all; the next prompt has it"),
    ("a", "answer a question that waits for you"),
    ("p", "pause the run before its next exchange, or let it go on"),
    ("/ n N", "find in the text at the right, next, previous"),
    ("g G", "to the beginning, to the end"),
    ("PgUp PgDn", "a page up, a page down"),
    ("← → , .", "the run as it was one event earlier, later"),
    ("< >", "the same, without the messages of agents"),
    ("Esc", "close, or back to the newest event"),
    ("q Ctrl-C", "quit. The run goes on"),
)


def why(moment: Snapshot, task_id: str, now: datetime, *, active: bool) -> list[ScreenLine]:
    """Return why a task does not go on, nearest reason first, each with the event that says so."""
    if not task_id:
        return [line("choose a task first", indent=2)]
    task = moment.story.view.tasks[task_id]
    reasons = why_not(moment.story, task_id, now, active=active)
    if not reasons:
        word = "is merged" if task.stage is Stage.MERGED else f"goes on: {task.stage}"
        return [line((f"{task_id} {word}. Nothing holds it up.", "good"), indent=2)]
    lines = []
    for number, reason in enumerate(reasons):
        event: Span = (f"  #{reason.seq}", "dim") if reason.seq else ("", "")
        lines.append(line((f"{'  ' * number}{'└ ' if number else ''}", "dim"), reason.text, event, indent=4))
    return [*lines, line(""), line(("#N is the event that says so: sq watch --at N", "dim"), indent=2)]


def decisions(moment: Snapshot) -> list[ScreenLine]:
    """Return the questions of the run with their answers, parked ones first."""
    found = decisions_of(moment.story.view)
    parked = [one for one in found if one.parked]
    lines: list[ScreenLine] = []
    if parked:
        lines.append(line(("left to a person", "need")))
        lines += [each for text in decision_lines(parked) for each in text_of(text)]
        lines.append(line(""))
    others = [one for one in found if not one.parked]
    if others or not parked:
        lines += [each for text in decision_lines(others) for each in text_of(text)]
    return lines


def question(name: str, ask: AskView, asked: Question) -> list[ScreenLine]:
    """Return a question that waits for a person, its options and how it is answered."""
    several = "numbers or labels with commas between them" if asked.multi_select else "a number, a label"
    how = f"{several}, or your own words" if asked.options else "your own words"
    return [
        line((f"{name}, {ask.asked.task_id}: ", "need"), (asked.text, "strong"), indent=2),
        *(
            line((f"{number:>3} ", "key"), one.label, (f"  {one.description}", "dim"), indent=4)
            for number, one in enumerate(asked.options, 1)
        ),
        line((f"{how} · Enter sends · Esc leaves", "dim"), indent=2),
    ]


def times(moment: Snapshot, now: datetime, width: int) -> list[ScreenLine]:
    """Return the time of the run as bars, a lane a task. Long idle times are folded to one column each."""
    found = timeline(moment.story, now)
    if not found.lanes:
        return [line("nothing has taken time yet")]
    columns = max(10, width - _NAME - 1)
    lines = [
        line((f"{duration(found.seconds)} from the first to the last moment shown", "dim"), indent=2),
        *(_lane(one, found, columns) for one in found.lanes),
        line(""),
        *(line((f"{sign} ", style), (words, "dim")) for sign, style, words in (*_KINDS.values(), _OTHERS)),
        line(("✗ ", "bad"), ("did not end well", "dim")),
    ]
    folded = ", ".join(duration(fold.seconds) for fold in found.folds)
    return (
        [*lines, line((f"{_FOLD} ", "dim"), (f"idle, folded: {folded}", "dim"), indent=2)]
        if folded
        else lines
    )


def _lane(lane: TimelineLane, found: Timeline, columns: int) -> ScreenLine:
    cells: list[Span] = [(" ", "")] * columns
    for fold in found.folds:
        cells[_column(fold.start, columns)] = (_FOLD, "dim")
    for bar in lane.bars:
        first, last = _column(bar.start, columns), _column(bar.start + bar.width, columns)
        for column in range(first, max(first + 1, last)):
            cells[column] = _look(bar)
        if bar.good is False:
            cells[max(first, last - 1)] = ("✗", "bad")
    name = set_cell_size(cell(lane.task_id or "the run"), _NAME)
    return ScreenLine(((f"{name} ", ""), *cells), indent=-1)


def _column(share: float, columns: int) -> int:
    return max(0, min(columns - 1, int(share * columns)))


def _look(bar: Bar) -> Span:
    sign, style, _ = _KINDS.get(bar.what.partition(" ")[0], _OTHERS)
    return sign, style


def keys() -> list[ScreenLine]:
    """Return the keys and their meanings."""
    return [line((f"{key:<12}", "key"), words, indent=12) for key, words in KEYS]


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
        self.dismiss()

    def action_scroll(self, rows: int) -> None:
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
