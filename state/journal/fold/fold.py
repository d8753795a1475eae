"""The fold itself: `fold(events)` makes a view, `fold(more, view)` a later one without changing `view`.

The writer of a run keeps one view current with `apply`.
"""

from collections.abc import Iterable
from copy import deepcopy
from typing import assert_never

from state.journal import events as e
from state.journal.events import Stored
from state.journal.fold import (
    calls,
    checkout,
    evidence,
    merges,
    notices,
    plan,
    questions,
    reviews,
    run,
    tasks,
)
from state.journal.view import RunView


def apply(view: RunView, stored: Stored) -> None:  # noqa: C901  one case a noun
    """Add one more event to a view."""
    run.pass_time(view, stored)
    event = stored.event
    match event:
        case _ if isinstance(event, e.RunEvent):
            run.apply(view, event, stored)
        case _ if isinstance(event, e.CallEvent):
            calls.apply(view, event, stored)
        case _ if isinstance(event, e.PlanEvent):
            plan.apply(view, event)
        case _ if isinstance(event, e.EvidenceEvent):
            evidence.apply(view, event, stored)
        case _ if isinstance(event, e.TaskEvent):
            tasks.apply(view, event, stored)
        case _ if isinstance(event, e.ReviewEvent):
            reviews.apply(view, event, stored)
        case _ if isinstance(event, e.MergeEvent):
            merges.apply(view, event)
        case _ if isinstance(event, e.QuestionEvent):
            questions.apply(view, event, stored)
        case _ if isinstance(event, e.CheckoutEvent):
            checkout.apply(view, event)
        case _ if isinstance(event, e.NoticeEvent):
            notices.apply(view, event)
        case _:
            assert_never(event)


def fold(events: Iterable[Stored], start: RunView | None = None) -> RunView:
    """Return the view after these events. They continue from `start`, which is not changed."""
    view = deepcopy(start) if start else RunView()
    for stored in events:
        apply(view, stored)
    return view
