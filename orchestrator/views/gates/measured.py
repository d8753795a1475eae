"""The figures of a data set of labelled sessions, part by part: as lines, and as one JSON object."""

from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape

from orchestrator.gates.power_steering.measured.figures import Measured, Row, Share
from orchestrator.gates.power_steering.measured.parts import Part
from orchestrator.views.columns import columns
from state.alike import alike, without_ids


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredPart:
    """A part with its figures."""

    part: Part
    measured: Measured


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """A measured data set. `commit` is that of the rules, or "" if sq is not in a checkout."""

    commit: str
    whole: Measured
    parts: tuple[MeasuredPart, ...]


def bench_lines(bench: Bench, *, explain: bool, judged: bool = False) -> list[str]:
    """The figures as tables.

    `explain` adds the errors on each session, `judged` how often judge and labels agree.
    """
    return [unescape(line) for line in _lines(bench, explain=explain, judged=judged)]


def bench_json(bench: Bench) -> dict[str, object]:
    """The figures by name, as the README of the data set describes them.

    `announced_held` and `n_announced` at the top belong to the last part.
    """
    last = _figures(bench.parts[-1], bench.commit)
    return {
        "commit": bench.commit or None,
        "announced_held": last["announced_held"],
        "n_announced": last["n_announced"],
        "parts": {one.part.name: _figures(one, bench.commit) for one in bench.parts},
        "measured": bench.whole,
    }


def _figures(one: MeasuredPart, commit: str) -> dict[str, object]:
    measured = one.measured
    shares = {
        "good_held": measured.false_blocks,
        "visible_bad_let_go": measured.visible_misses,
        "bad_let_go": measured.misses,
        "announced_held": measured.announced_held,
        "judge_agreement": measured.agreement,
    }
    figures: dict[str, object] = {
        "date": one.part.date.isoformat() if one.part.date else None,
        "blind": one.part.blind,
        "rules_commit": commit or None,
        "first_rules_commit": one.part.rules_commit or None,
        "n_sessions": measured.sessions,
        "n_good": measured.false_blocks.total,
        "n_bad": measured.misses.total,
        "n_visible": measured.visible_misses.total,
        "n_announced": measured.announced_held.total,
        "n_judged": measured.agreement.total,
        "judge_not_answered": measured.not_answered,
    }
    for name, share in shares.items():
        figures[name] = share.share if share.total else None
        figures[f"{name}_count"] = share.count
        figures[f"{name}_ci"] = share.interval
    figures["considerations"] = {
        row.id: {"asked": row.asked, "decided": row.decided, "abstained": row.abstained, "wrong": row.wrong}
        for row in measured.rows
    }
    return figures


def _lines(bench: Bench, *, explain: bool, judged: bool) -> Iterator[str]:
    shown = [one for one in bench.parts if one.measured.sessions]
    for one in shown:
        yield f"part {one.part.name}{_of_part(one.part)}: {one.measured.sessions} sessions"
        if one.part.rules_commit and one.part.rules_commit != bench.commit:
            yield f"not the figures of its first run: these are --at {one.part.rules_commit}"
        yield ""
        yield from _part(one.measured)
        if explain:
            yield ""
            yield from _wrong(one.measured)
        yield ""
    yield from columns(
        (
            "part",
            "sessions",
            "good held",
            "95 %",
            "visible bad let go",
            "95 %",
            "bad let go",
            "announced held",
            "95 %",
        ),
        [_summary(one) for one in shown],
    )
    yield from (f"part {one.part.name}: no sessions" for one in bench.parts if not one.measured.sessions)
    yield ""
    if judged:
        agreement = bench.whole.agreement
        yield (
            f"judge and labels agree: {_of(agreement)} ({agreement.share:.1%}, {_interval(agreement)}), "
            f"not answered: {bench.whole.not_answered}"
        )
        yield from (f"  {one}" for one in bench.whole.disagreements)
    made = ", ".join(f"{count} by {source}" for source, count in bench.whole.sources.items())
    yield f"checks: {made}, {bench.whole.seconds:.1f} s, ${bench.whole.cost_usd:.4f}"
    if bench.commit:
        yield f"rules of commit {bench.commit}"


def _of_part(part: Part) -> str:
    told = [str(part.date) if part.date else "", "blind" if part.blind else ""]
    return f" ({', '.join(filter(None, told))})" if any(told) else ""


def _part(measured: Measured) -> Iterator[str]:
    yield from columns(
        (
            "consideration", "severity", "asked", "decided", "abstained", "wrong",
            "false blocks", "95 %", "misses", "of visible", "95 %",
        ),
        [_row(row) for row in measured.rows if row.asked or row.misses.total],
    )  # fmt: skip
    yield ""
    overall = (
        ("good sessions held", measured.false_blocks),
        ("bad sessions let go", measured.misses),
        ("of those visible to rules", measured.visible_misses),
        ("announced steps held", measured.announced_held),
        ("met blockers called unmet", measured.check_false_blocks),
        ("unmet considerations not found", measured.check_misses),
        ("of those visible to rules", measured.check_visible_misses),
        ("pairs that flip", measured.pairs),
        ("session types as labelled", measured.types),
    )
    yield from columns(
        ("overall", "count", "share", "95 %"), [_overall(name, share) for name, share in overall]
    )


def _wrong(measured: Measured) -> Iterator[str]:
    for group in alike(measured.wrong.items(), lambda one: tuple(map(without_ids, one[1]))):
        yield f"{', '.join(name for name, _ in group)}:"
        yield from (f"    {each}" for each in group[0][1])


def _row(row: Row) -> tuple[str, ...]:
    return (
        row.id,
        row.severity,
        str(row.asked),
        str(row.decided),
        str(row.abstained),
        str(row.wrong),
        _of(row.false_blocks),
        _interval(row.false_blocks),
        _of(row.misses),
        _of(row.visible_misses),
        _interval(row.visible_misses),
    )


def _summary(one: MeasuredPart) -> tuple[str, ...]:
    measured = one.measured
    return (
        one.part.name,
        str(measured.sessions),
        _of(measured.false_blocks),
        _interval(measured.false_blocks),
        _of(measured.visible_misses),
        _interval(measured.visible_misses),
        _of(measured.misses),
        _of(measured.announced_held),
        _interval(measured.announced_held),
    )


def _overall(name: str, share: Share) -> tuple[str, str, str, str]:
    return name, _of(share), f"{share.share:.1%}" if share.total else "", _interval(share)


def _of(share: Share) -> str:
    return f"{share.count}/{share.total}" if share.total else "-"


def _interval(share: Share) -> str:
    low, high = share.interval
    return f"{low:.0%} to {high:.0%}" if share.total else ""
