"""The table: test runners, other programs, and the tools that set projects up, read from `rows/*.yaml`."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from orchestrator.project.runners.row import Programs, Runner, SetUpTool, Table
from state.decoding import parse_yaml
from state.errors import SqError

_OF_CANARIES = {"forms": ("path", "when", "header", "before"), "fails": ("when",), "loads": ("pattern",)}
_PATTERNS = {
    "printed": ("tests", "file", "begins", "ends", "bad", "numbers", "none"),
    "report": ("unless",),
    "tests": ("contains",),
    "called": ("contains",),
    "found": ("contains",),
}
_Row = TypeVar("_Row", Runner, SetUpTool)
_PROGRAMS, _TOOLS = "programs.yaml", "set_up.yaml"
ROWS = Path(str(files("orchestrator.project.runners") / "rows"))


class RowError(SqError):
    """A row of the table cannot be used. The message names the row and the field."""


@cache
def usual_table() -> Table:
    """Return sq's own table. A test checks its rows, which takes longer than to read them."""
    return load_table(ROWS, check=False)


def load_table(*folders: Path, check: bool = True) -> Table:
    """Return the table in these folders. Later ones add to the earlier ones.

    Without `check`, it does not look for unknown fields and wrong patterns.

    Raises:
        RowError: a row cannot be used. The message names the row and the field.
    """
    runners: dict[str, Runner] = {}
    tools: dict[str, SetUpTool] = {}
    programs = Programs(runners={}, families={}, linters={}, others={})
    for file in (file for folder in folders for file in sorted(folder.glob("*.yaml"))):
        loaded = parse_yaml(file.read_text("utf-8"))
        if file.name == _PROGRAMS:
            programs = msgspec.convert(loaded, Programs)
        elif file.name == _TOOLS:
            tools |= {name: _converted(name, raw, SetUpTool, check=check) for name, raw in loaded.items()}
        else:
            for name, raw in loaded.items():
                if name in runners:
                    raise RowError(f"row {name}: stands twice in the table")
                runners[name] = row_of(name, raw, check=check)
    known = {tool.ecosystem for tool in tools.values()}
    for row in runners.values():
        if row.setup and row.setup not in known:
            raise RowError(f"row {row.name}: setup: no tool sets up {row.setup!r}")
        if row.like and row.like not in runners:
            raise RowError(f"row {row.name}: like: there is no row {row.like!r}")
    return Table(runners=runners, programs=programs, tools=tools)


def row_of(name: str, raw: object, *, check: bool = True) -> Runner:
    """Return the record of one row as it stands in a file.

    Raises:
        RowError: it cannot be used. The message names the row and the field.
    """
    row = _converted(name, raw, Runner, check=check)
    for field, pattern in _patterns(msgspec.to_builtins(row)) if check else ():
        try:
            re.compile(pattern)
        except re.error as error:
            raise RowError(f"row {name}: {field}: {pattern!r} is no pattern: {error}") from error
    return row


def _converted(name: str, raw: object, kind: type[_Row], *, check: bool) -> _Row:
    if not isinstance(raw, Mapping):
        raise RowError(f"row {name}: a mapping is needed, not {type(raw).__name__}")
    try:
        row = msgspec.convert({**raw, "name": name}, kind)
    except msgspec.ValidationError as error:
        raise RowError(f"row {name}: {error}") from error
    for field in _unknown_fields(raw, msgspec.to_builtins(row)) if check else ():
        raise RowError(f"row {name}: {field}: there is no such field")
    return row


def _unknown_fields(raw: object, known: object, at: str = "") -> Iterator[str]:
    """Yield the fields of a written row that its record lacks."""
    if isinstance(raw, Mapping) and isinstance(known, Mapping):
        for key, value in raw.items():
            field = f"{at}.{key}" if at else str(key)
            if key not in known:
                yield field
            else:
                yield from _unknown_fields(value, known[key], field)
    elif isinstance(raw, list) and isinstance(known, (list, tuple)):
        for number, (one, other) in enumerate(zip(raw, known, strict=False)):
            yield from _unknown_fields(one, other, f"{at}[{number}]")


def _patterns(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield from _of_parts(row, _PATTERNS)
    yield from _of_parts(row["canary"], _OF_CANARIES)
    yield from (("marks", one) for one in row["canary"]["marks"])
    yield from (("nothing", one) for one in row["absent"]["nothing"])
    failing = row["printed"]["failing"]
    for one in (*failing["breaks"], failing["unloaded"], failing["begins"]):
        yield "printed.failing", one


def _of_parts(row: Mapping[str, Any], parts: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    for part, fields in parts.items():
        records = row[part] if isinstance(row[part], (list, tuple)) else [row[part]]
        for record in records:
            for field in fields:
                value = record[field]
                yield from (
                    (f"{part}.{field}", one) for one in ([value] if isinstance(value, str) else value)
                )
