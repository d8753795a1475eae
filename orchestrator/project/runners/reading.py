"""Reads the words of a command and the text of a file, as rows and carriers ask for them."""

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from orchestrator.project.shell import Simple

_LONGEST_SCRIPT = 200_000


def positional(simple: Simple, values: Sequence[str]) -> list[str]:
    """Return the words that are neither options nor values of the options in `values`."""
    kept: list[str] = []
    skip = False
    for word in simple.words[1:]:
        if skip:
            skip = False
        elif word == "--":
            continue
        elif word.startswith("-"):
            skip = word in values
        else:
            kept.append(word)
    return kept


def text_of(path: Path) -> str:
    """Return the text of a file, or "" if it is no file or cannot be read."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe does not make it wait
        with os.fdopen(opened, encoding="utf-8", errors="replace") as file:
            return file.read(_LONGEST_SCRIPT) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else ""
    except (OSError, ValueError):
        return ""
