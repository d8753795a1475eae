"""The gates outside a run as lines: power steering, its use, promises (for programs as objects too)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from html import unescape

from orchestrator.gates.power_steering.considerations import Consideration
from orchestrator.gates.power_steering.examination import Examination
from orchestrator.gates.power_steering.usage import SteeringUsage, most_disputed
from orchestrator.gates.promises import CriterionCheck, Promise, PromiseCriterion, State, StoredPromises
from orchestrator.views.words import columns
from state.verdicts import CheckResult, Source
from state.words import alike, without_ids

_STEERING = "P3_2_STEERING"
_SHOWN_S = 0.05  # shorter times, as of rules, are not shown


def examination_lines(
    examination: Examination, *, waits: str, held: tuple[str, str] | None = None, explain: bool
) -> list[str]:
    """The gate's answer to a session, and why. `held`: the step that holds it, and its reason.

    `explain` adds every check.
    """
    return [unescape(line) for line in _examination(examination, waits, held, explain=explain)]


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


def _examination(
    examination: Examination, waits: str, held: tuple[str, str] | None, *, explain: bool
) -> Iterator[str]:
    decision = examination.decision
    yield f"session: {examination.session_type}. {decision.summary}"
    allowed = "may stop"
    if held and held[0] != _STEERING:
        yield from (f"held by the step {held[0]}:", *held[1].splitlines(), "")
        allowed = "power steering"
    if waits:
        yield f"{allowed}: not judged, because {waits}"
        return
    if not decision.allows:
        yield f"held by: {', '.join(decision.failures)}"
    elif examination.figures.quality_score is None:
        yield f"{allowed}: nothing was checked"
    else:
        yield f"{allowed}: nothing that was checked holds it"
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


_TEXT_SHOWN = 70  # characters of a promise in the table


def promises_lines(found: StoredPromises) -> list[str]:
    """All promises as a table, and below it the damaged files."""
    rows = [
        (one.id, one.state, one.owner, one.created_at, _one_line(one.text, _TEXT_SHOWN))
        for one in found.promises
    ]
    lines = columns(("promise", "state", "session", "made", "text"), rows) if rows else []
    return [*lines, *(f"damaged: {one}" for one in found.damaged)]


def promise_lines(promise: Promise, unproven: Mapping[int, str]) -> list[str]:
    """A promise with its checks. `unproven` has by a criterion's number why it is not known to be met."""
    return list(_promise(promise, unproven))


def criterion_lines(promise: Promise, number: int, unproven: Mapping[int, str]) -> list[str]:
    """One criterion, and, if it failed, the end of its command's output."""
    return list(_criterion(promise, number, unproven))


def in_words(kind: CriterionCheck, target: str) -> str:
    """The meaning of a check in words, if the author gave none."""
    match kind:
        case CriterionCheck.COMMAND:
            return f"{target} exits with 0"
        case CriterionCheck.FILE:
            return f"{target} is there"
        case CriterionCheck.COMMIT:
            return f"a commit says {target}" if target else "there is a new commit"


def promise_object(promise: Promise, unproven: Mapping[int, str] | None = None) -> dict[str, object]:
    """A promise for JSON. With `unproven` each criterion has `met`, and `why` it is not met now."""
    criteria = []
    for number, (criterion, evidence) in enumerate(zip(promise.criteria, promise.evidence, strict=True), 1):
        found = asdict(evidence) if evidence else None
        now = {} if unproven is None else {"met": number not in unproven, "why": unproven.get(number, "")}
        criteria.append({"number": number, **asdict(criterion), **now, "evidence": found})
    return {
        "id": promise.id,
        "text": promise.text,
        "state": promise.state,
        "altered": promise.is_altered,
        "owner": promise.owner,
        "created_at": promise.created_at,
        "ended_at": promise.ended_at,
        "reason": promise.reason,
        "criteria": criteria,
    }


def _promise(promise: Promise, unproven: Mapping[int, str]) -> Iterator[str]:
    since = f" since {promise.ended_at}" if promise.state is not State.OPEN else ""
    yield f"{promise.id}: {_one_line(promise.text)}"
    yield f"{promise.state}{since}, of session {promise.owner}, made {promise.created_at}"
    if promise.reason:
        yield f"reason: {_one_line(promise.reason)}"
    if promise.is_altered:
        yield "changed after it was made, so nothing can show that it is kept"
    for number in range(1, len(promise.criteria) + 1):
        yield from _criterion(promise, number, unproven)


def _criterion(promise: Promise, number: int, unproven: Mapping[int, str]) -> Iterator[str]:
    criterion, evidence = promise.criteria[number - 1], promise.evidence[number - 1]
    yield f"  {number}. {_one_line(criterion.text)}: {unproven.get(number, '') or 'met'}"
    yield f"     {_check_line(criterion)}"
    if number in unproven and evidence and evidence.exit_code and promise.is_genuine(number):
        yield from (f"     | {line}" for line in evidence.output.splitlines())


def _check_line(criterion: PromiseCriterion) -> str:
    if criterion.kind is CriterionCheck.COMMAND:
        return f"command: {_one_line(criterion.target)} (within {criterion.deadline_s:g} s)"
    return f"{criterion.kind}: {_one_line(criterion.target) or 'any'}"


def _one_line(text: str, most: int | None = None) -> str:
    line = " ".join(text.split())
    return line if most is None or len(line) <= most else f"{line[: most - 1]}…"
