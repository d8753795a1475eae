"""What commands of the project are run for, and for which task: said by the code that runs them.

It holds in the present task and in those begun by it, until something else is said. What they are asked is
said in `orchestrator.checks.asking`.
"""

from contextvars import ContextVar
from dataclasses import replace

from orchestrator.checks.asking import asks, question
from state.journal.events import CommandStarted

PROOFS = "proofs"
_NOTHING = CommandStarted(number=0, command="", purpose="command")
_purpose = ContextVar("purpose", default=_NOTHING)


def next_command() -> CommandStarted:
    """Return what the next command is run for and asked, without its number and its words."""
    asked = question.get()
    return replace(_purpose.get(), about=asked.about, nth=asked.nth, of=asked.of)


def run_for(purpose: str, task_id: str = "", *, about: str = "", nth: int = 0, of: int = 0) -> None:
    """Say what the next commands are run for, in the words of `CommandStarted`."""
    _purpose.set(replace(_NOTHING, purpose=purpose, task_id=task_id))
    asks(about, nth=nth, of=of)
