"""One run on the whole screen: its tasks, its story, one task from every side, and the keys."""

import subprocess
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import ClassVar

import anyio
from textual.binding import BindingType

from orchestrator.views.watch import sheets
from orchestrator.views.watch.drawn_run import DrawnRun
from orchestrator.views.watch.sheets import LinePrompt, Sheet
from orchestrator.views.watch.side import NAMES
from orchestrator.views.watch.text import ScreenLine, line
from state.errors import UsageError
from state.inbox import WordKind, new_word, person, send

_ALONE = 2  # screens: the program's own, and one run's
_FAR = 100_000  # tasks


class RunScreen(DrawnRun):
    """Follows one run, and leaves words of the user for it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("j,down", "move(1)", ""),
        ("k,up", "move(-1)", ""),
        ("pagedown,space", "page(1)", ""),
        ("pageup", "page(-1)", ""),
        ("g,home", "start", ""),
        ("G,end", "end", ""),
        ("enter", "open", ""),
        ("escape", "back", ""),
        *[(str(number), f"side({number - 1})", "") for number in range(1, len(NAMES) + 1)],
        ("w", "why", ""),
        ("d", "decisions", ""),
        ("t", "timeline", ""),
        ("o", "report", ""),
        ("slash", "find", ""),
        ("p", "pause", ""),
        ("s", "say", ""),
        ("a", "answer", ""),
        ("n", "found(False)", ""),
        ("N", "found(True)", ""),
        ("question_mark", "help", ""),
        ("left,comma", "step(-1)", ""),
        ("right,full_stop", "step(1)", ""),
        ("less_than_sign", "leap(-1)", ""),
        ("greater_than_sign", "leap(1)", ""),
        ("q", "app.quit", ""),
    ]

    def action_move(self, rows: int) -> None:
        """Choose the next task, or scroll the part that has the keyboard."""
        if not self._in_tasks:
            self._scroll(rows)
            return
        self.tasks.move(rows)
        self.draw()

    def action_page(self, pages: int) -> None:
        """Scroll by a page."""
        panel = self.tasks.feed if self._in_feed else self.side.pane
        self._scroll(pages * max(1, panel.size.height - 1))

    def action_start(self) -> None:
        """Go to the beginning."""
        if self._in_tasks:
            self.action_move(-_FAR)
            return
        self.tasks.by_hand = True
        if self._in_feed:
            self.tasks.feed.to_start()
        else:
            self.side.to_start()
        self.draw_titles()

    def action_end(self) -> None:
        """Go to the end, and follow it."""
        if self._in_tasks:
            self.action_move(_FAR)
            return
        (self.tasks.feed if self._in_feed else self.side.pane).to_end()
        self.draw_titles()

    @property
    def _in_tasks(self) -> bool:
        return self.focused is None or self.focused.id == "tasks"

    @property
    def _in_feed(self) -> bool:
        return self.focused is not None and self.focused.id == "feed"

    def _scroll(self, rows: int) -> None:
        self.tasks.by_hand = True
        if self._in_feed:
            self.tasks.feed.scroll(rows)
        else:
            self.side.scroll(rows)
        self.draw_titles()

    def action_open(self) -> None:
        """Show the chosen task alone."""
        self.tasks.by_hand = True
        self.add_class("alone")
        self.side.pane.focus()

    def action_back(self) -> None:
        """Show the tasks again, else go back to the newest event, else to the list of runs."""
        if self.has_class("alone"):
            self.remove_class("alone")
        elif self.is_past:
            self.go_to(None)
        elif len(self.app.screen_stack) > _ALONE:
            self.app.pop_screen()
            return
        self.query_one("#tasks").focus()

    def action_side(self, number: int) -> None:
        """Show another side of the chosen task."""
        self.tasks.by_hand = True
        self.side.choose(number)
        self.draw_titles()

    def action_why(self) -> None:
        """Say why the chosen task does not go on."""
        task_id = self.tasks.chosen
        lines = sheets.why(self.moment, task_id, self.now, active=self.is_worked_on)
        self.app.push_screen(Sheet(f"why: {task_id or 'the run'}", lambda _: lines))

    def action_decisions(self) -> None:
        """Show the questions of the run and their answers."""
        lines = sheets.decisions(self.moment)
        self.app.push_screen(Sheet("decisions", lambda _: lines))

    def action_timeline(self) -> None:
        """Show the time of the run."""
        moment, until = self.moment, self.now
        self.app.push_screen(Sheet("timeline", lambda width: sheets.times(moment, until, width)))

    def action_help(self) -> None:
        """Show the keys."""
        self.app.push_screen(Sheet("keys", lambda _: sheets.keys()))

    def action_report(self) -> None:
        """Write the report, by a process of its own."""
        self.tell("the report is being written")
        self.run_worker(self._write_report(), exclusive=True, group="report")

    async def _write_report(self) -> None:
        try:
            done = await anyio.run_process(self.report, stdin=subprocess.DEVNULL, check=False)
        except OSError as error:
            self.tell(f"the report cannot be written: {error.strerror}")
            return
        said = (done.stderr if done.returncode else done.stdout).decode(errors="replace").strip()
        self.tell(said.rpartition("\n")[2])

    def action_find(self) -> None:
        """Ask for a word, and find it in the right half."""

        def found(word: str | None) -> None:
            if word is not None:
                self._find(word)

        self.app.push_screen(LinePrompt(" / "), found)

    def action_pause(self) -> None:
        """Pause the run, or let it go on."""
        paused = self.following.newest.story.view.context.people.paused
        self._speak(WordKind.CONTINUE if paused else WordKind.PAUSE)

    def action_say(self) -> None:
        """Ask for a word to the chosen task, or to all."""
        task_id = self.tasks.chosen
        about = [line((f"A word to {task_id or 'all tasks'}. The next prompt has it.", "title"), indent=-1)]
        self._ask(f" say to {task_id or 'all'}: ", about, WordKind.SAY, task_id)

    def action_answer(self) -> None:
        """Ask for the answer to a question of the chosen task that waits, or else to the first that waits."""
        waiting = self.following.newest.story.view.waiting_questions
        own = [name for name, (ask, _) in waiting.items() if ask.asked.task_id == self.tasks.chosen]
        if not waiting:
            self.tell("no question waits for an answer")
            return
        name = (own or [*waiting])[0]
        asked = sheets.question(name, *waiting[name])
        self._ask(f" answer {name}: ", asked, WordKind.ANSWER, name)

    def _ask(self, prompt: str, lines: Sequence[ScreenLine], kind: WordKind, about: str) -> None:
        def typed(text: str | None) -> None:
            if text:
                self._speak(kind, text, about)

        self.app.push_screen(LinePrompt(prompt, lines), typed)

    def _speak(self, kind: WordKind, text: str = "", about: str = "") -> None:
        word = new_word(kind, person("sq watch"), text, about)
        try:
            send(self.following.folder, self.following.newest.story.view, word)
        except UsageError as error:
            self.tell(str(error))
        else:
            self.tell(f"{kind}: left for the run")

    def action_found(self, backwards: bool) -> None:
        """Show the next place of the word."""
        if word := self.side.pane.word:
            self._find(word, backwards=backwards, again=True)

    def _find(self, word: str, *, backwards: bool = False, again: bool = False) -> None:
        self.tasks.by_hand = True
        if not self.side.find(word, backwards=backwards, again=again) and word:
            self.tell(f"not found in the lines at the right: {word}")
        self.draw_titles()

    def action_step(self, events: int) -> None:
        """Show the run one event earlier or later."""
        self.go_to(max(1, self.moment.seq + events))

    def action_leap(self, events: int) -> None:
        """Show the run one event earlier or later, without counting messages of agents."""
        places = [one.seq for one in self.following.newest.story.history.notable]
        seq = self.moment.seq
        number = bisect_left(places, seq) - 1 if events < 0 else bisect_right(places, seq)
        self.go_to(places[number] if 0 <= number < len(places) else max(1, seq + events))
