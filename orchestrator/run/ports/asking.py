"""Conversations with a role: exchanges of a session that are recorded."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from agents.session.exchange import SessionSpec
from state.journal.events.calls import CallView

Prompt = Callable[[], Awaitable[str]]


class SpecFor(Protocol):
    """Makes the spec of a session with this id."""

    def __call__(self, *, session_id: str, resume: bool, cost: float) -> SessionSpec:
        """`resume`: the conversation of that id goes on, having cost `cost` USD so far."""
        ...


class Talk(Protocol):
    """One role's exchanges about one attempt at one task."""

    @property
    def calls(self) -> list[CallView]:
        """The calls of this conversation so far, those of earlier processes included."""
        ...

    @property
    def ended(self) -> int:
        """How many of its exchanges have ended."""
        ...

    async def exchange(
        self, number: int, prompt: str | Prompt, *, iteration: int = 0, planning: bool = False
    ) -> CallView:
        """Return an exchange by its number: from the journal if it ended, resumed if open, else made now.

        The end of the call says how the model and its process ended.

        Args:
            number: which exchange of the conversation, from 1. Those before it have ended.
            prompt: the prompt, or a function that makes it, which is called only if the exchange is made now.
            iteration: the task's iteration that it is about; 0: the same as `number`.
            planning: the agent may read, ask and hand over a plan. Other actions are refused.

        Raises:
            BudgetExhausted: the call may not be paid for, or used up the budget.
            ServiceError: no model can be asked at all.
            ValueError: the number is below 1, or an exchange before it was never made.
        """
        ...
