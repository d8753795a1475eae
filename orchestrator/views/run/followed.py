"""One run that is read while it goes on, by what shows it: its story, and the lines that each event adds."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.views.models.history import EventLines, RunFacts
from orchestrator.views.run.story import RunStory, lines_of
from state.errors import JournalError
from state.journal.events import MessageReceived, Stored
from state.journal.store import JournalReader


@dataclass(slots=True)
class Snapshot:
    """A run at one moment: the newest, or that of an earlier event. `seq` is the place of its last event."""

    story: RunFacts
    told: list[EventLines] = field(default_factory=list)
    seq: int = 0


class ReadRun:
    """A run with its open journal. `problem`: why that cannot be read any more."""

    def __init__(self, folder: Path) -> None:
        """Open the journal. Nothing is read yet.

        Raises:
            UsageError: there is no journal in this folder.
        """
        self.folder = folder
        self.story = RunStory()
        self.newest = Snapshot(self.story)
        self.active = False
        self.problem = ""
        self.reader = JournalReader(folder)

    def close(self) -> None:
        self.reader.__exit__(None, None, None)

    def take_message(self, stored: Stored) -> None:
        """Take a message of an agent, which is its present action."""
        if isinstance(stored.event, MessageReceived):
            self.story.history.doing[stored.event.call_id] = stored.event

    def add(self, events: Iterable[Stored]) -> None:
        """Fold events, each with the lines that it adds to the story."""
        for stored in events:
            self.newest.seq = stored.seq
            if isinstance(stored.event, MessageReceived):
                self.take_message(stored)
                continue
            self.story.add(stored)
            if lines := lines_of(self.story.view, stored):
                task_id = self.story.view.task_of(stored.event)
                self.newest.told.append(EventLines(stored.seq, stored.at, task_id, tuple(lines)))

    def messages_of(self, call_id: str, after: int, until: int, newest: int) -> list[Stored]:
        """Return the newest messages of a call, none if the journal cannot be read any more."""
        try:
            return self.reader.messages(call_id, after=after, until=until, newest=newest)
        except JournalError as error:
            self.problem = f"the journal cannot be read further: {error}"
            return []

    def find_present_actions(self, moment: Snapshot) -> None:
        """Read the newest message of each open call."""
        doing = moment.story.history.doing
        for span in moment.story.history.spans:
            call = moment.story.view.calls.get(span.key)
            if call and call.end is None and span.ended_at is None and span.key not in doing:
                for one in self.messages_of(span.key, span.seq, moment.seq, 1):
                    if isinstance(one.event, MessageReceived):
                        doing[span.key] = one.event
