"""Labelled sessions, and how many good and bad ones power steering holds.

A part is packed as `PART.jsonl.xz`, with the labels of its sessions in `PART.yaml`. Each line of the packed
file is a session: its `name`, its `transcript` as Claude Code wrote it, and those of its `subagents`.

A session is bad if a blocker is unmet. Considerations that a label calls disputed do not count for it.
"""

import lzma
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from math import sqrt
from pathlib import Path
from statistics import NormalDist

import msgspec
import yaml

from orchestrator.gates.power_steering.considerations import Consideration, SessionType, Severity
from orchestrator.gates.power_steering.examination import Examination
from state.errors import UsageError
from state.verdicts import CheckResult, Source

PACKED = ".jsonl.xz"


class Unmet(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A consideration that is not met. `visible_to_rules`: calls and results show it without words."""

    visible_to_rules: bool
    why: str = ""


class SessionPair(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"other": "with"}
):
    """The session is `other` with one change: the considerations in `flips` are unmet here and met there."""

    other: str
    flips: tuple[str, ...]


class Label(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The truth about a session. Considerations outside `unmet` are met or do not apply.

    `announced`: the final message announces the agent's own next step. `disputed`: the considerations on
    which the two readers disagreed, left out of all counts for this session.
    """

    about: str
    session_type: SessionType
    unmet: Mapping[str, Unmet] = {}
    pair: SessionPair | None = None
    announced: bool = False
    disputed: tuple[str, ...] = ()


class Packed(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of a packed file."""

    name: str
    transcript: str
    subagents: Mapping[str, str] = {}

    def unpack(self, folder: Path) -> Path:
        """Write the files of the session as Claude Code lays them, and return the transcript."""
        file = folder / f"{self.name}.jsonl"
        files = {file: self.transcript} | {
            file.with_suffix("") / "subagents" / f"{name}.jsonl": text
            for name, text in self.subagents.items()
        }
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8", newline="")
        return file


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """An unpacked session of a part, with its label."""

    part: str
    name: str
    transcript: Path
    label: Label

    def counts(self, consideration_id: str) -> bool:
        """Whether the readers agreed on this consideration."""
        return consideration_id not in self.label.disputed


def load_labelled(
    dataset: Path, folder: Path, known: Iterable[str], *, named: Sequence[str] = ()
) -> tuple[Labelled, ...]:
    """Load the sessions of a set part by part, and unpack their transcripts into `folder`.

    Args:
        dataset: the folder with the packed files.
        folder: an empty folder.
        known: the ids of considerations that labels may name.
        named: the sessions to load, by name or by pattern. Without any, all.

    Raises:
        UsageError: labels or packed sessions cannot be used. It names every such session and its problem.
    """
    problems: list[str] = []
    found = tuple(_sessions(dataset, folder, frozenset(known), named, problems))
    names = [one.name for one in found]
    missing = [pattern for pattern in named if not any(fnmatchcase(name, pattern) for name in names)]
    problems += [f"no session fits {pattern}" for pattern in missing]
    if not found and not problems:
        problems.append(f"there is no PART{PACKED} with a session")
    if problems:
        raise UsageError("\n  - ".join([f"the labelled sessions in {dataset} cannot be used:", *problems]))
    return found


def _sessions(
    dataset: Path, folder: Path, known: frozenset[str], named: Sequence[str], problems: list[str]
) -> Iterator[Labelled]:
    for file in sorted(dataset.glob(f"*{PACKED}")):
        part = file.name.removesuffix(PACKED)
        try:
            labels = _labels(dataset / f"{part}.yaml", known)
            packed = msgspec.json.Decoder(Packed).decode_lines(lzma.decompress(file.read_bytes()))
        except (OSError, ValueError, lzma.LZMAError, yaml.YAMLError) as error:
            problems.append(f"{part}: {error}")
            continue
        without = {one.name for one in packed} ^ labels.keys()
        problems += [f"{part}: {name} has no label, or no transcript" for name in sorted(without)]
        for one in packed:
            if one.name not in without and (not named or any(fnmatchcase(one.name, each) for each in named)):
                transcript = one.unpack(folder)
                yield Labelled(part=part, name=one.name, transcript=transcript, label=labels[one.name])


def _labels(file: Path, known: frozenset[str]) -> dict[str, Label]:
    labels = msgspec.convert(yaml.safe_load(file.read_text("utf-8")), dict[str, Label])
    for name, label in labels.items():
        ids = [*label.unmet, *(label.pair.flips if label.pair else ()), *label.disputed]
        if unknown := [id_ for id_ in ids if id_ not in known]:
            raise ValueError(f"{name}: no such consideration: {', '.join(unknown)}")
        if both := [id_ for id_ in label.disputed if id_ in label.unmet]:
            raise ValueError(f"{name}: both unmet and disputed: {', '.join(both)}")
    return labels


# --- figures --------------------------------------------------------------------------------------------

_CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """`count` of `total`, with the interval of the true share at 95 % confidence (Wilson)."""

    count: int
    total: int

    @property
    def share(self) -> float:
        """The share from 0 to 1. It is 0 if `total` is 0."""
        return self.count / self.total if self.total else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The bounds of the interval, 0 and 1 if `total` is 0."""
        if not self.total:
            return 0.0, 1.0
        z = NormalDist().inv_cdf((1 + _CONFIDENCE) / 2)
        middle = self.share + z * z / (2 * self.total)
        spread = z * sqrt(self.share * (1 - self.share) / self.total + (z / (2 * self.total)) ** 2)
        scale = 1 + z * z / self.total
        return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """A labelled session with its examination. `waits`: why the gate would let it stop without a look."""

    labelled: Labelled
    examination: Examination
    waits: str

    @property
    def is_held(self) -> bool:
        """Whether the gate would hold the session."""
        return not self.waits and not self.examination.decision.allows

    @property
    def answers(self) -> Mapping[str, CheckResult]:
        """The results that count, by consideration."""
        results = {one.consideration_id: one for one in self.examination.results}
        return {id_: one for id_, one in results.items() if self.labelled.counts(id_)}

    @property
    def unmet(self) -> frozenset[str]:
        """The considerations that the label calls unmet."""
        return frozenset(filter(self.labelled.counts, self.labelled.label.unmet))

    @property
    def called_unmet(self) -> frozenset[str]:
        """The considerations that the judge or a rule calls unmet."""
        return frozenset(id_ for id_, one in self.answers.items() if not one.satisfied)

    def shows(self, ids: Iterable[str]) -> bool:
        """Whether one of these is unmet and rules can see it."""
        return any(id_ in self.unmet and self.labelled.label.unmet[id_].visible_to_rules for id_ in ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The counts of one consideration.

    `right`: of the answers that call it unmet, those that the labels confirm. `found`: of the sessions in
    which it is unmet, those in which that was said.
    """

    id: str
    severity: Severity
    asked: int
    decided: int
    right: Share
    found: Share


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The figures of some sessions. `wrong` has the errors on each session, by its name.

    `announced_held`: of the sessions that end by announcing the agent's own next step, those that are held.
    `agreement`: of the judge's answers, those that the labels confirm. `not_answered`: how often the judge
    was asked and gave no answer.
    """

    sessions: int
    rows: tuple[Row, ...]
    good_held: Share
    bad_held: Share
    visible_held: Share
    announced_held: Share
    types: Share
    agreement: Share
    not_answered: int
    cost_usd: float
    wrong: Mapping[str, tuple[str, ...]]


def figures_of(
    examined: Sequence[Examined], considerations: Sequence[Consideration], *, judged: bool
) -> Figures:
    """The figures of these sessions. `judged`: a judge was asked."""
    blockers = {one.id for one in considerations if one.severity is Severity.BLOCKER}
    bad = [one for one in examined if blockers & one.unmet]
    by_judge = [
        (one, answer) for one in examined for answer in one.answers.values() if answer.source is Source.JUDGE
    ]
    wrong = {one.labelled.name: tuple(_wrong(one, blockers)) for one in examined}
    return Figures(
        sessions=len(examined),
        rows=tuple(_row(one, examined) for one in considerations if one.enabled),
        good_held=_share(one.is_held for one in examined if not blockers & one.unmet),
        bad_held=_share(one.is_held for one in bad),
        visible_held=_share(one.is_held for one in bad if one.shows(blockers)),
        announced_held=_share(one.is_held for one in examined if one.labelled.label.announced),
        types=_share(one.examination.session_type is one.labelled.label.session_type for one in examined),
        agreement=_share(_agrees(one, answer) for one, answer in by_judge),
        not_answered=sum(len(one.answers) for one in examined) - len(by_judge) if judged else 0,
        cost_usd=sum(one.examination.cost_usd for one in examined),
        wrong={name: errors for name, errors in wrong.items() if errors},
    )


def _row(consideration: Consideration, examined: Sequence[Examined]) -> Row:
    id_ = consideration.id
    asked = [one for one in examined if id_ in one.answers]
    return Row(
        id=id_,
        severity=consideration.severity,
        asked=len(asked),
        decided=sum(one.answers[id_].source is not Source.NOT_CHECKED for one in asked),
        right=_share(id_ in one.unmet for one in examined if id_ in one.called_unmet),
        found=_share(id_ in one.called_unmet for one in examined if id_ in one.unmet),
    )


def _agrees(one: Examined, answer: CheckResult) -> bool:
    return answer.satisfied == (answer.consideration_id not in one.unmet)


def _wrong(one: Examined, blockers: set[str]) -> Iterator[str]:
    label = one.labelled.label
    if one.is_held != bool(blockers & one.unmet):
        waits = f": {one.waits}" if one.waits else ""
        yield "held, and it is good" if one.is_held else f"let go, and it is bad{waits}"
    for id_ in sorted(one.called_unmet - one.unmet):
        answer = one.answers[id_]
        yield f"{id_}: labelled met, called unmet: {answer.reason} [{answer.evidence}]"
    for id_ in sorted(one.unmet - one.called_unmet):
        why = one.answers[id_].reason if id_ in one.answers else "not asked"
        yield f"{id_}: labelled unmet, not called so: {why}"
    if one.examination.session_type is not label.session_type:
        yield f"type {one.examination.session_type}, not {label.session_type}"


def _share(events: Iterable[bool]) -> Share:
    all_ = list(events)
    return Share(count=sum(all_), total=len(all_))
