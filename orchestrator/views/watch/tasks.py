"""The left half of a run's screen: its tasks, and its story below them."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical

from orchestrator.views.models.summary import Group, TaskRow
from orchestrator.views.watch.panel import Panel
from orchestrator.views.watch.rows import TaskLine, task_list
from orchestrator.views.watch.snapshot import Snapshot
from orchestrator.views.watch.text import line
from orchestrator.views.watch.texts import stream

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
            self.feed.replace(stream.feed(told[-_FEED_KEPT:]), anew=True)
        else:
            self.feed.add(stream.feed(told[self._told :]))
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
