"""What commands of the project are run for: said by the code that asks, read where they are started.

It holds in the present task and in those begun by it, until something else is said.
"""

from contextvars import ContextVar
from dataclasses import replace

from state.journal.events import CommandStarted

PROOFS = "proofs"
NOTHING = CommandStarted(number=0, command="", purpose="command")
next_command = ContextVar("next_command", default=NOTHING)  # all but its number and its words


def run_for(purpose: str, task_id: str = "", *, about: str = "", nth: int = 0, of: int = 0) -> None:
    """Say what the next commands are run for, in the words of `CommandStarted`."""
    about_it = replace(NOTHING, purpose=purpose, task_id=task_id, about=about, nth=nth, of=of)
    next_command.set(about_it)


def asks(about: str) -> None:
    """Say what the next commands are asked, for the same purpose."""
    next_command.set(replace(next_command.get(), about=about, nth=0, of=0))
