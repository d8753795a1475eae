"""The spending of each role of a run: calls, tokens, money and time."""

from collections.abc import Iterable
from dataclasses import dataclass

from orchestrator.views.columns import columns
from orchestrator.views.durations import duration
from state.journal.view import CallView, RunView
from state.records import Usage
from state.roles import Role

_HEADER = ("role", "calls", "input", "output", "cache read", "cache written", "cost", "time")


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleSpending:
    """One role's calls together. `seconds` of parallel calls are added up."""

    role: Role
    calls: int
    usage: Usage
    cost_usd: float
    seconds: float


def spending_of(view: RunView) -> tuple[RoleSpending, ...]:
    """The roles with calls, in the order of `Role`."""
    by_role = {role: [call for call in view.calls.values() if call.started.role is role] for role in Role}
    return tuple(_of(role, calls) for role, calls in by_role.items() if calls)


def spending_lines(roles: Iterable[RoleSpending]) -> list[str]:
    """The roles as a table, with a total if there are several. Empty if there are none."""
    each = list(roles)
    rows = [_row(str(one.role), one) for one in each]
    if len(each) > 1:
        rows.append(_row("together", _together(each)))
    return columns(_HEADER, rows, indent="  ") if rows else []


def _of(role: Role, calls: list[CallView]) -> RoleSpending:
    return RoleSpending(
        role=role,
        calls=len(calls),
        usage=_sum(call.usage for call in calls),
        cost_usd=sum(call.cost_usd for call in calls),
        seconds=sum(call.spent_s for call in calls),
    )


def _together(roles: list[RoleSpending]) -> RoleSpending:
    return RoleSpending(
        role=roles[0].role,
        calls=sum(one.calls for one in roles),
        usage=_sum(one.usage for one in roles),
        cost_usd=sum(one.cost_usd for one in roles),
        seconds=sum(one.seconds for one in roles),
    )


def _sum(usages: Iterable[Usage]) -> Usage:
    total = Usage()
    for usage in usages:
        total += usage
    return total


def _row(name: str, one: RoleSpending) -> tuple[str, ...]:
    tokens = one.usage
    counts = (
        one.calls,
        tokens.input_tokens,
        tokens.output_tokens,
        tokens.cache_read_tokens,
        tokens.cache_write_tokens,
    )
    return (name, *(f"{count:,}" for count in counts), f"${one.cost_usd:.4f}", duration(one.seconds))
