"""The right half of a run's screen: one task from six sides, its changes among them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from textual.app import ComposeResult
from textual.containers import Vertical

from orchestrator.git.pinned import recorded_git
from orchestrator.git.pinned_config import trusting
from orchestrator.git.trees import changes_between, is_hash, shown_patch
from orchestrator.views.models.history import Snapshot
from orchestrator.views.watch import tabs
from orchestrator.views.watch.panel import Panel
from orchestrator.views.watch.text import ScreenLine, line
from state.errors import GitError
from state.journal.events import MessageReceived, Stored
from state.journal.view import RunView
from state.records.work import FileChange

NAMES = ("now", "diff", "checks", "review", "prompt", "cost")
_NOW, _DIFF = 0, 1
_FIRST_MESSAGES = 200  # read at first. The others are read when somebody scrolls up or searches
_Side = Callable[[Snapshot, str], Sequence[ScreenLine]]
_OTHERS: dict[int, _Side] = {2: tabs.checks, 3: tabs.review, 4: tabs.prompt, 5: tabs.cost}


class Side(Vertical):
    """Shows a task at a moment. `task_id` is "" for the run as a whole."""

    def __init__(self, folder: Path, messages: tabs.Messages, moment: Snapshot) -> None:
        """Make the half for a run, of whose past a moment is shown."""
        super().__init__(id="right")
        self.task_id = ""
        self._folder, self._messages = folder, messages
        self._moment = moment
        self._tab = _NOW
        self._is_whole = False  # it has all messages of the task that it may hold

    def compose(self) -> ComposeResult:
        """Return the parts of the half."""
        yield Panel("title", ground="raised")
        yield Panel("pane", follows=True)

    @property
    def pane(self) -> Panel:
        """The lines of the chosen side."""
        return self.query_one("#pane", Panel)

    def show(self, moment: Snapshot, task_id: str, *, anew: bool = False) -> None:
        """Show a task at a moment, from the chosen side. `anew`: from its beginning, or its end."""
        self._moment, self.task_id = moment, task_id
        pane = self.pane
        if self._tab == _DIFF:
            self.run_worker(self._show_diff(anew=anew), exclusive=True, group="diff")
        elif self._tab == _NOW:
            self._is_whole = False
            pane.replace(tabs.stream(self._messages, moment, task_id, _FIRST_MESSAGES), anew=anew)
        else:
            pane.replace(_OTHERS[self._tab](moment, task_id), anew=anew)
            if anew:
                pane.to_start()

    def choose(self, number: int) -> None:
        """Show another side of the same task."""
        self._tab = number
        self.show(self._moment, self.task_id, anew=True)

    def add(self, new: Sequence[Stored]) -> None:
        """Show events that have just come."""
        if self._tab == _NOW:
            first = new[0].seq
            told = [one for one in self._moment.told[-len(new) :] if one.seq >= first]
            self.pane.add(tabs.stream_of(self._moment, new, told, self.task_id))
        elif not all(isinstance(one.event, MessageReceived) for one in new):
            self.show(self._moment, self.task_id)

    def scroll(self, rows: int) -> None:
        """Move by this many rows, up if below zero."""
        if rows < 0 and self.pane.top + rows <= 0:
            self._show_whole()
        self.pane.scroll(rows)

    def to_start(self) -> None:
        """Show the beginning."""
        self._show_whole()
        self.pane.to_start()

    def find(self, word: str, *, backwards: bool = False, again: bool = False) -> bool:
        """Show the next place of a word. Returns whether there is one."""
        self._show_whole()
        return self.pane.find(word, backwards=backwards, again=again)

    def draw_title(self, state: ScreenLine, *, has_keyboard: bool) -> None:
        """Draw the task's name, its state, and the names of its sides."""
        task = self._moment.story.view.tasks.get(self.task_id)
        title = f"{self.task_id} · {task.task.title}" if task else "the run"
        unseen = [(f"  ▼ {self.pane.unseen} new", "warn")] if self.pane.unseen else []
        names = [
            (f" ▸{word}", "key") if number == self._tab else (f" {number + 1}{word}", "dim")
            for number, word in enumerate(NAMES)
        ]
        head = line((f" {'▸ ' if has_keyboard else ''}{title}", "title"), *unseen, indent=-1)
        self.query_one("#title", Panel).replace([head, state, line(*names, indent=-1)])

    async def _show_diff(self, *, anew: bool) -> None:
        view = self._moment.story.view
        repository = Path(view.started.repository if view.started else ".")
        lines = await changes(self._folder, repository, span_of(view, self.task_id))
        self.pane.replace(lines, anew=anew)
        if anew:
            self.pane.to_start()

    def _show_whole(self) -> None:
        """Read the older messages too, which a reader who stays at the end does not need."""
        if self._tab == _NOW and not self._is_whole:
            self._is_whole = True
            self.pane.put_before(tabs.stream(self._messages, self._moment, self.task_id))


_STYLES = {"+": "added", "-": "removed", "@": "hunk"}


@dataclass(frozen=True, slots=True)
class Compared:
    """Two objects of git to compare, and what the second one is."""

    before: str
    after: str
    words: str


def span_of(view: RunView, task_id: str) -> Compared | None:
    """Return the objects that hold a task's newest work, or that of the whole run. None before any work."""
    if not task_id:
        base = view.started.base_commit if view.started else ""
        merged = view.whole.commit
        return Compared(base, merged, "all merged work") if merged and merged != base else None
    task = view.tasks[task_id]
    if task.merged_commit:
        return Compared(task.merged_onto, task.merged_commit, "as it was merged")
    if task.claim.commit:
        return Compared(task.place.base_commit, task.claim.commit, "as it was committed")
    if len(task.open.trees) > 1:
        return Compared(
            task.place.base_commit, task.open.trees[-1], f"after iteration {len(task.open.trees) - 1}"
        )
    return None


async def changes(folder: Path, repository: Path, span: Compared | None) -> list[ScreenLine]:
    """Return the differences as lines, at most 200 kB. Objects that are gone are said to be.

    Args:
        folder: the run's folder, with its record of git's settings.
        repository: the run's repository.
        span: the objects. Names of files are never taken from the journal.
    """
    if span is None:
        return [line(("no work is stored yet", "dim"))]
    if not (is_hash(span.before) and is_hash(span.after)):
        return [line(("the journal names no objects of git here", "bad"))]
    command = f"git diff {span.before[:10]} {span.after[:10]}"
    head = line((span.words, "title"), (f"  {command}", "dim"), indent=4)
    try:
        with trusting(recorded_git(folder)):
            files = await changes_between(repository, span.before, span.after)
            text, left = await shown_patch(repository, span.before, span.after)
    except (GitError, OSError):
        gone = f"git has no such objects in {repository} any more, or does not answer"
        return [head, line((gone, "bad"), indent=2)]
    lines = [head, *(_size(change) for change, _ in files), *map(_styled, text.rstrip("\n").split("\n"))]
    if left:
        lines.append(line((f"… {left:,} more bytes: {command}", "warn"), indent=2))
    return lines if files else [head, line(("nothing differs", "dim"))]


def _size(change: FileChange) -> ScreenLine:
    size = "binary" if change.added is None else f"+{change.added} -{change.removed}"
    return line((f" {change.path}", ""), (f"  {size}", "dim"), indent=2)


def _styled(text: str) -> ScreenLine:
    if text.startswith(("diff --git", "+++ ", "--- ")):
        return line((text, "title"), indent=2)
    return line((text, _STYLES.get(text[:1], "")), indent=1)
