"""Runs whose process is gone after an event, in the process of a test."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from state.errors import JournalError
from state.journal.store import Journal


def stopping_after(kind: type) -> Callable[..., Journal]:
    """A journal that takes nothing more after the first event of a kind, as if the process were killed."""

    class Stops(Journal):
        def append(self, *events: Any) -> list[Any]:
            stored = super().append(*events)
            if any(isinstance(one, kind) for one in events):
                raise JournalError("the process is gone")
            return stored

    return Stops


def newest(repository: Path) -> Path:
    """The folder of the newest run."""
    return max((repository / ".sq" / "runs").iterdir())
