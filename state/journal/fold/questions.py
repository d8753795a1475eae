"""Questions of a Worker and their answers."""

from typing import assert_never

from state.journal import events as e
from state.journal.events import Stored
from state.journal.view import AskView, RunView
from state.words import decision_line


def apply(view: RunView, event: e.QuestionEvent, stored: Stored) -> None:
    """Add an event of a question to the view of its run."""
    match event:
        case e.QuestionsAsked():
            view.asks[event.ask_id] = AskView(event, stored.seq, at=stored.at)
            for given in event.rejects:
                view.asks[given.ask_id].rejected.add(given.question)
            if event.rejects:
                held = (answer for ask in view.asks.values() for answer in ask.held)
                view.context.decisions = [decision_line(answer) for answer in held]
        case e.QuestionsAnswered():
            view.asks[event.ask_id].answered = event
            view.context.decisions.extend(map(decision_line, event.answers))
        case e.QuestionsFailed():
            view.asks[event.ask_id].failed = event
            view.context.errors.append(f"question: {event.cause}")
        case e.QuestionsParked():
            view.asks[event.ask_id].parked = event
        case _:
            assert_never(event)
