"""What people said to a run, in words: each statement names who said it."""

from typing import assert_never

from orchestrator.views.descriptions.description import PERSON, SQ, Quote, Tone, Words
from state.journal import events as e
from state.journal.view import RunView

_SAID = "said"


def people_words(view: RunView, event: e.PeopleEvent) -> Words:
    """Return the words of an event of a person."""
    run_id = view.started.run_id if view.started else ""
    match event:
        case e.WordSaid():
            text = f"{event.by} says to {event.task_id or 'all'}"
            return Words(kind=_SAID, text=text, quotes=(_said(event.text),))
        case e.PersonAnswered():
            ask = view.asks[event.ask_id]
            quotes = (_said(event.answer.question), _said(event.answer.text))
            text = f"{event.by} answers the parked question"
            return Words(kind="answer", text=text, subject=ask.asked.task_id, quotes=quotes, tone=Tone.GOOD)
        case e.RunPaused():
            text = f"{event.by} pauses the run before its next exchange. Go on with: sq continue {run_id}"
            return Words(kind="pause", text=text, tone=Tone.WARN)
        case e.RunContinued():
            return Words(kind="pause", text=f"{event.by} lets the run go on")
        case e.WordRefused():
            text = f"nothing was done with what {event.by} said ({event.reason})"
            quote = Quote(who=PERSON, texts=(event.text,)) if event.text else Quote(who=SQ, texts=("",))
            return Words(kind=_SAID, text=text, tone=Tone.WARN, quotes=(quote,))
        case _:
            assert_never(event)


def _said(text: str) -> Quote:
    return Quote(who=PERSON, texts=(text,))
