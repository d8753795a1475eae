"""Power steering as lines: its findings on a session, the considerations, its use."""

from collections.abc import Iterator, Sequence
from html import unescape

from orchestrator.gates.power_steering.considerations import Consideration
from orchestrator.gates.power_steering.examination import Examination
from orchestrator.gates.power_steering.usage import SteeringUsage, most_disputed
from orchestrator.views.words import columns
from state.verdicts import CheckResult, Source
from state.words import alike, without_ids

_SHOWN_S = 0.05  # shorter times, as of rules, are not shown


def examination_lines(examination: Examination, *, waits: str, explain: bool) -> list[str]:
    """The gate's answer to a session, and why. `explain` adds every check."""
    return [unescape(line) for line in _examination(examination, waits, explain=explain)]


def consideration_lines(considerations: Sequence[Consideration], problems: Sequence[str]) -> list[str]:
    """The considerations as a table, and below it the problems of those that were left out."""
    rows = [
        (
            one.id,
            one.severity if one.enabled else "off",
            one.kind,
            ", ".join(one.types) or "all",
            one.question,
        )
        for one in considerations
    ]
    lines = columns(("id", "severity", "kind", "sessions", "question"), rows)
    return [*lines, *(f"left out: {problem}" for problem in problems)]


def _examination(examination: Examination, waits: str, *, explain: bool) -> Iterator[str]:
    decision = examination.decision
    yield f"session: {examination.session_type}. {decision.summary}"
    if waits:
        yield f"may stop: not judged, because {waits}"
        return
    if decision.allows and examination.figures.quality_score is None:
        yield "may stop: nothing was checked"
    elif decision.allows:
        yield "may stop: nothing that was checked holds it"
    else:
        yield f"held by: {', '.join(decision.failures)}"
    for note in decision.notes:
        yield f"  note: {note}"
    if explain:
        yield ""
        yield from _checks(examination.results)
    if not decision.allows:
        yield ""
        yield from decision.message.splitlines()
    if examination.cost_usd:
        yield f"cost: ${examination.cost_usd:.4f}"


def _checks(results: Sequence[CheckResult]) -> Iterator[str]:
    """A table of the checks. Several that failed or were not made for one reason share a line below it."""
    groups = alike(results, _what_went_wrong)
    alone = [_check(group[0]) for group in groups if len(group) == 1]
    yield from columns(("check", "answer", "by", "seconds", "reason"), alone)
    for group in groups:
        if len(group) > 1:
            one = group[0]
            names = ", ".join(each.consideration_id for each in group)
            yield f"{_answer(one) or one.source}, {len(group)} checks ({names}): {_reason(one)}"


def _what_went_wrong(result: CheckResult) -> tuple[str, ...]:
    """A key that is equal for checks that failed, or were not made, for one reason, else the check's id."""
    if result.satisfied and result.source is not Source.NOT_CHECKED:
        return (result.consideration_id,)
    return (_answer(result), result.source, without_ids(_reason(result)))


def _check(result: CheckResult) -> tuple[str, str, str, str, str]:
    return (
        result.consideration_id,
        _answer(result),
        result.source,
        f"{result.seconds:.1f}" if result.seconds >= _SHOWN_S else "",
        _reason(result),
    )


def _answer(result: CheckResult) -> str:
    if result.source is Source.NOT_CHECKED:
        return ""
    return "does not apply" if not result.applies else "met" if result.satisfied else "UNMET"


def _reason(result: CheckResult) -> str:
    seen = f" [{result.evidence}]" if result.evidence else ""
    return " ".join(f"{result.reason}{seen}".split())


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
