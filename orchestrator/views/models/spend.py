"""The spending of a run by task, role and model, with the budget and the part that is held, and as lines."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from orchestrator.views.words import columns, duration, outlook_lines, percent
from state.journal.events.calls import CallView
from state.journal.events.tasks import Stage
from state.journal.view import RunView
from state.outcome import Outcome
from state.records.calls import CallEnd, Usage
from state.records.plan import Forecast, PastRun, chain_of, repository_mark, turns_of
from state.roles import ROLES, Role

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
    `forecast` is the newest one, and `outlook` says in lines what it is, and how the end compares.
    """

    rows: tuple[SpendRow, ...]
    cost_usd: float
    held_usd: float
    budget_usd: float | None
    at_least: bool
    charged: bool
    forecast: Forecast | None = None
    outlook: tuple[str, ...] = ()

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
    rows = grouped(
        (_of_call(view, call) for call in view.calls.values()), lambda row: (row.task_id, row.role, row.model)
    )
    settings = view.settings
    is_over = view.ended is not None and not (settings and (settings.dry_run or settings.check_only))
    is_done = bool(view.tasks) and all(task.stage is Stage.MERGED for task in view.tasks.values())
    spent = (view.cost_usd, view.clock.all_s) if is_over else None
    return Spending(
        rows=tuple(rows),
        cost_usd=view.cost_usd,
        held_usd=sum(call.held_usd for call in view.calls.values() if call.end is None),
        budget_usd=view.process.budget_usd or (settings.budget_run_usd if settings else None),
        at_least=any(row.at_least for row in rows),
        charged=not (view.started and view.started.rehearsal),
        forecast=view.plan.before.forecast,
        outlook=tuple(outlook_lines(view.plan.before.forecast, spent, is_done=is_done)),
    )


_TELLING = frozenset({Outcome.COMPLETE, Outcome.UNVERIFIED, Outcome.STUCK, Outcome.LIMIT})


def past_run_of(view: RunView) -> PastRun | None:
    """Return an ended run as forecasts of later runs need it, or None if it tells nothing about those."""
    started, settings = view.started, view.settings
    if not (started and settings and view.ended and view.ended.outcome in _TELLING):
        return None
    if settings.dry_run or settings.check_only:
        return None
    tasks = [task.task for task in view.tasks.values()]
    return PastRun(
        run_id=started.run_id,
        repository=repository_mark(started.repository),
        effort=settings.effort.name,
        workflow=str(settings.workflow),
        worker=settings.models[Role.WORKER].name,
        rehearsal=bool(started.rehearsal),
        turns=turns_of(tasks),
        chain=chain_of(tasks),
        usd=round(view.cost_usd, 6),
        seconds=round(view.clock.all_s, 3),
    )


def grouped(rows: Iterable[SpendRow], key: Callable[[SpendRow], object]) -> list[SpendRow]:
    """Return rows with equal keys added up. Each has the names of the first of them."""
    together: dict[object, SpendRow] = {}
    for row in rows:
        first = together.get(key(row))
        together[key(row)] = _added(first, row) if first else row
    return list(together.values())


def by_role(spending: Spending) -> list[SpendRow]:
    """Return the spending of each role with each model, for all tasks together."""
    return grouped(spending.rows, lambda row: (row.role, row.model))


def by_task(spending: Spending) -> list[tuple[str, SpendRow]]:
    """Return the spending of each task, and of the whole, the largest first."""
    return _by_name(spending, lambda row: row.task_id or "the whole")


def by_model(spending: Spending) -> list[tuple[str, SpendRow]]:
    """Return the spending of each model, the largest first."""
    return _by_name(spending, lambda row: row.model)


def _by_name(spending: Spending, name: Callable[[SpendRow], str]) -> list[tuple[str, SpendRow]]:
    rows = sorted(grouped(spending.rows, name), key=lambda row: -row.cost_usd)
    return [(name(row), row) for row in rows]


def _of_call(view: RunView, call: CallView) -> SpendRow:
    cut = call.killed or (call.end is not None and call.end.end in {CallEnd.DIED, CallEnd.TIMED_OUT})
    return SpendRow(
        task_id=call.started.task_id if call.started.task_id in view.tasks else "",
        role=call.started.role,
        model=call.started.model,
        calls=1,
        usage=call.shown_usage,
        cost_usd=call.cost_usd,
        seconds=call.spent_s,
        at_least=cut,
    )


