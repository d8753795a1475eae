"""Notices that were handed over, or could not be."""

from state.journal import events as e
from state.journal.view import RunView


def apply(view: RunView, event: e.NoticeEvent) -> None:
    """Add an event of a notice to the view of its run."""
    view.notices[event.of_seq, event.to] = event
