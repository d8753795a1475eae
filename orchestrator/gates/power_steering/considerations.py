"""Considerations as data: the questions of power steering, the shipped set and the user's own.

Each item is validated alone. An invalid item is reported and left out, and the others still work. (In another
program one malformed item silently switched off the whole feature.)
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from orchestrator.gates.session_state.diagnostics import has_control
from state.decoding import table_beside
from state.settings.sources import CONSIDERATIONS, REPOSITORY_FILE, user_file

USERS_FILE = Path(".claude", "power-steering.yaml")
_PIECE = re.compile(r"[^\W_]+")
_ALL = "all"


class Severity(StrEnum):
    """The effect of an unmet consideration: a blocker holds the session, a warning is only reported."""

    BLOCKER = "blocker"
    WARNING = "warning"


class PromptKind(StrEnum):
    """The prompt for the judge, one of five."""

    TODOS = "todos"
    PHILOSOPHY = "philosophy"
    TESTING = "testing"
    WORKFLOW = "workflow"
    GENERIC = "generic"


class SessionType(StrEnum):
    """The subject of a session."""

    DEVELOPMENT = "development"
    INVESTIGATION = "investigation"
    MAINTENANCE = "maintenance"
    OPERATIONS = "operations"
    SIMPLE = "simple"
    INFORMATIONAL = "informational"


@dataclass(frozen=True, slots=True, kw_only=True)
class Consideration:
    """One yes/no question about a session. Yes is satisfied. Without `types` it is for sessions of any type.

    `rule` names its fallback, by default its own id. `guidance` says what to do if it is not met. `in_runs`:
    a Worker of a run is asked it too.
    """

    id: str
    question: str
    category: str = "general"
    kind: PromptKind = PromptKind.GENERIC
    severity: Severity = Severity.WARNING
    types: tuple[SessionType, ...] = ()
    description: str = ""
    guidance: str = ""
    rule: str = ""
    enabled: bool = True
    in_runs: bool = True

    def is_for(self, kind: SessionType) -> bool:
        """Whether it is asked in a session of this type."""
        return self.enabled and (not self.types or kind in self.types)


# By whole pieces of an item's id, in the order of seed 000: `decision` is not `ci`.
_KIND_BY_PIECES = (
    ("todos", PromptKind.TODOS),
    ("todo", PromptKind.TODOS),
    ("philosophy", PromptKind.PHILOSOPHY),
    ("zero-bs", PromptKind.PHILOSOPHY),
    ("test", PromptKind.TESTING),
    ("testing", PromptKind.TESTING),
    ("ci", PromptKind.WORKFLOW),
    ("workflow", PromptKind.WORKFLOW),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedConsiderations:
    """The valid considerations, in order, and the problems of those that were left out."""

    considerations: tuple[Consideration, ...]
    problems: tuple[str, ...] = ()


def load_considerations(project: Path | None) -> LoadedConsiderations:
    """Load the shipped set with the user's changes: from their file, then `sq.toml`, then `USERS_FILE`.

    The configuration files have them as tables, `[considerations.ID]`, and `USERS_FILE` as a list. An item
    with a known id changes the fields that it names and leaves the rest.
    """
    table = {item["id"]: item for item in _shipped()}
    problems: list[str] = []
    for file, item in _users_items(project, problems):
        name = str(item.get("id") or "")
        changed = {**table.get(name, {}), **item}
        try:
            consideration_of(changed)
        except ValueError as error:
            shown = repr(name) if has_control(name) else name
            problems.append(f"{file}: {shown or 'an item without an id'}: {error}")
        else:
            table[name] = changed
    return LoadedConsiderations(
        considerations=tuple(consideration_of(item) for item in table.values()), problems=tuple(problems)
    )


@cache
def considerations_of_run(project: Path) -> LoadedConsiderations:
    """As `load_considerations`, once: in the checkout a Worker may write the files meanwhile."""
    return load_considerations(project)


def consideration_of(item: Mapping[str, Any]) -> Consideration:
    """Convert one item of a file.

    Raises:
        ValueError: it cannot be used, with the reason.
    """
    row = dict(item)
    if not str(row.get("id") or "").strip() or not str(row.get("question") or "").strip():
        raise ValueError("id and question are needed")
    if has_control(str(row["id"])):
        raise ValueError(f"the id {row['id']!r} has control characters. Give a plain one")
    row.setdefault("kind", kind_by_id(str(row["id"])))
    row["rule"] = str(row.pop("checker", "") or row.get("rule") or row["id"])  # `checker` is the seed's name
    types = row.get("types") or ()
    types = [types] if isinstance(types, str) else types
    row["types"] = () if _ALL in types else tuple(types)
    known = set(Consideration.__dataclass_fields__)
    if unknown := sorted(set(row) - known):
        raise ValueError(f"unknown: {', '.join(unknown)}. Known are {', '.join(sorted(known))}")
    try:
        return msgspec.convert(row, Consideration)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from error


def kind_by_id(id_: str) -> PromptKind:
    """The kind that the words of an id suggest (seed 000)."""
    spelled = f"-{'-'.join(_PIECE.findall(id_.lower()))}-"
    return next((kind for word, kind in _KIND_BY_PIECES if f"-{word}-" in spelled), PromptKind.GENERIC)


def _users_items(project: Path | None, problems: list[str]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    for file in (user_file(), *([project / REPOSITORY_FILE] if project else [])):
        yield from ((file, item) for item in _tables_of(file, problems))
    if project is not None and (project / USERS_FILE).is_file():
        yield from ((project / USERS_FILE, item) for item in _items_of(project / USERS_FILE, problems))


def _tables_of(file: Path, problems: list[str]) -> Iterator[Mapping[str, Any]]:
    try:
        tables = tomllib.loads(file.read_text("utf-8-sig")).get(CONSIDERATIONS, {}) if file.is_file() else {}
    except (OSError, ValueError) as error:
        problems.append(f"{file}: cannot be read: {error}")
        return
    if not isinstance(tables, dict):
        problems.append(f"{file}: {CONSIDERATIONS} needs tables, as in [{CONSIDERATIONS}.ID]")
        return
    for name, item in tables.items():
        if isinstance(item, dict):
            yield {"id": name, **item}
        else:
            problems.append(f"{file}: {CONSIDERATIONS}.{name} needs to be a table: [{CONSIDERATIONS}.{name}]")


def _items_of(file: Path, problems: list[str]) -> Iterable[Mapping[str, Any]]:
    import yaml

    try:
        items = yaml.safe_load(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        problems.append(f"{file}: cannot be read: {error}")
        return []
    if isinstance(items, dict):
        items = items.get("considerations")
    if not isinstance(items, list):
        problems.append(f"{file}: a list of considerations is needed")
        return []
    problems += [
        f"{file}: item {number} is no mapping"
        for number, item in enumerate(items, 1)
        if not isinstance(item, dict)
    ]
    return [item for item in items if isinstance(item, dict)]


@cache
def _shipped() -> tuple[dict[str, Any], ...]:
    return tuple(table_beside(__file__, "considerations.yaml"))
