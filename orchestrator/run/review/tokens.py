"""Tokens in the work: a change that holds an unknown credential is named by its place, and stays as it is."""

import re
from collections.abc import Iterator
from pathlib import Path

from orchestrator.git.command import compared
from prompts.marking import line
from state.redaction.redactor import tokens_in

_FILE = re.compile(r"^\+\+\+ b/(.*?)\t?$")
_HUNK = re.compile(r"^@@ -\S+ \+(\d+)")


async def tokens_of(folder: Path, base: str, commit: str) -> list[str]:
    """Return the place and format of each token in a change's new lines: `path:line: PyPI token`."""
    diff = await compared(folder, "diff", "--text", "-U0", of=(base, commit))
    return list(dict.fromkeys(tokens_in_diff(diff.decode(errors="replace"))))


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
