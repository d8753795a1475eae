"""What power steering found in a session, or in a whole data set of sessions, as lines."""

from collections.abc import Iterator, Sequence
from html import unescape

from orchestrator.gates.power_steering.bench import Measured, Row, Share
from orchestrator.gates.power_steering.considerations import Consideration
from orchestrator.gates.power_steering.examine import Examination
from orchestrator.views.columns import columns
from state.alike import alike, without_ids
from state.verdicts import CheckResult, Source

_SHOWN_S = 0.05  # seconds; a rule takes less


def examination_lines(examination: Examination, *, waits: str, explain: bool) -> list[str]:
    """What the gate would say to a session, and why; `explain`: with every check."""
    return [unescape(line) for line in _examination(examination, waits, explain=explain)]


def consideration_lines(considerations: Sequence[Consideration], problems: Sequence[str]) -> list[str]:
    """The considerations as a table, and below it what was wrong with those that were left out."""
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


def measured_lines(measured: Measured, *, explain: bool) -> list[str]:
    """The figures of a data set as a table; `explain`: with what was wrong about each session."""
    return [unescape(line) for line in _measured(measured, explain=explain)]


def _examination(examination: Examination, waits: str, *, explain: bool) -> Iterator[str]:
    decision = examination.decision
    yield f"session: {examination.session_type}; {decision.summary}"
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
    """A table of the checks, and below it a line for several that failed or were not made for one reason."""
    groups = alike(results, _what_went_wrong)
    alone = [_check(group[0]) for group in groups if len(group) == 1]
    yield from columns(("check", "answer", "by", "seconds", "reason"), alone)
    for group in groups:
        if len(group) > 1:
            one = group[0]
            names = ", ".join(each.consideration_id for each in group)
            yield f"{_answer(one) or one.source}, {len(group)} checks ({names}): {_reason(one)}"


def _what_went_wrong(result: CheckResult) -> tuple[str, ...]:
    """Equal for checks that failed, or could not be made, for one reason; else the check's own id."""
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


def _measured(measured: Measured, *, explain: bool) -> Iterator[str]:
    yield from columns(
        ("consideration", "severity", "false blocks", "95 %", "misses", "of visible", "95 %", "not checked"),
        [_row(row) for row in measured.rows],
    )
    yield ""
    overall = (
        ("good sessions held", measured.false_blocks),
        ("bad sessions let go", measured.misses),
        ("of those visible to rules", measured.visible_misses),
        ("met blockers called unmet", measured.check_false_blocks),
        ("unmet considerations not found", measured.check_misses),
        ("of those visible to rules", measured.check_visible_misses),
        ("pairs that flip", measured.pairs),
        ("session types as labelled", measured.types),
    )
    yield from columns(
        ("overall", "count", "share", "95 %"), [_overall(name, share) for name, share in overall]
    )
    made = ", ".join(f"{count} by {source}" for source, count in measured.sources.items())
    yield ""
    yield f"checks: {made}; {measured.seconds:.1f} s; ${measured.cost_usd:.4f}"
    if explain:
        for group in alike(measured.wrong.items(), lambda one: tuple(map(without_ids, one[1]))):
            yield f"{', '.join(name for name, _ in group)}:"
            yield from (f"    {each}" for each in group[0][1])


def _row(row: Row) -> tuple[str, ...]:
    return (
        row.id,
        row.severity,
        _of(row.false_blocks),
        _interval(row.false_blocks),
        _of(row.misses),
        _of(row.visible_misses),
        _interval(row.visible_misses),
        str(row.not_checked),
    )


def _overall(name: str, share: Share) -> tuple[str, str, str, str]:
    return name, _of(share), f"{share.share:.1%}" if share.total else "", _interval(share)


def _of(share: Share) -> str:
    return f"{share.count}/{share.total}" if share.total else "-"


def _interval(share: Share) -> str:
    low, high = share.interval
    return f"{low:.0%} to {high:.0%}" if share.total else ""
