"""A run as views follow it: its state and its past, kept current event by event."""

from collections.abc import Iterable

from orchestrator.views.models.history import RunFacts
from state.journal.events import MessageReceived, Stored
from state.journal.fold.fold import apply
from state.journal.store import JournalReader


class RunStory(RunFacts):
    """The fold of a run for views. It holds nothing that is not in the journal.

    Events of the kind `MessageReceived` may be left out: then only the present actions of agents are unknown.
    """

    __slots__ = ()

    def add(self, stored: Stored) -> None:
        """Add one more event, the next of the journal."""
        apply(self.view, stored)
        self.history.apply(self.view, stored)

    def add_all(self, events: Iterable[Stored]) -> None:
        """Add several events."""
        for stored in events:
            self.add(stored)


def find_present_actions(story: RunFacts, reader: JournalReader, until: int) -> None:
    """Read the newest message of each open call, up to a place of the journal.

    Raises:
        JournalError: the journal cannot be read.
    """
    doing = story.history.doing
    for span in story.history.spans:
        call = story.view.calls.get(span.key)
        if call and call.end is None and span.ended_at is None and span.key not in doing:
            for one in reader.messages(span.key, after=span.seq, until=until, newest=1):
                if isinstance(one.event, MessageReceived):
                    doing[span.key] = one.event
