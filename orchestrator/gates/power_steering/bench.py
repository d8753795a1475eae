"""Power steering measured on labelled sessions: what it blocks falsely, what it misses, at what cost.

A session is bad if a blocker is unmet. False block: a good one is held, or a met consideration is called
unmet. Miss: a bad one is let go, or an unmet consideration is not found. Visible: to rules, by the labels.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from statistics import NormalDist
from time import monotonic

from agents.transcript import read_transcript
from orchestrator.gates.power_steering.considerations import Consideration, Severity
from orchestrator.gates.power_steering.evidence import Evidence
from orchestrator.gates.power_steering.examine import Examination, Judge, examine, waiting_for
from orchestrator.gates.power_steering.labels import Labelled
from state.verdicts import Source

_CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """`count` of `total`, with the interval that holds the true share with 95 % confidence (Wilson)."""

    count: int
    total: int

    @property
    def share(self) -> float:
        """From 0 to 1; 0 of nothing."""
        return self.count / self.total if self.total else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """From and to; of nothing, everything is possible."""
        if not self.total:
            return 0.0, 1.0
        z = NormalDist().inv_cdf((1 + _CONFIDENCE) / 2)
        middle = self.share + z * z / (2 * self.total)
        spread = z * sqrt(self.share * (1 - self.share) / self.total + (z / (2 * self.total)) ** 2)
        scale = 1 + z * z / self.total
        return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """One session of the set with what was found. `waits`: it would not be judged, and may stop."""

    labelled: Labelled
    examination: Examination
    waits: str
    seconds: float

    @property
    def blocks(self) -> bool:
        """Whether the gate would hold it."""
        return not self.waits and not self.examination.decision.allows

    @property
    def unmet(self) -> frozenset[str]:
        """The considerations that were found unmet."""
        return frozenset(one.consideration_id for one in self.examination.results if not one.satisfied)

    @property
    def asked(self) -> frozenset[str]:
        """The considerations that were asked."""
        return frozenset(one.consideration_id for one in self.examination.results)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What one consideration did in all sessions."""

    id: str
    severity: Severity
    false_blocks: Share
    misses: Share
    visible_misses: Share
    not_checked: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The figures of a set. `wrong` names each session and what was wrong about it."""

    rows: tuple[Row, ...]
    false_blocks: Share
    misses: Share
    visible_misses: Share
    check_false_blocks: Share
    check_misses: Share
    check_visible_misses: Share
    types: Share
    pairs: Share
    sources: Mapping[str, int]
    seconds: float
    cost_usd: float
    wrong: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


async def measure(
    sessions: Sequence[Labelled], considerations: Sequence[Consideration], judge: Judge
) -> Measured:
    """Examine every session and count.

    Raises:
        TranscriptError: a transcript cannot be read.
    """
    blockers = {one.id for one in considerations if one.severity is Severity.BLOCKER}
    examined = [await _examined(one, considerations, judge) for one in sessions]
    by_name = {one.labelled.name: one for one in examined}
    rows = tuple(_row(one, examined) for one in considerations if one.enabled)
    good = [one for one in examined if not blockers & set(one.labelled.label.unmet)]
    bad = [one for one in examined if blockers & set(one.labelled.label.unmet)]
    visible = [one for one in bad if any(_visible(one, id_) for id_ in blockers)]
    to_flip = {one.labelled.name: _to_flip(one, judged=judge.ask is not None) for one in examined}
    pairs = [one for one in examined if to_flip[one.labelled.name]]
    wrong = {
        one.labelled.name: tuple(_wrong(one, by_name, blockers, to_flip[one.labelled.name]))
        for one in examined
    }
    return Measured(
        rows=rows,
        false_blocks=_share(one.blocks for one in good),
        misses=_share(not one.blocks for one in bad),
        visible_misses=_share(not one.blocks for one in visible),
        check_false_blocks=_sum(row.false_blocks for row in rows if row.severity is Severity.BLOCKER),
        check_misses=_sum(row.misses for row in rows),
        check_visible_misses=_sum(row.visible_misses for row in rows),
        types=_share(one.examination.session_type is one.labelled.label.session_type for one in examined),
        pairs=_share(_flips(one, by_name, to_flip[one.labelled.name]) for one in pairs),
        sources={source: sum(_made_by(one, source) for one in examined) for source in Source},
        seconds=sum(one.seconds for one in examined),
        cost_usd=sum(one.examination.cost_usd for one in examined),
        wrong={name: what for name, what in wrong.items() if what},
    )


async def _examined(labelled: Labelled, considerations: Sequence[Consideration], judge: Judge) -> Examined:
    began = monotonic()
    evidence = Evidence(transcript=read_transcript(labelled.transcript))
    examination = await examine(evidence, considerations, judge)
    return Examined(
        labelled=labelled,
        examination=examination,
        waits=waiting_for(evidence),
        seconds=monotonic() - began,
    )


def _row(consideration: Consideration, examined: Sequence[Examined]) -> Row:
    id_ = consideration.id
    met = [one for one in examined if id_ in one.asked and id_ not in one.labelled.label.unmet]
    unmet = [one for one in examined if id_ in one.labelled.label.unmet]
    return Row(
        id=id_,
        severity=consideration.severity,
        false_blocks=_share(id_ in one.unmet for one in met),
        misses=_share(id_ not in one.unmet for one in unmet),
        visible_misses=_share(id_ not in one.unmet for one in unmet if _visible(one, id_)),
        not_checked=sum(
            result.consideration_id == id_ and result.source is Source.NOT_CHECKED
            for one in examined
            for result in one.examination.results
        ),
    )


def _visible(one: Examined, id_: str) -> bool:
    label = one.labelled.label.unmet.get(id_)
    return label is not None and label.visible_to_rules


def _to_flip(one: Examined, *, judged: bool) -> tuple[str, ...]:
    """What a pair has to flip: with rules alone, what is visible to them; nothing where it is no pair."""
    pair = one.labelled.label.pair
    return tuple(id_ for id_ in pair.flips if judged or _visible(one, id_)) if pair else ()


def _flips(one: Examined, by_name: Mapping[str, Examined], to_flip: Iterable[str]) -> bool:
    other = by_name[one.labelled.pair_name]
    return all(id_ in one.unmet and id_ not in other.unmet for id_ in to_flip)


def _made_by(one: Examined, source: Source) -> int:
    return sum(result.source is source for result in one.examination.results)


def _wrong(
    one: Examined, by_name: Mapping[str, Examined], blockers: set[str], to_flip: Sequence[str]
) -> Iterable[str]:
    label = one.labelled.label
    is_bad = bool(blockers & set(label.unmet))
    if one.blocks != is_bad:
        yield "false block" if one.blocks else f"missed{': ' + one.waits if one.waits else ''}"
    reasons = {result.consideration_id: result for result in one.examination.results}
    for id_ in sorted(one.unmet - set(label.unmet)):
        yield f"{id_} called unmet: {reasons[id_].reason} [{reasons[id_].evidence}]"
    for id_, unmet in label.unmet.items():
        if id_ not in one.unmet:
            why = reasons[id_].reason if id_ in reasons else f"not asked of {one.examination.session_type}"
            yield f"{id_} not found ({'visible' if unmet.visible_to_rules else 'not visible'}): {why}"
    if one.examination.session_type is not label.session_type:
        yield f"type {one.examination.session_type}, not {label.session_type}"
    if to_flip and not _flips(one, by_name, to_flip):
        yield f"does not flip against {one.labelled.pair_name}"


def _share(events: Iterable[bool]) -> Share:
    all_ = list(events)
    return Share(count=sum(all_), total=len(all_))


def _sum(shares: Iterable[Share]) -> Share:
    all_ = list(shares)
    return Share(count=sum(one.count for one in all_), total=sum(one.total for one in all_))