def _added(one: SpendRow, other: SpendRow) -> SpendRow:
    return replace(
        one,
        calls=one.calls + other.calls,
        usage=one.usage + other.usage,
        cost_usd=one.cost_usd + other.cost_usd,
        seconds=one.seconds + other.seconds,
        at_least=one.at_least or other.at_least,
    )


_HEADER = ("role", "exchanges", "requests", "input", "output", "cache read", "cache written", "cached")


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleSpending:
    """One role's calls together: exchanges of its sessions, or single requests of a role without sessions.

    `requests` are those to the model that were answered. `seconds` of parallel calls are added up.
    """

    role: Role
    calls: int
    requests: int
    usage: Usage
    cost_usd: float
    seconds: float
    cache_read_share: float | None


def spending_of(view: RunView) -> tuple[RoleSpending, ...]:
    """The roles with calls, in the order of `Role`."""
    rows = {row.role: row for row in grouped(spending(view).rows, lambda row: row.role)}
    return tuple(
        RoleSpending(
            role=role,
            calls=rows[role].calls,
            requests=rows[role].usage.requests,
            usage=rows[role].usage,
            cost_usd=rows[role].cost_usd,
            seconds=rows[role].seconds,
            cache_read_share=rows[role].usage.cache_read_share,
        )
        for role in Role
        if role in rows
    )


def spending_lines(roles: Iterable[RoleSpending]) -> list[str]:
    """The roles as a table, with a total if there are several. Empty if there are none."""
    each = list(roles)
    rows = [_row(one) for one in each]
    if len(each) > 1:
        rows.append(_together(each))
    return columns((*_HEADER, "cost", "time"), rows, indent="  ") if rows else []


def counted(view: RunView) -> str:
    """The calls of a run in words: exchanges of sessions, and all requests to models."""
    exchanges = sum(ROLES[call.started.role].has_session for call in view.calls.values())
    requests = sum(one.requests for one in spending_of(view))
    return f"{exchanges} exchange{'s' * (exchanges != 1)} and {requests} request{'s' * (requests != 1)}"


def cost_line(view: RunView) -> str:
    """The cost of the run. For a rehearsal it says that nothing was charged."""
    spent = spending(view)
    of = f" of ${spent.budget_usd:.2f}" if spent.budget_usd else ""
    cost = f"cost: ${view.cost_usd:.4f}{of} in {counted(view)}{_difference(view)}"
    if not spent.charged:
        return f"{cost} at list prices for the script's token counts, but nothing was charged"
    return cost


def duration_line(view: RunView) -> str:
    """The time from a run's start to its last event. The times of its roles add up sessions side by side."""
    begun, last = view.clock.started_at, view.clock.last_at
    if not (begun and last):
        return ""
    pauses = ", with its interruptions" if view.process.resumptions else ""
    return f"duration: {duration((last - begun).total_seconds())} from start to end{pauses}"


def _difference(view: RunView) -> str:
    """Return by how much the figures of the gateway and of the agent differ, in words, or ""."""
    differing = view.differences
    if not differing:
        return ""
    apart = sum(abs(one.gateway_usd - one.agent_usd) for one in differing)
    sessions = f"{len(differing)} session{'s' * (len(differing) != 1)}"
    counted = f"the gateway and {view.agent} count ${apart:.4f} apart"
    return f" (in {sessions} {counted}, the larger figure counts)"


def _row(one: RoleSpending) -> tuple[str, ...]:
    exchanges = f"{one.calls:,}" if ROLES[one.role].has_session else ""
    return (str(one.role), exchanges, f"{one.requests:,}", *_amounts([one]))


def _together(roles: list[RoleSpending]) -> tuple[str, ...]:
    exchanges = sum(one.calls for one in roles if ROLES[one.role].has_session)
    requests = sum(one.requests for one in roles)
    return ("together", f"{exchanges:,}", f"{requests:,}", *_amounts(roles))


def _amounts(roles: list[RoleSpending]) -> tuple[str, ...]:
    usage = sum((one.usage for one in roles), Usage())
    tokens = (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
    cost, seconds = sum(one.cost_usd for one in roles), sum(one.seconds for one in roles)
    shown = (*(f"{count:,}" for count in tokens), percent(usage.cache_read_share))
    return (*shown, f"${cost:.4f}", duration(seconds))
