"""A run as `sq watch` follows it: read from its journal, kept current, and as it was at any earlier event."""

from collections.abc import Iterable
from pathlib import Path

from orchestrator.views.models.history import Snapshot
from orchestrator.views.run.story import ReadRun, RunStory
from state.errors import JournalError
from state.journal.events import Stored
from state.journal.store import is_active, journal_file


class Following(ReadRun):
    """Follows one run by reading alone. A journal that cannot be read any more is a `problem`, no error."""

    def __init__(self, folder: Path) -> None:
        """Open a run's journal.

        Raises:
            UsageError: there is no journal in this folder.
        """
        super().__init__(folder)
        self._file = _identity(folder)
        self._count = 0

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self.folder.name

    @property
    def is_over(self) -> bool:
        """Whether nothing more is expected: the run has ended, or nobody writes it, or it cannot be read."""
        return bool(self.newest.story.view.ended) or not self.active or bool(self.problem)

    def load(self) -> None:
        """Read the run so far. Of the messages of agents only the newest of each open call is read."""
        try:
            self.add(self.reader.read(messages=False))
        except JournalError as error:
            self.problem = _unreadable(error)
            self._load_until_damage()
        else:
            self.take()
        self.find_present_actions(self.newest)
        self.look()

    def take(self) -> list[Stored]:
        """Read the events that are new, and return them."""
        try:
            new = self.reader.read(self.newest.seq)
        except JournalError as error:
            self.problem = _unreadable(error)
            return []
        self.add(new)
        return new

    def take_message(self, stored: Stored) -> None:
        """Fold a message too: the run was heard of at its time."""
        self.story.add(stored)

    def look(self) -> None:
        """Look whether the journal is still there, and whether a process writes it."""
        if _identity(self.folder) != self._file:
            self.problem, self.active = "the journal of this run was removed", False
            return
        try:
            self.active = not self.newest.story.view.ended and is_active(self.folder)
        except OSError as error:
            self.problem, self.active = f"the run's folder cannot be read: {error.strerror}", False

    def mark(self) -> None:
        """Remember the journal's state, so that `changed` waits for one after it."""
        try:
            self._count = self.reader.change_count()
        except JournalError as error:
            self.problem = _unreadable(error)

    async def changed(self) -> bool:
        """Wait until another process has written to the journal. False: it cannot be read any more."""
        try:
            await self.reader.changed_since(self._count)
        except JournalError as error:
            self.problem = _unreadable(error)
        return not self.problem

    def at(self, seq: int) -> Snapshot:
        """Return the run as it was right after the event at this place."""
        seq = max(1, min(seq, self.newest.seq))
        story = RunStory()
        story.add_all(one for one in self.newest.story.history.notable if one.seq <= seq)
        moment = Snapshot(story, [one for one in self.newest.told if one.seq <= seq], seq)
        self.find_present_actions(moment)
        return moment

    def messages(self, moment: Snapshot, task_id: str, most: int) -> list[Stored]:
        """Return the newest messages of all calls for a task, in order. "" is the run as a whole."""
        found: list[list[Stored]] = []
        left = most
        for call_id, first, last in reversed(_calls(moment, task_id)):
            if left <= 0:
                break
            until = min(last or moment.seq, moment.seq)
            newest = self.messages_of(call_id, first, until, left)
            left -= len(newest)
            found.append(newest)
        return sorted((one for part in found for one in part), key=lambda one: one.seq)

    def _load_until_damage(self) -> None:
        """Read event by event as far as it goes."""
        try:
            while some := self.reader.read(self.newest.seq, messages=False, limit=1):
                self.add(some)
        except JournalError:
            return


def _unreadable(error: JournalError) -> str:
    return f"the journal cannot be read further: {error}"


def _calls(moment: Snapshot, task_id: str) -> list[tuple[str, int, int]]:
    """Return the calls for a task: the id, the place of its start, and that of its end or 0."""
    view = moment.story.view
    calls: dict[str, tuple[str, int, int]] = {}
    for span in moment.story.history.spans:
        if span.key in view.calls and _belongs(span.task_id, task_id, view.tasks):
            first = calls[span.key][1] if span.key in calls else span.seq
            calls[span.key] = (span.key, first, span.end_seq)
    return list(calls.values())


def _belongs(of_call: str, task_id: str, tasks: Iterable[str]) -> bool:
    return of_call == task_id if task_id else of_call not in tasks


def _identity(folder: Path) -> tuple[int, int] | None:
    """Return which file the journal is, or None if there is none."""
    try:
        found = journal_file(folder).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
