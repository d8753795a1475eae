"""The events of a run as rows of an index, to which every statement of a report leads."""

from collections.abc import Collection, Iterable

from orchestrator.views.models.history import task_of
from orchestrator.views.report.contents import IndexRow
from orchestrator.views.run.lines.story import lines_of
from orchestrator.views.words import duration, short
from state.journal import events as e
from state.journal.events import Stored
from state.journal.view import RunView

_SHOWN = 160  # characters of a row


def index_of(
    view: RunView, events: Iterable[Stored], most: int, needed: Collection[int]
) -> tuple[tuple[IndexRow, ...], int]:
    """Return the rows of the index, and how many events are left out.

    Args:
        view: the run at its end.
        events: its events without messages.
        most: of the rows. The first and the last events are kept, and all that are needed.
        needed: places of events that the report refers to.
    """
    every = list(events)
    if len(every) > most:
        half = most // 2
        kept = {stored.seq for stored in (*every[:half], *every[len(every) - half :])} | set(needed)
        shown = [stored for stored in every if stored.seq in kept]
    else:
        shown = every
    return tuple(_row(view, stored) for stored in shown), len(every) - len(shown)


def _row(view: RunView, stored: Stored) -> IndexRow:
    return IndexRow(
        seq=stored.seq,
        at=stored.at,
        name=type(stored.event).__name__,
        task_id=task_of(view, stored.event),
        text=short(_text(view, stored), _SHOWN),
    )


def _text(view: RunView, stored: Stored) -> str:
    """Return a line. Those of the story read local times, folders or all calls for these events."""
    event = stored.event
    match event:
        case e.RunStarted():
            return f"run {event.run_id}, effort {event.effort}, sq {event.sq_version}"
        case e.RunResumed():
            return "another process goes on" + (
                f", tries again: {', '.join(event.retry)}" if event.retry else ""
            )
        case e.RunInterrupted():
            return f"stopped by {event.by}"
        case e.RunEnded():
            return f"{event.outcome} (exit code {event.outcome.exit_code}): {event.cause}"
        case e.CallRetried():
            return f"{event.end}: {short(event.detail)}, again in {duration(event.wait_s)}"
        case e.CallStarted():
            return f"{event.role} ({event.model}), attempt {event.attempt}, iteration {event.iteration}"
        case e.CallEnded():
            return f"{event.end}, ${event.cost_usd:.4f}, {duration(event.seconds)}"
        case e.GateDecided():
            return f"{event.gate}: {event.verdict}: {event.reason}"
        case e.ChecksDecided():
            unmet = sum(not one.satisfied for one in event.results)
            return f"power steering: {len(event.results)} checks, {unmet} not met"
    lines = lines_of(view, stored)
    return lines[0].strip() if lines else ""
