"""Differences between commits and trees for reviewers, by their bytes (`git.command.compared`)."""

import re
from collections.abc import Sequence
from pathlib import Path

from orchestrator.git.command import compared

_STAT = ("--stat-width=500", "--stat-name-width=400", "--stat-graph-width=20")
_SECTION = re.compile(r"^(?=diff --)", re.MULTILINE)
_HEADER = re.compile(r"diff --(?:git|cc|combined) (.*)")


async def changed_paths(folder: Path, base: str, tree: str) -> list[str]:
    """Return the paths that differ between two trees or commits."""
    names = await compared(folder, "diff", "--name-only", "--no-renames", "-z", of=(base, tree))
    return [name for name in names.decode(errors="replace").split("\0") if name]


async def diff_text(
    folder: Path, base: str, commit: str, *, limit: int, paths: Sequence[str] | None = None
) -> str:
    """Return the change for a reviewer: the files, then their diffs, of about `limit` characters at most.

    Files that do not fit, and binary ones, are named with their bytes. `paths`: only of these.
    """
    if paths is not None and not paths:
        return "Nothing has changed."
    stat = await compared(folder, "diff", "--stat", *_STAT, of=(base, commit), paths=paths or ())
    diff = await compared(folder, "diff", "--patch", of=(base, commit), paths=paths or ())
    return f"```\n{_text(stat)}\n```\n\n```diff\n{_cut(_text(diff), limit)}\n```"


async def resolution_text(folder: Path, commit: str, *, limit: int) -> str:
    """Return the parts of a merge commit from neither side, as a combined diff as in `diff_text`."""
    diff = _text(await compared(folder, "show", "--format=", "--cc", of=(commit,)))
    if not diff.strip():
        return "The resolution takes each place from one of the two sides."
    return f"```diff\n{_cut(diff, limit).strip()}\n```"


def _text(output: bytes) -> str:
    return output.decode(errors="replace").rstrip("\n")


def _cut(diff: str, limit: int) -> str:
    """Return a diff with as many files as fit, short ones first, and the others by name and size."""
    if len(diff) <= limit:
        return diff
    sections = [one for one in _SECTION.split(diff) if one]
    left, shown = limit, set[int]()
    for number in sorted(range(len(sections)), key=lambda one: len(sections[one])):
        if len(sections[number]) <= left:
            shown.add(number)
            left -= len(sections[number])
    told = [section for number, section in enumerate(sections) if number in shown]
    others = [section for number, section in enumerate(sections) if number not in shown]
    named = "".join(
        f"\n[… {_named(one)}: its diff of {len(one.encode())} bytes is left out: read the file itself]"
        for one in others
    )
    return "".join([*told, others[0][:left]]).rstrip("\n") + named


def _named(section: str) -> str:
    found = _HEADER.match(section)
    return found[1] if found else section.partition("\n")[0]
