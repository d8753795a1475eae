"""Files that changed between two commits."""

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
