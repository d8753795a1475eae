"""Labelled sessions: transcripts with the judgement of a careful reader."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from orchestrator.gates.power_steering.considerations import SessionType
from state.errors import UsageError


class Unmet(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A consideration that is not met. `visible_to_rules`: calls and results show it without words."""

    visible_to_rules: bool
    why: str = ""


class Pair(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"other": "with"}):
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
    pair: Pair | None = None
    announced: bool = False
    disputed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """A session of a data set. `name` is its path in the set without the ending.

    `only`: the considerations to ask. None: all.
    """

    name: str
    transcript: Path
    label: Label
    pair_name: str = field(default="")
    only: frozenset[str] | None = None

    def is_asked(self, consideration_id: str) -> bool:
        """Whether the consideration is asked of this session and counts for it."""
        asked = self.only is None or consideration_id in self.only
        return asked and consideration_id not in self.label.disputed


def load_labelled(dataset: Path, known: Mapping[str, object]) -> tuple[Labelled, ...]:
    """Load every `NAME.jsonl` below a folder with the `NAME.yaml` beside it, in order of their names.

    Args:
        dataset: the folder.
        known: the ids of considerations that labels may name.

    Raises:
        UsageError: something cannot be used. It names every such file and its problem.
    """
    if not dataset.is_dir():
        raise UsageError(f"{dataset} is no folder. Name the folder of labelled sessions")
    problems: list[str] = []
    found = tuple(_sessions(dataset, known, problems))
    names = {one.name for one in found}
    problems += [
        f"{one.name}.yaml: pair.with: there is no session {one.pair_name}"
        for one in found
        if one.pair_name and one.pair_name not in names
    ]
    if not found and not problems:
        problems.append("no session (NAME.jsonl with NAME.yaml beside it) was found")
    if problems:
        raise UsageError("\n  - ".join([f"the labelled sessions in {dataset} cannot be used:", *problems]))
    return found


def _sessions(dataset: Path, known: Mapping[str, object], problems: list[str]) -> Iterator[Labelled]:
    for transcript in sorted(dataset.rglob("*.jsonl")):
        if "subagents" in transcript.parts:
            continue
        name = transcript.relative_to(dataset).with_suffix("").as_posix()
        try:
            label = _label(transcript.with_suffix(".yaml"), known)
        except FileNotFoundError:
            problems.append(f"{name}.jsonl: there is no label beside it ({transcript.stem}.yaml)")
            continue
        except (OSError, ValueError) as error:
            problems.append(f"{name}.yaml: {error}")
            continue
        beside = Path(name).parent / label.pair.other if label.pair else None
        yield Labelled(
            name=name, transcript=transcript, label=label, pair_name=beside.as_posix() if beside else ""
        )


def _label(file: Path, known: Mapping[str, object]) -> Label:
    import yaml

    try:
        label = msgspec.convert(yaml.safe_load(file.read_text("utf-8")), Label)
    except (yaml.YAMLError, msgspec.ValidationError) as error:
        raise ValueError(str(error)) from error
    named = [*label.unmet, *(label.pair.flips if label.pair else ()), *label.disputed]
    if unknown := [id_ for id_ in named if id_ not in known]:
        raise ValueError(f"no such consideration: {', '.join(unknown)}")
    if both := [id_ for id_ in label.disputed if id_ in label.unmet]:
        raise ValueError(f"both unmet and disputed: {', '.join(both)}")
    return label
