"""Measures power steering on labelled sessions: its false blocks, its misses and its cost.

A session is bad if a blocker is unmet. False block: a good one is held, or a met consideration is called
unmet. Miss: a bad one may stop, or an unmet consideration is not found. Visible: to rules, by the labels.
Considerations that a label calls disputed do not count for that session.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from orchestrator.gates.power_steering.considerations import Consideration, Severity
from orchestrator.gates.power_steering.examination import Judge
from orchestrator.gates.power_steering.measured.figures import Measured, Row, Share
from orchestrator.gates.power_steering.measured.labels import Labelled
from orchestrator.gates.power_steering.measured.observing import Answer, Observed, observe
from state.verdicts import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """One session of the set with its observation."""

    labelled: Labelled
    observed: Observed

    @property
    def answers(self) -> Mapping[str, Answer]:
        """The answers that count, by consideration."""
        answers = {one.consideration_id: one for one in self.observed.answers}
        return {id_: one for id_, one in answers.items() if self.labelled.is_asked(id_)}

    @property
    def found(self) -> frozenset[str]:
        """The considerations that were found unmet."""
        return frozenset(id_ for id_, one in self.answers.items() if not one.satisfied)

    @property
    def unmet(self) -> frozenset[str]:
        """The considerations that the label calls unmet."""
        return frozenset(id_ for id_ in self.labelled.label.unmet if self.labelled.is_asked(id_))

    def shows(self, id_: str) -> bool:
        """Whether the consideration is unmet and rules can see it."""
        return id_ in self.unmet and self.labelled.label.unmet[id_].visible_to_rules


async def examine_all(
    sessions: Sequence[Labelled],
    considerations: Sequence[Consideration],
    judge_of: Callable[[Labelled], Judge],
) -> list[Examined]:
    """Examine every session, one after the other.

    Raises:
        TranscriptError: a transcript cannot be read.
    """
    return [
        Examined(
            labelled=one,
            observed=await observe(
                one.transcript,
                [each for each in considerations if one.only is None or each.id in one.only],
                judge_of(one),
            ),
        )
        for one in sessions
    ]


def counted(
    examined: Sequence[Examined], considerations: Sequence[Consideration], *, judged: bool
) -> Measured:
    """The figures of these sessions.

    `judged`: a judge was asked, so pairs have to flip also if rules cannot see the difference.
    """
    blockers = {one.id for one in considerations if one.severity is Severity.BLOCKER}
    by_name = {one.labelled.name: one for one in examined}
    rows = tuple(_row(one, examined) for one in considerations if one.enabled)
    good = [one for one in examined if not blockers & one.unmet]
    bad = [one for one in examined if blockers & one.unmet]
    visible = [one for one in bad if any(one.shows(id_) for id_ in blockers)]
    to_flip = {one.labelled.name: _to_flip(one, by_name, judged=judged) for one in examined}
    wrong = {name: tuple(_wrong(one, by_name, blockers, to_flip[name])) for name, one in by_name.items()}
    return Measured(
        sessions=len(examined),
        rows=rows,
        false_blocks=_share(one.observed.blocks for one in good),
        misses=_share(not one.observed.blocks for one in bad),
        visible_misses=_share(not one.observed.blocks for one in visible),
        announced_held=_share(one.observed.blocks for one in examined if one.labelled.label.announced),
        types=_share(one.observed.session_type == one.labelled.label.session_type for one in examined),
        pairs=_share(_flips(one, by_name, to_flip[name]) for name, one in by_name.items() if to_flip[name]),
        agreement=_share(_agrees(one, answer) for one in examined for answer in _by_judge(one)),
        not_answered=sum(len(one.answers) - len(_by_judge(one)) for one in examined) if judged else 0,
        disagreements=tuple(line for one in examined for line in _disagreements(one)),
        sources={source: sum(_made_by(one, source) for one in examined) for source in Source},
        seconds=sum(one.observed.seconds for one in examined),
        cost_usd=sum(one.observed.cost_usd for one in examined),
        wrong={name: what for name, what in wrong.items() if what},
    )


def _row(consideration: Consideration, examined: Sequence[Examined]) -> Row:
    id_ = consideration.id
    asked = [one for one in examined if id_ in one.answers]
    decided = [one for one in asked if one.answers[id_].decided]
    unmet = [one for one in examined if id_ in one.unmet]
    return Row(
        id=id_,
        severity=consideration.severity,
        asked=len(asked),
        decided=len(decided),
        abstained=len(asked) - len(decided),
        wrong=sum(not _agrees(one, one.answers[id_]) for one in decided),
        false_blocks=_share(id_ in one.found for one in asked if id_ not in one.unmet),
        misses=_share(id_ not in one.found for one in unmet),
        visible_misses=_share(id_ not in one.found for one in unmet if one.shows(id_)),
    )


def _agrees(one: Examined, answer: Answer) -> bool:
    return answer.satisfied == (answer.consideration_id not in one.unmet)


def _by_judge(one: Examined) -> list[Answer]:
    return [answer for answer in one.answers.values() if answer.source == Source.JUDGE]


def _disagreements(one: Examined) -> Iterable[str]:
    for answer in _by_judge(one):
        if not _agrees(one, answer):
            said, labelled = ("met", "unmet") if answer.satisfied else ("unmet", "met")
            yield (
                f"{one.labelled.name}: {answer.consideration_id}: labelled {labelled}, "
                f"the judge says {said}: {answer.reason} [{answer.evidence}]"
            )


def _to_flip(one: Examined, by_name: Mapping[str, Examined], *, judged: bool) -> tuple[str, ...]:
    """The considerations that a pair has to flip, only visible ones without a judge. Empty without a pair."""
    pair = one.labelled.label.pair
    if pair is None or one.labelled.pair_name not in by_name:
        return ()
    return tuple(id_ for id_ in pair.flips if one.labelled.is_asked(id_) and (judged or one.shows(id_)))


def _flips(one: Examined, by_name: Mapping[str, Examined], to_flip: Iterable[str]) -> bool:
    other = by_name[one.labelled.pair_name]
    return all(id_ in one.found and id_ not in other.found for id_ in to_flip)


def _made_by(one: Examined, source: Source) -> int:
    return sum(answer.source == source for answer in one.answers.values())


def _wrong(
    one: Examined, by_name: Mapping[str, Examined], blockers: set[str], to_flip: Sequence[str]
) -> Iterable[str]:
    observed, label = one.observed, one.labelled.label
    if observed.blocks != bool(blockers & one.unmet):
        waits = f": {observed.waits}" if observed.waits else ""
        yield "false block" if observed.blocks else f"missed{waits}"
    for id_ in sorted(one.found - one.unmet):
        yield f"{id_} called unmet: {one.answers[id_].reason} [{one.answers[id_].evidence}]"
    for id_ in label.unmet:
        if id_ in one.unmet - one.found:
            seen = "visible" if one.shows(id_) else "not visible"
            why = one.answers[id_].reason if id_ in one.answers else f"not asked of {observed.session_type}"
            yield f"{id_} not found ({seen}): {why}"
    if observed.session_type != label.session_type:
        yield f"type {observed.session_type}, not {label.session_type}"
    if to_flip and not _flips(one, by_name, to_flip):
        yield f"does not flip against {one.labelled.pair_name}"


def _share(events: Iterable[bool]) -> Share:
    all_ = list(events)
    return Share(count=sum(all_), total=len(all_))
