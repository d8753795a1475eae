"""What commands of the project are asked: said by the code that asks, read where they are started.

It holds in the present task and in those begun by it, until something else is asked.
"""

from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What the next commands are asked. They are number `nth` of `of`, 0 if that is not known before."""

    about: str = ""
    nth: int = 0
    of: int = 0


NOTHING = Question()
question = ContextVar("question", default=NOTHING)


def asks(about: str = "", *, nth: int = 0, of: int = 0) -> None:
    """Say what the next commands are asked, as a `Question` has it."""
    question.set(Question(about=about, nth=nth, of=of))
