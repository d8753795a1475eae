"""One run on the whole screen: its tasks, its story, and one task from every side."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import ClassVar

import anyio
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.events import DescendantFocus, Resize
from textual.screen import Screen

from orchestrator.views.models.overview import Overview, overview
from orchestrator.views.watch import sheets, stream, tabs
from orchestrator.views.watch.changes import changes, span_of
from orchestrator.views.watch.following import Following, Moment, now, unreadable
from orchestrator.views.watch.panel import Panel
from orchestrator.views.watch.rows import TaskLine, band, ends_with, headline, state_of, task_list
from orchestrator.views.watch.sheet_screens import Question, Sheet
from orchestrator.views.watch.text import Line, line, rows_of
from state.errors import JournalError
from state.journal.events import MessageReceived, Stored

_REST_S = 0.05  # the least time between two drawings of new events
_LOOK_S = 1.0
_NARROW = 60  # columns. Below, one half is shown at a time
_TABS = ("now", "diff", "checks", "review", "prompt", "cost")
_NOW, _DIFF = 0, 1
_FEED_KEPT = 500
_FIRST_MESSAGES = 200  # read at first. The others are read when somebody scrolls up or searches
_HINT = " ? help · / find · w why · d decisions · t timeline · Enter open · 1–6 tabs · q quit"  # noqa: RUF001  a dash


class RunScreen(Screen[None]):
    """Follows one run. It reads, and changes nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("j,down", "move(1)", ""),
        ("k,up", "move(-1)", ""),
        ("pagedown,space", "page(1)", ""),
        ("pageup", "page(-1)", ""),
        ("g,home", "start", ""),
        ("G,end", "end", ""),
        ("enter", "open", ""),
        ("escape", "back", ""),
        *[(str(number), f"tab({number - 1})", "") for number in range(1, len(_TABS) + 1)],
        ("w", "why", ""),
        ("d", "decisions", ""),
        ("t", "timeline", ""),
        ("o", "report", ""),
        ("slash", "find", ""),
        ("n", "found(False)", ""),
        ("N", "found(True)", ""),
        ("question_mark", "help", ""),
        ("left,comma", "step(-1)", ""),
        ("right,full_stop", "step(1)", ""),
        ("less_than_sign", "leap(-1)", ""),
        ("greater_than_sign", "leap(1)", ""),
        ("q", "app.quit", ""),
    ]

    def __init__(self, following: Following, *, options: str = "", at: int | None = None) -> None:
        """Make the screen.

        Args:
            following: the run. It is loaded.
            options: options for a command to find this run again, such as `--state-dir X`.
            at: the place of the event up to which the run is shown. None: the newest, from now on.
        """
        super().__init__()
        self._following = following
        self._options = options
        self._past: Moment | None = following.at(at) if at is not None else None
        self._task_id = ""
        self._tab = _NOW
        self._list: list[TaskLine] = []
        self._told = 0  # lines of the story that the feed has
        self._is_whole = False  # the pane has all messages of the task that it may hold
        self._state = line("")  # of the chosen task
        self._said = ""  # a short answer at the bottom
        self._drawn_over = False  # a run that is over is drawn once

    @property
    def moment(self) -> Moment:
        """The run as it is shown."""
        return self._past or self._following.newest

    def compose(self) -> ComposeResult:
        """Return the parts of the screen."""
        yield Panel("head", ground="raised")
        yield Panel("band", ground="raised")
        with Horizontal(id="body"):
            with Vertical(id="left"):
                yield Panel("tasks")
                yield Panel("feed-title", ground="raised")
                yield Panel("feed", follows=True)
            with Vertical(id="right"):
                yield Panel("title", ground="raised")
                yield Panel("pane", follows=True)
        yield Panel("foot", ground="raised")

    def on_mount(self) -> None:
        """Show the run, and follow it."""
        for name in ("head", "band", "title", "feed-title", "foot"):
            self._panel(name).can_focus = False
        self._panel("tasks").focus()
        self._choose_first()
        self.set_interval(_LOOK_S, self._look)
        self.run_worker(self._follow(), group="follow")

    def on_unmount(self) -> None:
        """Stop following."""
        self.workers.cancel_node(self)
        self._following.close()

    def on_resize(self, event: Resize) -> None:
        """Lay the screen out for its new size."""
        self.set_class(event.size.width < _NARROW, "narrow")
        self.call_after_refresh(self.draw)

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """Mark the part that has the keyboard."""
        del event
        self._draw_titles()

    def _panel(self, name: str) -> Panel:
        return self.query_one(f"#{name}", Panel)

    # following

    async def _follow(self) -> None:
        following = self._following
        try:
            while not following.problem:
                following.mark()
                if new := following.take():
                    self._draw_new(new)
                await anyio.sleep(_REST_S)
                await following.changed()
        except JournalError as error:
            following.problem = unreadable(error)
        self.draw()

    def _look(self) -> None:
        """Once a second: is the run still there, and how late is it?"""
        before = (self._following.active, self._following.problem)
        if not self._following.problem:
            self._following.look()
        if self._following.is_over and before == (self._following.active, self._following.problem):
            if self._drawn_over:
                return
            self._drawn_over = True
        else:
            self._drawn_over = False
        self.draw()

    @property
    def _now(self) -> datetime:
        last = self.moment.story.view.clock.last_at
        return last if last and (self._past or not self._following.active) else now()

    # drawing

    def draw(self) -> None:
        """Draw everything that depends on the run but the pane at the right."""
        shown = self._overview()
        self._draw_head(shown)
        self._draw_tasks(shown)
        self._draw_feed()
        self._draw_titles()

    def _draw_new(self, new: Sequence[Stored]) -> None:
        """Draw events that have just come."""
        if self._past:
            self._draw_head(self._overview())
            return
        self.draw()
        pane, moment = self._panel("pane"), self.moment
        if self._tab == _NOW:
            first = new[0].seq
            told = [one for one in moment.told[-len(new) :] if one.seq >= first]
            pane.add(stream.stream_of(moment, new, told, self._task_id))
            self._draw_titles()
        elif not all(isinstance(one.event, MessageReceived) for one in new):
            self._fill()

    def _overview(self) -> Overview:
        active = bool(self._past) or self._following.active
        return overview(
            self.moment.story, self._following.run_id, self._now, active=active, options=self._options
        )

    def _draw_head(self, shown: Overview) -> None:
        replayed = f"event {self.moment.seq} of {self._following.newest.seq}" if self._past else ""
        width = max(1, self.size.width)
        self._panel("head").replace([headline(self.moment.story, shown, width, replayed=replayed)])
        problem = self._following.problem
        problems = (
            [f"{problem}. Shown is the run until event {self._following.newest.seq}"] if problem else []
        )
        if not problem and (ended := ends_with(shown.summary)):
            problems.append(ended)
        lines = band(shown, problems)
        panel = self._panel("band")
        panel.display = bool(lines)
        if lines:
            rows = sum(len(rows_of(one, width)) for one in lines)
            panel.styles.height = min(rows, max(1, self.size.height // 4))
            panel.replace(lines)

    def _draw_tasks(self, shown: Overview) -> None:
        panel = self._panel("tasks")
        width, height = max(20, panel.size.width), max(1, panel.size.height)
        active = bool(self._past) or self._following.active
        self._list = task_list(self.moment.story, shown.tasks, width=width, height=height, active=active)
        panel.replace([one.line for one in self._list])
        ids = [one.task_id for one in self._list]
        if self._task_id not in ids:
            self._choose_first()
        panel.choose(ids.index(self._task_id))
        chosen = next((row for row in shown.tasks if row.id == self._task_id), None)
        self._state = state_of(chosen, shown)

    def _draw_feed(self) -> None:
        told, panel = self.moment.told, self._panel("feed")
        if self._past or self._told > len(told) or not self._told:
            panel.replace(stream.feed(told[-_FEED_KEPT:]), anew=True)
        else:
            panel.add(stream.feed(told[self._told :]))
        self._told = 0 if self._past else len(told)

    def _draw_titles(self) -> None:
        focused = self.focused.id if self.focused else ""
        pane, feed = self._panel("pane"), self._panel("feed")
        head = f"▸ {self._title()}" if focused == "pane" else self._title()
        unseen = [(f"  ▼ {pane.unseen} new", "warn")] if pane.unseen else []
        names = [
            (f" ▸{word}", "key") if number == self._tab else (f" {number + 1}{word}", "dim")
            for number, word in enumerate(_TABS)
        ]
        self._panel("title").replace(
            [line((f" {head}", "title"), *unseen, indent=-1), self._state, line(*names, indent=-1)]
        )
        new = [(f"  ▼ {feed.unseen} new", "warn")] if feed.unseen else []
        self._panel("feed-title").replace(
            [line((f" {'▸ ' if focused == 'feed' else ''}feed", "title"), *new, indent=-1)]
        )
        self._panel("foot").replace(
            [line((f" {self._said}" if self._said else _HINT, "warn" if self._said else "dim"), indent=-1)]
        )

    def _title(self) -> str:
        task = self.moment.story.view.tasks.get(self._task_id)
        if task is None:
            return "the run"
        return f"{self._task_id} · {task.task.title}"

    # the pane at the right

    def _fill(self, *, anew: bool = False) -> None:
        """Fill the pane with the chosen side of the chosen task."""
        pane, moment, task_id = self._panel("pane"), self.moment, self._task_id
        if self._tab == _DIFF:
            self.run_worker(self._fill_diff(anew=anew), exclusive=True, group="diff")
            return
        sides: dict[int, Callable[[Moment, str], Sequence[Line]]] = {
            2: tabs.checks,
            3: tabs.review,
            4: tabs.prompt,
            5: tabs.cost,
        }
        if self._tab == _NOW:
            self._is_whole = False
            pane.replace(stream.stream(self._following, moment, task_id, _FIRST_MESSAGES), anew=anew)
        else:
            pane.replace(sides[self._tab](moment, task_id), anew=anew)
            if anew:
                pane.to_start()

    def _fill_whole(self) -> None:
        """Read the older messages too, which a reader who stays at the end does not need."""
        if self._tab == _NOW and not self._is_whole:
            self._is_whole = True
            lines = stream.stream(self._following, self.moment, self._task_id)
            self._panel("pane").put_before(lines)

    async def _fill_diff(self, *, anew: bool) -> None:
        started = self.moment.story.view.started
        span = span_of(self.moment.story.view, self._task_id)
        lines = await changes(self._following.folder, Path(started.repository if started else "."), span)
        pane = self._panel("pane")
        pane.replace(lines, anew=anew)
        if anew:
            pane.to_start()

    def _choose(self, task_id: str) -> None:
        self._task_id = task_id
        ids = [one.task_id for one in self._list]
        if task_id in ids:
            self._panel("tasks").choose(ids.index(task_id))
        self._draw_tasks(self._overview())
        self._fill(anew=True)
        self._draw_titles()

    def _choose_first(self) -> None:
        """Choose the first task that is under way, or the run as a whole."""
        rows = self._overview().tasks
        working = [row.id for row in rows if row.group.value == "working"]
        self._task_id = (working or [row.id for row in rows] or [""])[0]
        self._fill(anew=True)

    # keys

    def action_move(self, rows: int) -> None:
        """Choose the next task, or scroll the part that has the keyboard."""
        if not self._in_tasks:
            self._scroll(rows)
            return
        able = [one.task_id for one in self._list if one.task_id is not None]
        at = able.index(self._task_id) if self._task_id in able else 0
        self._choose(able[max(0, min(at + rows, len(able) - 1))])

    def action_page(self, pages: int) -> None:
        """Scroll by a page."""
        panel = self._scrolled
        self._scroll(pages * max(1, panel.size.height - 1))

    def action_start(self) -> None:
        """Go to the beginning."""
        if self._in_tasks:
            self.action_move(-len(self._list))
        else:
            self._fill_whole()
            self._scrolled.to_start()
            self._draw_titles()

    def action_end(self) -> None:
        """Go to the end, and follow it."""
        if self._in_tasks:
            self.action_move(len(self._list))
        else:
            self._scrolled.to_end()
            self._draw_titles()

    @property
    def _in_tasks(self) -> bool:
        return self.focused is None or self.focused.id == "tasks"

    @property
    def _scrolled(self) -> Panel:
        return self._panel("feed" if self.focused and self.focused.id == "feed" else "pane")

    def _scroll(self, rows: int) -> None:
        panel = self._scrolled
        if rows < 0 and panel.top + rows <= 0:
            self._fill_whole()
        panel.scroll(rows)
        self._draw_titles()

    def action_open(self) -> None:
        """Show the chosen task alone."""
        self.add_class("alone")
        self._panel("pane").focus()

    def action_back(self) -> None:
        """Show the tasks again, else go back to the newest event, else to the list of runs."""
        if self.has_class("alone"):
            self.remove_class("alone")
            self._panel("tasks").focus()
        elif self._past:
            self._leave_past()
        elif len(self.app.screen_stack) > 2:  # noqa: PLR2004  the app's own, the list of runs, this one
            self.app.pop_screen()
        else:
            self._panel("tasks").focus()

    def action_tab(self, number: int) -> None:
        """Show another side of the chosen task."""
        self._tab = number
        self._fill(anew=True)
        self._draw_titles()

    def action_why(self) -> None:
        """Say why the chosen task does not go on."""
        active = bool(self._past) or self._following.active
        lines = sheets.why(self.moment, self._task_id, self._now, active=active)
        self.app.push_screen(Sheet(f"why: {self._task_id or 'the run'}", lambda _: lines))

    def action_decisions(self) -> None:
        """Show the questions of the run and their answers."""
        lines = sheets.decisions(self.moment)
        self.app.push_screen(Sheet("decisions", lambda _: lines))

    def action_timeline(self) -> None:
        """Show the time of the run."""
        moment, until = self.moment, self._now
        self.app.push_screen(Sheet("timeline", lambda width: sheets.times(moment, until, width)))

    def action_help(self) -> None:
        """Show the keys."""
        self.app.push_screen(Sheet("keys", lambda _: sheets.keys()))

    def action_report(self) -> None:
        """Say which command writes the report."""
        run = self._following.run_id.rpartition("-")[2]
        self._say(f"the report of this run: sq report {run}{self._options}")

    def action_find(self) -> None:
        """Ask for a word, and find it in the pane at the right."""

        def found(word: str | None) -> None:
            if word is not None:
                self._find(word)

        self.app.push_screen(Question(" / "), found)

    def action_found(self, backwards: bool) -> None:
        """Show the next place of the word."""
        if word := self._panel("pane").word:
            self._find(word, backwards=backwards, again=True)

    def _find(self, word: str, *, backwards: bool = False, again: bool = False) -> None:
        self._fill_whole()
        if not self._panel("pane").find(word, backwards=backwards, again=again) and word:
            self._say(f"not found in the lines at the right: {word}")
        self._draw_titles()

    def _say(self, text: str) -> None:
        self._said = text
        self._draw_titles()
        self.set_timer(5.0, self._unsay)

    def _unsay(self) -> None:
        self._said = ""
        self._draw_titles()

    # the past

    def action_step(self, events: int) -> None:
        """Show the run one event earlier or later."""
        self._go_to(self.moment.seq + events)

    def action_leap(self, events: int) -> None:
        """Show the run one event earlier or later, without counting messages of agents."""
        places = [one.seq for one in self._following.newest.story.history.notable]
        if events < 0:
            number = bisect_left(places, self.moment.seq) - 1
        else:
            number = bisect_right(places, self.moment.seq)
        self._go_to(places[number] if 0 <= number < len(places) else self.moment.seq + events)

    def _go_to(self, seq: int) -> None:
        if seq >= self._following.newest.seq:
            self._leave_past()
            return
        self._past = self._following.at(seq)
        self._show_moment()

    def _leave_past(self) -> None:
        self._past = None
        self._show_moment()

    def _show_moment(self) -> None:
        self._told = 0
        self.draw()
        self._fill()
