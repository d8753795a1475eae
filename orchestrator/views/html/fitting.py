"""Makes a report fit: texts have a size, and paths of a machine and names of its users are left out."""

import re
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar

from state.journal.events import RunStarted

_HOMES = re.compile(r"(?:/home/|/Users/|[A-Za-z]:\\Users\\)[^/\\\s:'\"`]+|/root(?=[/\s:'\"`]|$)")
_NAME = r"[^/\s:'\"`]+"
_END = r"(?![\w.-])"
_CUT_OFF = re.compile(r"/[^\s'\"`…]*(?=…)")
_R = TypeVar("_R")
_VERBATIM = frozenset({"patch", "spec_lines"})  # the work and the spec are shown as they are


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportLimits:
    """The most of a report. `text`: characters of one text, `rows`: of one table, `events`: of the index."""

    text: int = 4_000
    rows: int = 1_000
    events: int = 5_000
    diff_bytes: int = 400_000


LIMITS = ReportLimits()
SMALLER = (
    ReportLimits(text=1_000, rows=300, events=1_000, diff_bytes=100_000),
    ReportLimits(text=300, rows=60, events=200, diff_bytes=0),
)
MOST_BYTES = 5_000_000


def path_remover(started: RunStarted | None) -> Callable[[str], str]:
    """Return a function that takes the paths of a run's machine out of a text, and the homes of its users."""
    steps: list[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]] = []
    if started and started.worktrees:
        worktrees = re.escape(started.worktrees)
        steps.append((re.compile(rf"{worktrees}/{_NAME}/"), ""))
        steps.append((re.compile(rf"{worktrees}(?:/{_NAME})?{_END}"), "."))
    if started and started.repository.strip("/"):
        repository = re.escape(started.repository)
        steps.append((re.compile(f"{repository}/"), ""))
        steps.append((re.compile(f"{repository}{_END}"), "."))
    whole = (started.worktrees, started.repository) if started else ()
    steps.append((_CUT_OFF, lambda cut: "" if any(one.startswith(cut[0]) for one in whole) else cut[0]))
    steps.append((_HOMES, "~"))

    def without_paths(text: str) -> str:
        if "/" in text or "\\" in text:
            for pattern, new in steps:
                text = pattern.sub(new, text)
        return text

    return without_paths


def each_text(record: _R, change: Callable[[str], str]) -> _R:
    """Return a record with each of its texts changed, those in records, tuples and mappings inside too."""
    changed: _R = _changed(record, change)
    return changed


def _changed(value: Any, change: Callable[[str], str]) -> Any:  # noqa: ANN401  any value of a record
    if type(value) is str:
        return change(value)
    if isinstance(value, tuple):
        return tuple(_changed(one, change) for one in value)
    if isinstance(value, dict):
        return {key: _changed(one, change) for key, one in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        new = {
            one.name: _changed(getattr(value, one.name), change)
            for one in fields(value)
            if one.name not in _VERBATIM
        }
        return replace(value, **new)
    return value


def clipper(most: int, where: str) -> Callable[[str], str]:
    """Return a function that cuts a long text and says how much is left out, and where all of it is."""

    def clipped(text: str) -> str:
        if len(text) <= most:
            return text
        return f"{text[:most]} … [{len(text) - most:,} more characters: {where}]"

    return clipped
