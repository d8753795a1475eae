"""Tokens in the work: a change that holds an unknown credential is named by its place, and stays as it is."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from agents.concurrency import UnreadError, aside
from orchestrator.git.command import compared, told_by_objects
from orchestrator.git.trees import changed_paths
from prompts.marking import line
from state.redaction.redactor import tokens_in

_FILE = re.compile(r"^\+\+\+ b/(.*?)\t?$")
_HUNK = re.compile(r"^@@ -\S+ \+(\d+)")
_LARGEST = 20_000_000  # bytes of a file that is looked through
_MOST = 60_000_000  # bytes of all
_AT_A_TIME = 500  # paths of one command
_NAMED = 20


class Tokens(NamedTuple):
    """The place and format of each token (`path:line: PyPI token`), and what was not looked through."""

    places: list[str]
    unread: list[str]


async def tokens_of(folder: Path, base: str, commit: str) -> Tokens:
    """Return the tokens in a change's new lines. Files that are too large to be looked through are named."""
    changed = {*await changed_paths(folder, base, commit)}
    sizes = {path: size for path, size in (await _sizes(folder, commit)).items() if path in changed}
    left, looked = _MOST, list[str]()
    for path in sorted(sizes, key=lambda one: (sizes[one], one)):
        if sizes[path] <= min(_LARGEST, left):
            looked.append(path)
            left -= sizes[path]
    large = sorted(changed & sizes.keys() - {*looked})
    unread = [f"{line(path)} ({sizes[path]:,} bytes)" for path in large[:_NAMED]]
    unread += [f"{len(large) - _NAMED} more files"] if large[_NAMED:] else []
    groups = [looked[at : at + _AT_A_TIME] for at in range(0, len(looked), _AT_A_TIME)] if large else [[]]
    found = list[str]()
    for paths in groups:
        diff = await compared(folder, "diff", "--text", "-U0", of=(base, commit), paths=paths)
        try:
            found += await aside(partial(_places, diff), "the new lines of the work")
        except UnreadError as error:
            unread.append(f"{len(paths) or len(looked)} files ({error})")
    return Tokens([*dict.fromkeys(found)], unread)


def _places(diff: bytes) -> list[str]:
    return [*tokens_in_diff(diff.decode(errors="replace"))]


async def _sizes(folder: Path, commit: str) -> dict[str, int]:
    """Return the bytes of each file of a commit."""
    found = {}
    listed = await told_by_objects(folder, "ls-tree", "-r", "-z", "-l", "--full-tree", commit)
    for entry in listed.split(b"\0"):
        facts, _, name = entry.partition(b"\t")
        if facts.split()[1:2] == [b"blob"]:
            found[name.decode(errors="replace")] = int(facts.split()[3])
    return found


def tokens_in_diff(diff: str) -> Iterator[str]:
    """Yield the file, the line and the format of each token in the added lines of a diff without context."""
    path, number, added = "", 0, list[str]()
    for text in [*diff.splitlines(), "@@ -0 +0"]:
        if text.startswith("+") and not (text.startswith("+++ ") and not number):
            added.append(text[1:])
        elif hunk := _HUNK.match(text):
            yield from _in_lines(path, number, added)
            number, added = int(hunk[1]), []
        elif text.startswith("diff --git "):
            yield from _in_lines(path, number, added)
            number, added = 0, []
        elif file := _FILE.match(text):
            path = file[1]


def _in_lines(path: str, first: int, added: list[str]) -> Iterator[str]:
    text = "\n".join(added)
    for token in tokens_in(text):
        yield f"{line(path)}:{first + text.count(chr(10), 0, token.start)}: {token.format}"
