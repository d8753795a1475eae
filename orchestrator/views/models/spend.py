"""The spending of a run by task, role and model, with the budget and the part of it that is held."""

from dataclasses import dataclass, replace

from state.journal.view import RunView
from state.records.calls import CallEnd, Usage
from state.roles import Role

_HALF_A_CENT = 0.005


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendRow:
    """The calls of one role with one model for one task (empty: the whole) together.

    `at_least`: some were cut off, so the cost is a lower bound. `seconds` of parallel calls are added up.
    """

    task_id: str
    role: Role
    model: str
    calls: int
    usage: Usage
    cost_usd: float
    seconds: float
    at_least: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """All spending of a run. `budget_usd` is None without a limit. `held_usd` is reserved for open calls.

    `charged`: the calls cost money. A rehearsal counts tokens at list prices and is charged nothing.
    """

    rows: tuple[SpendRow, ...]
    cost_usd: float
    held_usd: float
    budget_usd: float | None
    at_least: bool
    charged: bool

    @property
    def in_words(self) -> str:
        """The cost, the budget and the part that is held, in short. A `+` marks a lower bound."""
        cost = money(self.cost_usd) + ("+" if self.at_least else "")
        of = f" of {money(self.budget_usd)}" if self.budget_usd else ""
        held = f" ({money(self.held_usd)} held)" if self.held_usd else ""
        return f"{cost}{of}{held}" + ("" if self.charged else ", rehearsed: nothing is charged")


def money(usd: float) -> str:
    """An amount in USD with two decimals. Less than half a cent is shown as less than a cent."""
    return "<$0.01" if 0 < usd < _HALF_A_CENT else f"${usd:.2f}"


def spending(view: RunView) -> Spending:
    """Return the spending of a run so far, in the order of first use."""
    rows: dict[tuple[str, Role, str], SpendRow] = {}
    for call in view.calls.values():
        task_id = call.started.task_id if call.started.task_id in view.tasks else ""
        key = (task_id, call.started.role, call.started.model)
        before = rows.get(key)
        cut = call.killed or (call.end is not None and call.end.end in {CallEnd.DIED, CallEnd.TIMED_OUT})
        rows[key] = SpendRow(
            task_id=task_id,
            role=call.started.role,
            model=call.started.model,
            calls=(before.calls if before else 0) + 1,
            usage=call.shown_usage + before.usage if before else call.shown_usage,
            cost_usd=(before.cost_usd if before else 0.0) + call.cost_usd,
            seconds=(before.seconds if before else 0.0) + call.spent_s,
            at_least=cut or bool(before and before.at_least),
        )
    settings = view.settings
    return Spending(
        rows=tuple(rows.values()),
        cost_usd=view.cost_usd,
        held_usd=sum(call.held_usd for call in view.calls.values() if call.end is None),
        budget_usd=view.process.budget_usd or (settings.budget_run_usd if settings else None),
        at_least=any(row.at_least for row in rows.values()),
        charged=not (view.started and view.started.rehearsal),
    )


def by_role(spending: Spending) -> list[SpendRow]:
    """Return the spending of each role with each model, for all tasks together."""
    together: dict[tuple[str, str], SpendRow] = {}
    for row in spending.rows:
        before = together.get((row.role, row.model))
        if before:
            row = replace(  # noqa: PLW2901
                row,
                calls=row.calls + before.calls,
                usage=row.usage + before.usage,
                cost_usd=row.cost_usd + before.cost_usd,
                seconds=row.seconds + before.seconds,
                at_least=row.at_least or before.at_least,
            )
        together[row.role, row.model] = row
    return list(together.values())
