"""The spending of a run and of each role: calls, tokens, money and time."""

from collections.abc import Iterable
from dataclasses import dataclass

from orchestrator.views.models.spend import grouped, spending
from orchestrator.views.words import columns, duration, percent
from state.journal.view import RunView
from state.records.calls import Usage
from state.roles import ROLES, Role

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
    """Return by how much the figures of the gateway and of Claude Code differ, in words, or ""."""
    differing = view.differences
    if not differing:
        return ""
    apart = sum(abs(one.gateway_usd - one.claude_code_usd) for one in differing)
    sessions = f"{len(differing)} session{'s' * (len(differing) != 1)}"
    return f" (in {sessions} the gateway and Claude Code count ${apart:.4f} apart, the larger figure counts)"


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
