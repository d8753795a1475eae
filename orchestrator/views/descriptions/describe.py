"""The description of each event of a run. mypy refuses an event without a case here or in its noun's file."""

from typing import assert_never

from orchestrator.views.descriptions.calls import call_words
from orchestrator.views.descriptions.description import Described, Words
from orchestrator.views.descriptions.evidence import evidence_words
from orchestrator.views.descriptions.run import checkout_words, plan_words, question_words, run_words
from orchestrator.views.descriptions.tasks import merge_words, review_words, task_words
from state.journal import events as e
from state.journal.events import Stored
from state.journal.view import RunView


def describe(view: RunView, stored: Stored) -> list[Described]:
    """Return the statements about an event, usually one. `view` already includes the event."""
    event = stored.event
    name, task_id = type(event).__name__, view.task_of(event)
    return [
        Described(seq=stored.seq, at=stored.at, name=name, task_id=task_id, words=words)
        for words in _words(view, stored)
    ]


def _words(view: RunView, stored: Stored) -> list[Words]:
    event = stored.event
    match event:
        case _ if isinstance(event, e.RunEvent):
            return run_words(view, event)
        case _ if isinstance(event, e.CallEvent):
            return [call_words(view, event, stored)]
        case _ if isinstance(event, e.PlanEvent):
            return [plan_words(event)]
        case _ if isinstance(event, e.EvidenceEvent):
            return evidence_words(view, event)
        case _ if isinstance(event, e.TaskEvent):
            return [task_words(view, event)]
        case _ if isinstance(event, e.ReviewEvent):
            return [review_words(view, event)]
        case _ if isinstance(event, e.MergeEvent):
            return merge_words(event)
        case _ if isinstance(event, e.QuestionEvent):
            return question_words(view, event)
        case _ if isinstance(event, e.CheckoutEvent):
            return checkout_words(view, event)
        case _:
            assert_never(event)
