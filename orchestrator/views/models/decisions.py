"""The decisions of a run: each question of a Worker, its answer, the grounds, the model and the cost."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from state.journal.events.questions import AskView
from state.journal.view import RunView
from state.records.questions import Answer, Question


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One question and its answer. `problem`: why it has no answer. `cost_usd` is that of its call.

    `again`: it rejects an earlier answer. `rejected`: this answer was rejected later. `reused_from`: the call
    that gave this answer first. `seq` is the place of the question in the journal.
    """

    at: datetime
    task_id: str
    question: Question
    answer: Answer | None
    model: str
    cost_usd: float
    again: bool
    rejected: bool
    plain: bool
    reused_from: str
    parked: bool
    problem: str
    seq: int = 0


def decisions_of(view: RunView) -> list[Decision]:
    """All decisions of a run, in the order of the questions."""
    return [decision for ask in view.asks.values() for decision in _of(view, ask)]


def _of(view: RunView, ask: AskView) -> Iterator[Decision]:
    given = ask.parked.answers if ask.parked else ask.answered.answers if ask.answered else ()
    by = view.calls.get(ask.answered.by) if ask.answered else None
    for number, question in enumerate(ask.asked.questions):
        yield Decision(
            at=ask.at or datetime.min,  # noqa: DTZ901  the fold fills it
            task_id=ask.asked.task_id,
            question=question,
            answer=given[number] if number < len(given) else None,
            model=ask.answered.model if ask.answered else "",
            cost_usd=by.cost_usd if by and ask.answered and not ask.answered.reused else 0.0,
            again=question.text in ask.asked.again,
            rejected=question.text in ask.rejected,
            plain=ask.asked.plain,
            reused_from=ask.answered.reused_from if ask.answered else "",
            parked=ask.parked is not None,
            problem=ask.failed.cause if ask.failed else "",
            seq=ask.seq,
        )
