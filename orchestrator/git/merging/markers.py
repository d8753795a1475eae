"""Conflict markers that a merge has left in files, distinguished from intended lines of that form."""

import re
from collections import Counter
from collections.abc import Collection
from pathlib import Path

from orchestrator.git.command import git
from orchestrator.git.workspace import changed_paths
from state.errors import GitError
from state.safe_paths import read_inside

_MARKER = re.compile(r"(<{7,}|>{7,})(\s|$)|\|{7,} \S")
_DIVIDER = "=" * 7


async def marked_files(
    folder: Path, tree: str, *, sides: tuple[str, str], base: str, in_conflict: Collection[str]
) -> tuple[str, ...]:
    """Return the files of a worktree with conflict markers that come from neither side.

    Args:
        folder: the worktree.
        tree: its content.
        sides: the two commits that are merged.
        base: their merge base.
        in_conflict: paths that git could not merge. In other files a line of `=======` is a heading.
    """
    ours, theirs = [set(await changed_paths(folder, side, tree)) for side in sides]
    marked = []
    for path in sorted(ours & theirs):
        found = _markers(_text_of(folder, path), dividers=path in in_conflict)
        if found and _are_new(found, *[await _markers_in(folder, commit, path) for commit in (*sides, base)]):
            marked.append(path)
    return tuple(marked)


def _are_new(found: Counter[str], ours: Counter[str], theirs: Counter[str], base: Counter[str]) -> bool:
    """Whether there are more markers than a merge of both sides has."""
    return any(
        count > max(ours[line], theirs[line], ours[line] + theirs[line] - base[line])
        for line, count in found.items()
    )


def _text_of(folder: Path, path: str) -> str:
    try:
        content = b"" if (folder / path).is_symlink() else read_inside(folder, path)
    except OSError:
        return ""
    return content.replace(b"\0", b"").decode(errors="replace")  # UTF-16 becomes readable enough


async def _markers_in(folder: Path, commit: str, path: str) -> Counter[str]:
    try:
        text = await git(folder, "cat-file", "blob", f"{commit}:{path}")
    except GitError:  # it is missing, or not a file
        text = ""
    return _markers(text, dividers=True)


def _markers(text: str, *, dividers: bool) -> Counter[str]:
    """Count the lines that are conflict markers, with `dividers` also the `=======` between two sides."""
    lines = (line.rstrip("\r") for line in text.split("\n"))
    return Counter(line for line in lines if _MARKER.match(line) or (dividers and line == _DIVIDER))
