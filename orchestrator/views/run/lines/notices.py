"""Lines of notices: only one that could not be sent is shown."""

from orchestrator.views.words import short
from state.journal import events as e


def lines(event: e.NoticeEvent) -> list[str]:
    """The lines that an event of a notice adds to the story."""
    if event.ok:
        return []
    return [f"the notice `{event.kind}` to {event.to} was not sent: {short(event.problem, 300)}"]
