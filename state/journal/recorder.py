"""A journal and the view that follows from it, kept in step: events are stored and then applied."""

from collections.abc import Callable

from state.journal.events import Event, Stored
from state.journal.fold.fold import apply, fold
from state.journal.store import Journal
from state.journal.view import RunView

Heard = Callable[[Stored, RunView], None]


class Recorder:
    """Stores the events of one run and keeps its `view` current.

    `heard` is called with each stored event and the view that has it, first with those after number `after`.
    """

    def __init__(self, journal: Journal, *, heard: Heard | None = None, after: int = 0) -> None:
        self._journal = journal
        self._heard = heard
        events = journal.read()
        self.view = fold(events)
        for stored in events:
            if heard and stored.seq > after:
                heard(stored, self.view)

    def record(self, *events: Event) -> None:
        """Store events, all or none, and apply them to the view.

        Raises:
            JournalError: they could not be stored.
        """
        for stored in self._journal.append(*events):
            apply(self.view, stored)
            if self._heard:
                self._heard(stored, self.view)

    def for_model(self, text: str) -> str:
        """Return a text as a model may read it: without known secrets."""
        return self._journal.for_model(text)

    def read(self) -> list[Stored]:
        """Return all events of the run, in order."""
        return self._journal.read()
