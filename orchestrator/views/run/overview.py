"""The runs of a state folder as a table, one row each."""

from collections.abc import Sequence
from pathlib import PurePath

from orchestrator.views.models.summary import RunState, RunSummary
from orchestrator.views.words import columns, duration, local_time, short

_SPEC_SHOWN = 32  # characters of a spec's file name


def overview_lines(summaries: Sequence[RunSummary]) -> list[str]:
    """The runs as a table, in the order given."""
    header = ("run", "spec", "state", "merged", "cost", "started", "duration")
    return columns(header, [_row(summary) for summary in summaries])


def state_text(summary: RunSummary) -> str:
    """The state of a run, with the command that resumes it if there is one."""
    match summary.standing:
        case RunState.ENDED:
            return str(summary.outcome)
        case RunState.ACTIVE:
            return f"active: {summary.doing}"
        case RunState.INTERRUPTED | RunState.KILLED:
            return f"{summary.standing}: {summary.next_command}"
        case RunState.UNREADABLE:
            return f"{summary.standing}: {short(summary.problem)}"
        case RunState.NEVER_BEGAN:
            return summary.standing


def _row(summary: RunSummary) -> tuple[str, ...]:
    if summary.started_at is None:
        return (summary.run_id, "", state_text(summary), "", "", "", "")
    return (
        summary.run_id,
        short(PurePath(summary.spec_name).name, _SPEC_SHOWN),
        state_text(summary),
        f"{summary.tasks_merged}/{summary.tasks_total}",
        f"${summary.cost_usd:.2f}" + (" rehearsed" if summary.rehearsal else ""),
        local_time(summary.started_at),
        duration(summary.seconds),
    )
