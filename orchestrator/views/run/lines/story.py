"""The story of a run: the lines that each event adds, for a pipe, a log or a terminal."""

from typing import assert_never

from orchestrator.views.run.lines import (
    calls,
    checkout,
    evidence,
    merges,
    plan,
    questions,
    reviews,
    run,
    tasks,
)
from state.journal import events as e
from state.journal.events import Stored
from state.journal.view import RunView


def lines_of(view: RunView, stored: Stored) -> list[str]:
    """The lines that an event adds. `view` already includes it."""
    event = stored.event
    match event:
        case _ if isinstance(event, e.RunEvent):
            return run.lines(view, event)
        case _ if isinstance(event, e.CallEvent):
            return calls.lines(view, event)
        case _ if isinstance(event, e.PlanEvent):
            return plan.lines(event)
        case _ if isinstance(event, e.EvidenceEvent):
            return evidence.lines(view, event)
        case _ if isinstance(event, e.TaskEvent):
            return tasks.lines(view, event)
        case _ if isinstance(event, e.ReviewEvent):
            return reviews.lines(view, event)
        case _ if isinstance(event, e.MergeEvent):
            return merges.lines(event)
        case _ if isinstance(event, e.QuestionEvent):
            return questions.lines(view, event)
        case _ if isinstance(event, e.CheckoutEvent):
            return checkout.lines(view, event)
        case _:
            assert_never(event)
