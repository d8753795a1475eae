"""What this process itself opens or lists below a folder, by Python's audit events."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_EVENTS = {"open", "os.listdir", "os.scandir"}
_watched: dict[str, set[str]] = {}


def _heard(event: str, words: tuple[object, ...]) -> None:
    if not _watched or event not in _EVENTS or not isinstance(words[0], (str, bytes, os.PathLike)):
        return
    path = os.path.abspath(os.fsdecode(words[0]))  # noqa: PTH100  no link is followed
    for folder, found in _watched.items():
        if path == folder or path.startswith(f"{folder}/"):
            found.add(path)


sys.addaudithook(_heard)  # it stays, and hears nothing while nobody watches


@contextmanager
def opened_below(folder: Path) -> Iterator[set[str]]:
    """Yield the paths that are opened below a folder, and the folder itself, while the block runs."""
    try:
        yield _watched.setdefault(str(folder), set())
    finally:
        del _watched[str(folder)]
