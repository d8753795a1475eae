"""A run as views follow it: its state and its past, kept current event by event."""

from collections.abc import Iterable

from orchestrator.views.models.history import RunFacts
from state.journal.events import Stored
from state.journal.fold.fold import apply


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
