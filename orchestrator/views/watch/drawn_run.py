"""Draws one run on the whole screen, tasks and story at the left. `run_screen` adds the keys."""

from collections.abc import Sequence
from datetime import UTC, datetime

import anyio
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.events import DescendantFocus, Resize
from textual.screen import Screen

from orchestrator.views.models.history import Snapshot
from orchestrator.views.models.summary import Group, Overview, TaskRow
from orchestrator.views.models.tasks import overview
from orchestrator.views.watch import tabs
from orchestrator.views.watch.following import Following
from orchestrator.views.watch.head import TaskLine, band, ends_with, headline, state_of, task_list
from orchestrator.views.watch.panel import Panel
from orchestrator.views.watch.side import Side
from orchestrator.views.watch.text import line, rows_of
from state.journal.events import Stored

_FEED_KEPT = 500
_NARROWEST = 20


class Tasks(Vertical):
    """Shows the tasks of a run, one of which is chosen. `chosen` is "" for the run as a whole.

    `by_hand`: the user has chosen. Until then a task is chosen that is worked on.
    """

    def __init__(self) -> None:
        """Make the half."""
        super().__init__(id="left")
        self.chosen = ""
        self.by_hand = False
        self._list: list[TaskLine] = []
        self._told = 0  # events of the story that the feed has

    def compose(self) -> ComposeResult:
        """Return the parts of the half."""
        yield Panel("tasks")
        yield Panel("feed-title", ground="raised")
        yield Panel("feed", follows=True)

    @property
    def feed(self) -> Panel:
        """The story of the run."""
        return self.query_one("#feed", Panel)

    def draw(self, moment: Snapshot, rows: Sequence[TaskRow], *, active: bool) -> None:
        """Draw the list of tasks."""
        panel = self.query_one("#tasks", Panel)
        width, height = max(_NARROWEST, panel.size.width), max(1, panel.size.height)
        self._list = task_list(moment.story, rows, width=width, height=height, active=active)
        panel.replace([one.line for one in self._list])
        ids = [one.task_id for one in self._list]
        working = [row.id for row in rows if row.group is Group.WORKING]
        if self.chosen not in ids or not (self.by_hand or self.chosen in working):
            self.chosen = (working or [row.id for row in rows] or [""])[0]
        panel.choose(ids.index(self.chosen))

    def draw_feed(self, moment: Snapshot, *, is_past: bool) -> None:
        """Draw the story until this moment."""
        told = moment.told
        if is_past or self._told > len(told) or not self._told:
            self.feed.replace(tabs.feed(told[-_FEED_KEPT:]), anew=True)
        else:
            self.feed.add(tabs.feed(told[self._told :]))
        self._told = 0 if is_past else len(told)

    def draw_title(self, *, has_keyboard: bool) -> None:
        """Draw the line above the story."""
        new = [(f"  ▼ {self.feed.unseen} new", "warn")] if self.feed.unseen else []
        title = (f" {'▸ ' if has_keyboard else ''}feed", "title")
        self.query_one("#feed-title", Panel).replace([line(title, *new, indent=-1)])

    def move(self, lines: int) -> None:
        """Choose another task."""
        able = [one.task_id for one in self._list if one.task_id is not None]
        at = able.index(self.chosen) if self.chosen in able else 0
        self.chosen, self.by_hand = able[max(0, min(at + lines, len(able) - 1))], True


_REST_S = 0.05  # the least time between two drawings of new events
_LOOK_S = 1.0
_SAID_S = 5.0
_NARROW = 60  # columns. Below, one half is shown at a time
_HINT = " ? help · / find · w why · d decisions · t timeline · Enter open · 1 to 6 sides · q quit"


