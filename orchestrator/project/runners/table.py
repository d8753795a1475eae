"""The table of test runners, read from `rows/*.yaml` and checked row by row."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from orchestrator.project.runners.row import Detection, Ecosystem, Invocation, Runner
from state.errors import SqError

__all__ = ["Detection", "Ecosystem", "Invocation", "Runner", "no_tests", "row_of", "table"]

_PATTERNS = {
    "printed": ("tests", "file", "begins", "ends", "bad", "numbers", "none"),
    "report": ("unless",),
    "canary": ("path", "when", "header", "before"),
    "tests": ("contains",),
    "called": ("contains",),
    "found": ("contains",),
}
_NO_TESTS = "no_tests.yaml"


class RowError(SqError):
    """A row of the table cannot be used. The message names the row and the field."""


@cache
def table() -> dict[str, Runner]:
    """Return the rows by name, in the order of the files and of the rows in them.

    Raises:
        RowError: a row cannot be used. The message names the row and the field.
    """
    rows: dict[str, Runner] = {}
    for file in sorted((files("orchestrator.project.runners") / "rows").iterdir(), key=lambda one: one.name):
        if not file.name.endswith(".yaml") or file.name == _NO_TESTS:
            continue
        for name, raw in _loaded(file.read_text("utf-8")).items():
            if name in rows:
                raise RowError(f"row {name}: stands twice in the table")
            rows[name] = row_of(name, raw)
    return rows


@cache
def no_tests() -> dict[str, tuple[str, ...]]:
    """Return the programs that run no tests, each with the subcommands concerned, or () for all of them."""
    raw = _loaded((files("orchestrator.project.runners") / "rows" / _NO_TESTS).read_text("utf-8"))
    return msgspec.convert(raw, dict[str, tuple[str, ...]])


def row_of(name: str, raw: object) -> Runner:
    """Return the record of one row as it stands in a file.

    Raises:
        RowError: it cannot be used. The message names the row and the field.
    """
    if not isinstance(raw, Mapping):
        raise RowError(f"row {name}: a mapping is needed, not {type(raw).__name__}")
    try:
        row = msgspec.convert({**raw, "name": name}, Runner)
    except msgspec.ValidationError as error:
        raise RowError(f"row {name}: {error}") from error
    for field in _unknown_fields(raw, msgspec.to_builtins(row)):
        raise RowError(f"row {name}: {field}: there is no such field")
    for field, pattern in _patterns(msgspec.to_builtins(row)):
        try:
            re.compile(pattern)
        except re.error as error:
            raise RowError(f"row {name}: {field}: {pattern!r} is no pattern: {error}") from error
    return row


def _loaded(text: str) -> dict[str, Any]:
    import yaml

    loaded: dict[str, Any] = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506  both are safe
    return loaded


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
    for part, fields in _PATTERNS.items():
        records = row[part] if isinstance(row[part], (list, tuple)) else [row[part]]
        for record in records:
            for field in fields:
                value = record[field]
                yield from (
                    (f"{part}.{field}", one) for one in ([value] if isinstance(value, str) else value)
                )
    yield from (("nothing", one) for one in row["nothing"])
    failing = row["printed"]["failing"]
    for one in (*failing["breaks"], failing["unloaded"], failing["begins"]):
        yield "printed.failing", one
