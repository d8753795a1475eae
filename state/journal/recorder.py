"""A journal and the view that follows from it, kept in step: events are stored and then applied."""

from state.journal.events import Event, Stored
from state.journal.fold.fold import apply, fold
from state.journal.store import Journal


class Recorder:
    """Stores the events of one run and keeps its `view` current."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.view = fold(journal.read())

    def record(self, *events: Event) -> list[Stored]:
        """Store events, all or none, apply them to the view, and return them as they were stored.

        Raises:
            JournalError: they could not be stored.
        """
        stored = self._journal.append(*events)
        for one in stored:
            apply(self.view, one)
        return stored

    def for_model(self, text: str) -> str:
        """Return a text as a model may read it: without known secrets."""
        return self._journal.for_model(text)

    def read(self) -> list[Stored]:
        """Return all events of the run, in order."""
        return self._journal.read()
