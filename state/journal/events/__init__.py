"""Every fact of a run, frozen and in the past tense, and the records of the view: one file a noun."""

from dataclasses import dataclass
from datetime import datetime
from typing import get_args

from state.journal.events.before import *
from state.journal.events.calls import *
from state.journal.events.checkout import *
from state.journal.events.evidence import *
from state.journal.events.merges import *
from state.journal.events.people import *
from state.journal.events.plan import *
from state.journal.events.questions import *
from state.journal.events.reviews import *
from state.journal.events.run import *
from state.journal.events.tasks import *

Event = (
    RunEvent
    | CallEvent
    | BeforeEvent
    | PlanEvent
    | EvidenceEvent
    | TaskEvent
    | ReviewEvent
    | MergeEvent
    | QuestionEvent
    | PeopleEvent
    | CheckoutEvent
)

EVENTS: tuple[type, ...] = get_args(Event)


@dataclass(frozen=True, slots=True)
class Stored:
    """An event with its place in the journal (`seq`, from 1, without gaps) and its time (UTC)."""

    seq: int
    at: datetime
    event: Event
