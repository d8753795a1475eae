"""The budget that is left. Each call of each agent goes through: reserve, settle, refuse.

A call under way counts with its reserved amount. A session may spend more than the probable cost of a call,
up to its own cap (the CLI checks it after each reply): that cap is its share of the rest. It counts in full
while the session's call is open, so that sessions side by side do not spend the same money. A session that
reaches its share gets another while there is any. If other sessions hold all the rest, a call waits until
they have settled. For a Developer or judge, asked while a Worker waits, only reserved amounts count. The
forwarding gateway holds each session to its cap (`agents.gateway.forward.callers`) and counts its cost.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from state.errors import SqError
from state.journal.events.calls import CallView
from state.journal.events.tasks import ENDED_STAGES
from state.journal.view import RunView
from state.settings.records import CHARACTERS_PER_TOKEN, Model, Settings

EXPECTED_ANSWER_TOKENS = 1_000
# The models that can be told how many tokens they have, the least number that the API takes, and about how
# many a session reads and writes anew in a second (docs of the API: task-budgets).
TOLD_THEIR_TOKENS = re.compile(r"claude-(?:opus-(?:4-[78]|5)|(?:sonnet|haiku)-5-5|(?:fable|mythos)-5)\b")
_LEAST_TOKENS, _TOKENS_A_SECOND = 20_000, 60
_CENT = 0.01  # USD by which a cap may differ from a share


class BudgetExhausted(SqError):  # noqa: N818  not an error but an end
    """A call was not made because the budget forbids it. `task_id` is empty for the whole run's budget."""

    def __init__(self, message: str, *, task_id: str) -> None:
        super().__init__(message)
        self.task_id = task_id


class BudgetHeld(SqError):  # noqa: N818  not an error but a reason to wait
    """A call has to wait because sessions under way hold their shares of the budget."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """`usd` is held for a call. `allowed_usd` is all that its session may use (None: no limit)."""

    usd: float
    allowed_usd: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A call to be made: its task, its text, and the most tokens of its answer.

    `earlier` are the calls of the same conversation, whose cost is the better guess. `again` is the id of an
    open call that is tried again, whose own reservation does not count against it. `spent_usd` is the cost of
    its last try, which the view does not know yet. `session`: it gets a share of the rest as its cap.
    """

    task_id: str
    model: Model
    text: str
    answer_tokens: int = EXPECTED_ANSWER_TOKENS
    earlier: Sequence[CallView] = ()
    again: str = ""
    spent_usd: float = 0.0
    session: bool = False


def reserve(view: RunView, settings: Settings, wanted: Wanted) -> Reservation:
    """Hold the probable cost of a call. A call about no task has only the run's budget.

    Raises:
        BudgetExhausted: it does not fit into the rest.
        BudgetHeld: it would, if sessions under way do not use up their shares.
    """
    usd = _estimate(wanted)
    caps = [("", view.process.budget_usd or settings.budget_run_usd)]
    if wanted.task_id in view.tasks:
        caps.append((wanted.task_id, view.process.budget_usd or settings.budget_task_usd))
    shares = []
    for task_id, cap in caps:
        if cap is None:
            continue
        used = committed(view, task_id, beside=wanted.again) + wanted.spent_usd
        if used + usd > cap:
            raise BudgetExhausted(_why(task_id, cap, used, usd), task_id=task_id)
        if not wanted.session:
            continue
        used = committed(view, task_id, beside=wanted.again, shares=True) + wanted.spent_usd
        if used + usd > cap:
            raise BudgetHeld(_why(task_id, cap, used, usd))
        room = cap - used
        shares.append(room if task_id else max(usd, room / _sharers(view, settings, wanted.again)))
    return Reservation(usd=usd, allowed_usd=min(shares, default=None))


def task_tokens(model: Model, deadline: datetime | None, now: datetime) -> int | None:
    """Return the tokens that a session is told it has until the deadline, None if it is told nothing."""
    if deadline is None or not TOLD_THEIR_TOKENS.match(model.id):
        return None
    return max(_LEAST_TOKENS, round((deadline - now).total_seconds() * _TOKENS_A_SECOND))


def committed(view: RunView, task_id: str = "", *, beside: str = "", shares: bool = False) -> float:
    """Return the USD spent and held by one task or the whole run, without those held by call `beside`.

    `shares`: sessions under way count with all that they may spend.
    """
    return sum(
        call.cost_usd + (0.0 if call.end or id_ == beside else _held(view, call, shares=shares))
        for id_, call in view.calls.items()
        if not task_id or call.started.task_id == task_id
    )


def _held(view: RunView, call: CallView, *, shares: bool) -> float:
    return max(call.held_usd, call.allowed_usd) if shares and _spends(view, call) else call.held_usd


def _spends(view: RunView, call: CallView) -> bool:
    """Whether a session may still spend its share: not if its task ended and left the call open."""
    task = view.tasks.get(call.started.task_id)
    return call.end is None and call.allowed_usd > 0 and not (task and task.stage in ENDED_STAGES)


def _sharers(view: RunView, settings: Settings, beside: str) -> int:
    """Return how many sessions share the rest: the asking one, and those that may still begin beside it."""
    unfinished = sum(task.stage not in ENDED_STAGES for task in view.tasks.values())
    holding = sum(_spends(view, call) for id_, call in view.calls.items() if id_ != beside)
    return max(1, min(settings.places, unfinished) - holding)


def _estimate(wanted: Wanted) -> float:
    prices = wanted.model.prices
    if prices is None:
        return 0.0
    sent = len(wanted.text) / CHARACTERS_PER_TOKEN * max(prices.input, prices.cache_write)
    first = (sent + wanted.answer_tokens * prices.output) / 1_000_000
    costs = [call.cost_usd for call in wanted.earlier if call.end]
    return max(first, sum(costs) / len(costs) if costs else 0.0)


def _why(task_id: str, cap: float, used: float, next_usd: float) -> str:
    whose = f"task {task_id}'s budget" if task_id else "the run's budget"
    more = f", and the next call needs about ${next_usd:.2f}" if next_usd else ""
    over = f", ${used - cap:.2f} more than it" if used > cap else ""
    return f"{whose} of ${cap:.2f} is used up: ${used:.2f} spent or reserved{over}{more}"


class SessionShare:
    """The share of the budget that a conversation's live session may still spend, its cap."""

    def __init__(self) -> None:
        """Begin without a session."""
        self._allowed: float | None = None
        self._left: float | None = None  # of the live session's cap

    def give(self, reservation: Reservation) -> bool:
        """Take over the next call's share. Returns whether the live session may still spend more than it."""
        self._allowed = reservation.allowed_usd
        return self._left is not None and self._left > (self._allowed or 0.0) + _CENT

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