class DrawnRun(Screen[None]):
    """Follows one run. It reads, and changes nothing."""

    def __init__(
        self, following: Following, *, options: str = "", at: int | None = None, report: Sequence[str] = ()
    ) -> None:
        """Make the screen.

        Args:
            following: the run. It is loaded, and closed with the screen.
            options: options for a command to find this run again, such as `--state-dir X`.
            at: the place of the event up to which the run is shown. None: the newest, from now on.
            report: the command that writes the report and prints its file.
        """
        super().__init__()
        self.following = following
        self.options = options
        self.report = report
        self._past: Snapshot | None = following.at(at) if at is not None else None
        self._state = line("")  # of the chosen task
        self._said = ""  # a short answer at the bottom
        self._drawn_over = False  # a run that is over is drawn once

    @property
    def moment(self) -> Snapshot:
        """The run as it is shown."""
        return self._past or self.following.newest

    @property
    def tasks(self) -> Tasks:
        """The left half."""
        return self.query_one(Tasks)

    @property
    def side(self) -> Side:
        """The right half."""
        return self.query_one(Side)

    @property
    def is_past(self) -> bool:
        """Whether an earlier moment is shown."""
        return self._past is not None

    @property
    def is_worked_on(self) -> bool:
        """Whether a process works on the run, or did at the moment that is shown."""
        return self.is_past or self.following.active

    @property
    def now(self) -> datetime:
        """The time for which the run is shown."""
        last = self.moment.story.view.clock.last_at
        return last if last and (self.is_past or not self.following.active) else datetime.now(UTC)

    def compose(self) -> ComposeResult:
        """Return the parts of the screen."""
        yield Panel("head", ground="raised")
        yield Panel("band", ground="raised")
        with Horizontal(id="body"):
            yield Tasks()
            yield Side(self.following.folder, self.following.messages, self.moment)
        yield Panel("foot", ground="raised")

    def on_mount(self) -> None:
        """Show the run, and follow it."""
        for name in ("head", "band", "title", "feed-title", "foot"):
            self.query_one(f"#{name}", Panel).can_focus = False
        self.query_one("#tasks", Panel).focus()
        self.set_interval(_LOOK_S, self._look)
        self.run_worker(self._follow(), group="follow")

    def on_unmount(self) -> None:
        """Stop following."""
        self.workers.cancel_node(self)
        self.following.close()

    def on_resize(self, event: Resize) -> None:
        """Lay the screen out for its new size."""
        self.set_class(event.size.width < _NARROW, "narrow")
        self.call_after_refresh(self.draw)

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """Mark the part that has the keyboard."""
        del event
        self.draw_titles()

    async def _follow(self) -> None:
        following = self.following
        while not following.problem:
            following.mark()
            if new := following.take():
                self._draw_new(new)
            await anyio.sleep(_REST_S)
            if not await following.changed():
                break
        self.draw()

    def _look(self) -> None:
        """Once a second: is the run still there, and how late is it?"""
        following = self.following
        before = (following.active, following.problem)
        if not following.problem:
            following.look()
        is_over = following.is_over and before == (following.active, following.problem)
        if not (is_over and self._drawn_over):
            self.draw()
        self._drawn_over = is_over

    def draw(self) -> None:
        """Draw the run. The right half is drawn anew only if it is about another task."""
        shown = overview(
            self.moment.story, self.following.run_id, self.now, active=self.is_worked_on, options=self.options
        )
        self._draw_head(shown)
        self.tasks.draw(self.moment, shown.tasks, active=self.is_worked_on)
        self.tasks.draw_feed(self.moment, is_past=self.is_past)
        chosen = next((row for row in shown.tasks if row.id == self.tasks.chosen), None)
        self._state = state_of(chosen, shown)
        if self.side.task_id != self.tasks.chosen or not self.side.pane.lines:
            self.side.show(self.moment, self.tasks.chosen, anew=True)
        self.draw_titles()

    def _draw_new(self, new: Sequence[Stored]) -> None:
        """Draw events that have just come."""
        if not self.is_past and self.side.task_id == self.tasks.chosen:
            self.side.add(new)
        self.draw()

    def _draw_head(self, shown: Overview) -> None:
        newest, width = self.following.newest.seq, max(1, self.size.width)
        replayed = f"event {self.moment.seq} of {newest}" if self.is_past else ""
        head = headline(self.moment.story, shown, width, replayed=replayed)
        self.query_one("#head", Panel).replace([head])
        problem = self.following.problem or ends_with(shown.summary)
        if self.following.problem:
            problem += f". Shown is the run until event {newest}"
        lines = band(shown, [problem] if problem else [])
        panel = self.query_one("#band", Panel)
        panel.display = bool(lines)
        if lines:
            rows = sum(len(rows_of(one, width)) for one in lines)
            panel.styles.height = min(rows, max(1, self.size.height // 4))
            panel.replace(lines)

    def draw_titles(self) -> None:
        """Draw the lines above the parts, and the one at the bottom."""
        focused = self.focused.id if self.focused else ""
        self.side.draw_title(self._state, has_keyboard=focused == "pane")
        self.tasks.draw_title(has_keyboard=focused == "feed")
        hint = line((f" {self._said}" if self._said else _HINT, "warn" if self._said else "dim"), indent=-1)
        self.query_one("#foot", Panel).replace([hint])

    def tell(self, text: str) -> None:
        """Show a short answer at the bottom for a while."""
        self._said = text
        self.draw_titles()
        self.set_timer(_SAID_S, self._forget_said)

    def _forget_said(self) -> None:
        self._said = ""
        self.draw_titles()

    def go_to(self, seq: int | None) -> None:
        """Show the run as it was at this event. None, or the newest one: as it is."""
        self._past = self.following.at(seq) if seq is not None and seq < self.following.newest.seq else None
        self.tasks.by_hand = True
        self.draw()
        self.side.show(self.moment, self.tasks.chosen)
        self.draw_titles()
