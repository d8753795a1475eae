"""The purse of a conversation: money held for its next call, and the share that its session may spend."""

from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.run.budget import BudgetExhausted, BudgetHeld, Reservation, Wanted, reserve
from orchestrator.run.record import Run
from state.journal.events.calls import CallView
from state.settings.records import Model

_CENT = 0.01  # USD by which a cap may differ from a share


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A call to be paid for. `earlier`: the calls of the conversation. `again`: the id of an open call."""

    model: Model
    text: str
    earlier: Sequence[CallView] = ()
    again: str = ""


class BudgetReservation:
    """Money for the calls of one conversation about one task."""

    def __init__(self, run: Run, task_id: str) -> None:
        """Begin without money held.

        Args:
            run: whose budget it is.
            task_id: the task whose budget counts too.
        """
        self._run = run
        self._task_id = task_id
        self._allowed: float | None = None
        self._left: float | None = None  # of the live session's cap

    async def hold(self, planned: Planned) -> Reservation:
        """Hold the probable cost of a call, with a share of the rest. Wait while other sessions hold it.

        Raises:
            BudgetExhausted: there is nothing to wait for.
        """
        while True:
            changed = self._run.changed
            try:
                reservation = reserve(self._run.view, self._run.settings, self._wanted(planned))
            except BudgetHeld:
                await changed.wait()
            else:
                self._allowed = reservation.allowed_usd
                return reservation

    def is_too_large(self, reservation: Reservation) -> bool:
        """Whether the live session may still spend more than its share is now, since others hold more."""
        return self._left is not None and self._left > (reservation.allowed_usd or 0.0) + _CENT

    def begin_session(self, spent_usd: float) -> float | None:
        """Give a new session its share. Returns its cap in USD, `spent_usd` included, or None for no cap."""
        self._left = self._allowed
        return None if self._allowed is None else spent_usd + self._allowed

    def end_session(self) -> None:
        """Forget the cap of a session that has ended."""
        self._left = None

    def spend(self, usd: float) -> None:
        """Take the cost of an exchange off the live session's cap."""
        if self._left is not None:
            self._left -= usd

    def end_of(self, planned: Planned, spent_usd: float) -> BudgetExhausted | None:
        """Return why a call at its session's cap cannot go on with another share, or None if it can."""
        try:
            reserve(self._run.view, self._run.settings, self._wanted(planned, spent_usd))
        except BudgetHeld:
            return None
        except BudgetExhausted as error:
            return error
        return None

    def _wanted(self, planned: Planned, spent_usd: float = 0.0) -> Wanted:
        return Wanted(
            task_id=self._task_id,
            model=planned.model,
            text=planned.text,
            earlier=planned.earlier,
            again=planned.again,
            spent_usd=spent_usd,
            session=True,
        )
