"""Labelled sessions, packed: a part is `PART.jsonl.xz`, with the labels of its sessions in `PART.yaml`.

Each line of the packed file is a session: its `name`, its `transcript` as Claude Code wrote it, and the
transcripts of its `subagents` by the names of their files.
"""

import lzma
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec
import yaml

from orchestrator.gates.power_steering.considerations import SessionType
from state.errors import UsageError

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
