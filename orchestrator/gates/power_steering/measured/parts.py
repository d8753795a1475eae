"""The parts of a data set (`parts.yaml` in its folder), and the selection of some of its sessions."""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from orchestrator.gates.power_steering.measured.labels import Labelled
from state.errors import UsageError

FILE = "parts.yaml"


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A part of a data set: the sessions in its folders.

    `blind`: it is reported without a threshold. `rules_commit`: the commit whose rules were measured first on
    it.
    """

    name: str
    date: dt.date | None = None
    folders: tuple[str, ...]
    blind: bool = False
    rules_commit: str = ""

    def holds(self, session: Labelled) -> bool:
        """Whether the session is in one of the part's folders."""
        return any(folder == "." or session.name.startswith(f"{folder}/") for folder in self.folders)


WHOLE = Part(name="all", folders=(".",))  # for a data set without `parts.yaml`


def load_parts(dataset: Path, sessions: Sequence[Labelled]) -> tuple[Part, ...]:
    """The parts of a data set in their order, or one named `all` if it has no `parts.yaml`.

    Raises:
        UsageError: the file cannot be used, or a session is in no part or in several.
    """
    import yaml

    file = dataset / FILE
    if not file.is_file():
        return (WHOLE,)
    try:
        parts = msgspec.convert(yaml.safe_load(file.read_text("utf-8")), tuple[Part, ...])
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise UsageError(f"{file} cannot be used: {error}") from error
    problems = [
        f"{one.name} is in {len(of)} parts ({', '.join(of) or 'none'}), not in one"
        for one in sessions
        if len(of := [part.name for part in parts if part.holds(one)]) != 1
    ]
    if problems:
        raise UsageError("\n  - ".join([f"{file} cannot be used:", *problems]))
    return parts


def chosen(sessions: Sequence[Labelled], given: str, known: Mapping[str, object]) -> tuple[Labelled, ...]:
    """The sessions that `--sessions` names.

    Args:
        sessions: all.
        given: names or patterns (`blind1/*`) with commas between them. Or a file with one on each line,
        followed
            by the considerations to ask of that session, if not all.
        known: the ids of considerations.

    Raises:
        UsageError: a name matches no session, or there is no such consideration.
    """
    lines = dict(_lines(given))
    if missing := [name for name in lines if not any(_fits(one, name) for one in sessions)]:
        raise UsageError(f"--sessions: no session of the data set fits {', '.join(missing)}")
    check_known("--sessions", [id_ for ids in lines.values() for id_ in ids], known)
    return tuple(
        replace(one, only=frozenset(id_ for ids in fitting for id_ in ids)) if all(fitting) else one
        for one in sessions
        if (fitting := [ids for name, ids in lines.items() if _fits(one, name)])
    )


def check_known(flag: str, ids: Sequence[str], known: Mapping[str, object]) -> None:
    """Raise `UsageError` for unknown ids.

    Raises:
        UsageError: with these ids and the known ones.
    """
    if unknown := [id_ for id_ in ids if id_ not in known]:
        raise UsageError(f"{flag}: no such consideration: {', '.join(unknown)}. There are {', '.join(known)}")


def _fits(session: Labelled, name: str) -> bool:
    """Whether a session matches a name, with or without its folder, or a pattern."""
    return fnmatchcase(session.name, name) or session.name.rpartition("/")[2] == name


def _lines(given: str) -> Iterator[tuple[str, list[str]]]:
    """Each name with its considerations."""
    if not Path(given).is_file():
        yield from ((name.strip(), []) for name in given.split(",") if name.strip())
        return
    for line in Path(given).read_text("utf-8").splitlines():
        words = line.partition("#")[0].replace(":", " ").split()
        if words:
            yield words[0], words[1:]
