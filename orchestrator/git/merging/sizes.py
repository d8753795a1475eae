"""The size of a change: which files it adds, modifies and removes, and by how many lines."""

from pathlib import Path

from orchestrator.git.command import git
from state.records.changes import ChangeKind, FileChange

_KINDS = {"A": ChangeKind.ADDED, "D": ChangeKind.REMOVED}


async def sizes(folder: Path, base: str, commit: str) -> list[FileChange]:
    """Return the files that differ between two commits or trees, by path. A renamed file is two of them.

    Raises:
        GitError: one of the two is missing.
    """
    plain = ("--no-renames", "--no-ext-diff", "--no-textconv", "-z", base, commit)
    told = (await git(folder, "diff", "--name-status", *plain)).split("\0")
    kinds = dict(zip(told[1::2], told[::2], strict=False))
    found = []
    for row in (await git(folder, "diff", "--numstat", *plain)).split("\0"):
        if row:
            added, removed, path = row.split("\t", 2)
            found.append(
                FileChange(
                    path=path,
                    added=_number(added),
                    removed=_number(removed),
                    kind=_KINDS.get(kinds[path], ChangeKind.MODIFIED),
                )
            )
    return sorted(found, key=lambda one: one.path)


def _number(text: str) -> int | None:
    """Return a number of lines, or None for a binary file, for which git prints a dash."""
    return int(text) if text.isdigit() else None
