"""The use of power steering, as lines."""

from collections.abc import Iterator

from orchestrator.gates.power_steering.usage import SteeringUsage, most_disputed
from orchestrator.views.columns import columns


def usage_lines(usage: SteeringUsage) -> list[str]:
    """The sources of the verdicts, the judge's share and the seed's target, and the disagreements."""
    return list(_lines(usage))


def _lines(usage: SteeringUsage) -> Iterator[str]:
    if not usage.checks:
        yield "no check of power steering is in the diagnostics of this project's sessions"
        return
    yield f"{usage.checks} checks at {usage.stops} stops of {usage.sessions} sessions"
    rows = [
        (
            source,
            str(count),
            f"{usage.median_seconds[source]:.2f}" if count else "",
            f"{usage.longest_seconds[source]:.2f}" if count else "",
        )
        for source, count in usage.by_source.items()
    ]
    yield from columns(("answered by", "checks", "median s", "longest s"), rows)
    yield ""
    yield _share(usage)
    disagreed = len(usage.disagreements)
    yield f"judge and rule: {disagreed} disagreements in {usage.compared} checks that both answered"
    yield from (f"  {name}: {count}" for name, count in most_disputed(usage))


def _share(usage: SteeringUsage) -> str:
    if usage.judge_share is None:
        return "judge used: not known, since no stop had a judge to ask"
    kept = "kept" if usage.target_kept else "missed"
    return (
        f"judge used: {usage.judge_share:.1%} of {usage.judge_could} checks with a judge to ask, "
        f"the target of {usage.target:.0%} is {kept}"
    )
