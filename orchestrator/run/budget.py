"""What may still be spent. Asked before each call, by every agent: reserve, settle, refuse.

What is under way counts with what was reserved for it, so that agents side by side do not spend the same
money. A session's own cap (the CLI looks at it after each reply) is what is left when it begins.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from state.errors import SqError
from state.settings import CHARACTERS_PER_TOKEN, Model, Settings
from state.view import CallView, RunView

EXPECTED_ANSWER_TOKENS = 1_000


class BudgetExhausted(SqError):  # noqa: N818  not an error but an end
    """A call was not made because it may not be paid for. `task_id` is empty for the whole run's budget."""

    def __init__(self, message: str, *, task_id: str) -> None:
        super().__init__(message)
        self.task_id = task_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """`usd` is held for a call; `room_usd` is all that it may use before its budget ends (None: no end)."""

    usd: float
    room_usd: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A call that somebody wants to make: whose it is, what is sent, how many tokens come back at most.

    `earlier` are the calls of the same conversation, whose cost is the better guess; `again` is the id of an
    open call that is tried again, whose own reservation does not stand in its way.
    """

    task_id: str
    model: Model
    text: str
    answer_tokens: int = EXPECTED_ANSWER_TOKENS
    earlier: Sequence[CallView] = ()
    again: str = ""


def reserve(view: RunView, settings: Settings, wanted: Wanted) -> Reservation:
    """Hold what a call will probably cost; a call about no task has only the run's budget.

    Raises:
        BudgetExhausted: it does not fit into what is left.
    """
    usd = _estimate(wanted)
    caps = [("", _run_cap(view, settings))]
    if wanted.task_id in view.tasks:
        caps.append((wanted.task_id, view.budget_usd or settings.budget_task_usd))
    rooms = []
    for task_id, cap in caps:
        if cap is None:
            continue
        used = committed(view, task_id, beside=wanted.again)
        if used + usd > cap:
            raise BudgetExhausted(_why(task_id, cap, used, usd), task_id=task_id)
        rooms.append(cap - used)
    return Reservation(usd=usd, room_usd=min(rooms, default=None))


def committed(view: RunView, task_id: str = "", *, beside: str = "") -> float:
    """What is spent and held, in USD, by one task or the whole run. What call `beside` holds is left out."""
    return sum(
        call.cost_usd + (0.0 if call.end or id_ == beside else call.held_usd)
        for id_, call in view.calls.items()
        if not task_id or call.started.task_id == task_id
    )


def exhausted(view: RunView, settings: Settings, task_id: str) -> BudgetExhausted:
    """Whose budget it is that a session's cap ended a call for."""
    run_cap = _run_cap(view, settings)
    if run_cap is not None and committed(view) >= run_cap:
        return BudgetExhausted(_why("", run_cap, committed(view), 0), task_id="")
    used, cap = committed(view, task_id), view.budget_usd or settings.budget_task_usd or 0.0
    return BudgetExhausted(_why(task_id, cap, used, 0), task_id=task_id)


def _run_cap(view: RunView, settings: Settings) -> float | None:
    return view.budget_usd or settings.budget_run_usd


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
