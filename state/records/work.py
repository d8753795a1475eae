"""The work of an attempt: the files that it changed, the facts of them, its notes for the next attempt."""

from dataclasses import dataclass
from enum import StrEnum


class ChangeKind(StrEnum):
    """How a file changed between two commits."""

    ADDED = "added"
    MODIFIED = "modified"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """One changed file. `added` and `removed` count its lines, and are None for a binary file."""

    path: str
    added: int | None
    removed: int | None
    kind: ChangeKind


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOver:
    """The notes of one attempt for the next: work done, state of the tests, obstacles.

    `attempt` is its number. `tests` is the result that sq saw, or else the Worker's account. `decisions` are
    answers that held. `ended` is why the attempt ended. `since` lists the changes after its end.
    """

    attempt: int = 0
    done: str = ""
    tests: str = ""
    next_step: str = ""
    blockers: tuple[str, ...] = ()
    notes: str = ""
    decisions: tuple[str, ...] = ()
    ended: str = ""
    since: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkFacts:
    """How a work changed the dependencies and the public names of a project.

    `added`, `removed` and `changed` are dependencies of manifests, by name. `locked` are others that only
    lock files name. `names_changed` have other parameters now. `unread` are files that cannot be read.
    `paths` are all files that differ.
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    locked: tuple[str, ...] = ()
    names_added: tuple[str, ...] = ()
    names_removed: tuple[str, ...] = ()
    names_changed: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
