"""Change one thing in a JSON text. Every other byte stays.

A path names a value by the keys and indexes that lead to it, and `()` is the whole text's value. Line ends
and indentation follow the text around the place. `ValueError`: the text is not JSON, the path names no value,
or a key on it is there twice.
"""

import json
import re
from collections.abc import Sequence
from typing import NamedTuple

_SPACE = re.compile(r"[ \t\r\n]*")
_INDENT = "  "  # if the text shows none


class _Part(NamedTuple):
    """A member or an element: from `start` (its key, if it has one) to `end`, with its value from `value`."""

    key: str | int
    start: int
    value: int
    end: int


def parsed(text: str) -> object:
    """The value of a whole text, by the rules of Claude Code's parser: no NaN and no comments."""
    try:
        value, end = _DECODER.raw_decode(text, _after_space(text, 0))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if _after_space(text, end) != len(text):
        raise ValueError(f"something follows its end, at character {end}")
    return value


def added(text: str, path: Sequence[str | int], value: object, *, key: str = "") -> str:
    """Put a value at the end of the list at `path`, or of the object there under `key`."""
    at = _place(text, path)
    parts, end = _parts(text, at)
    head = f"{json.dumps(key)}: " if text[at] == "{" else ""
    if parts:
        lead = text[at + 1 : parts[0].start]
        indent = lead.rpartition("\n")[2] if "\n" in lead else None
        comma = ", " if indent is None else f",{_line_end(text)}{indent}"
        where = parts[-1].end
        return f"{text[:where]}{comma}{head}{_written(text, value, indent)}{text[where:]}"
    if path and "\n" not in text.strip():
        return f"{text[: at + 1]}{head}{_written(text, value, None)}{text[end:]}"
    line = text.rfind("\n", 0, at) + 1
    base = text[line : min(at, _after_space(text, line))]
    indent, line_end = base + _indent(text), _line_end(text)
    inner = f"{line_end}{indent}{head}{_written(text, value, indent)}{line_end}{base}"
    return f"{text[: at + 1]}{inner}{text[end:]}"


def replaced(text: str, path: Sequence[str | int], value: object) -> str:
    """Replace the value at `path`."""
    *container, last = path
    at = _place(text, container)
    part = _part(_parts(text, at)[0], last)
    line = text[text.rfind("\n", 0, part.start) + 1 : part.start]
    indent = None if line.strip() else line
    return f"{text[: part.value]}{_written(text, value, indent)}{text[part.end :]}"


def removed(text: str, path: Sequence[str | int]) -> str:
    """Remove the member or element at `path`, with its comma."""
    *container, last = path
    at = _place(text, container)
    parts, end = _parts(text, at)
    part = _part(parts, last)
    number = parts.index(part)
    if len(parts) == 1:
        return text[: at + 1] + text[end:]
    if number:
        return text[: parts[number - 1].end] + text[part.end :]
    return text[: part.start] + text[parts[1].start :]


def _no_constant(word: str) -> object:
    raise ValueError(f"{word} is no value of JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _place(text: str, path: Sequence[str | int]) -> int:
    """Where the value at `path` begins."""
    at = _after_space(text, 0)
    for step in path:
        at = _part(_parts(text, at)[0], step).value
    return at


def _part(parts: list[_Part], key: str | int) -> _Part:
    found = [part for part in parts if part.key == key]
    if len(found) != 1:
        raise ValueError(f"the key {key!r} is there {len(found)} times instead of once")
    return found[0]


def _parts(text: str, at: int) -> tuple[list[_Part], int]:
    """The parts of the container whose bracket is at `at`, and the place of its closing bracket."""
    if text[at] not in "{[":
        raise ValueError("a path leads into a value that is no object and no list")
    parts: list[_Part] = []
    here = _after_space(text, at + 1)
    while text[here] not in "}]":
        start, key = here, len(parts)
        if text[at] == "{":
            key, here = _DECODER.raw_decode(text, here)
            here = _after_space(text, _after_space(text, here) + 1)  # the colon
        end = _DECODER.raw_decode(text, here)[1]
        parts.append(_Part(key=key, start=start, value=here, end=end))
        here = _after_space(text, end)
        if text[here] == ",":
            here = _after_space(text, here + 1)
    return parts, here


def _written(text: str, value: object, indent: str | None) -> str:
    """A value as this text would have it: on one line, or on lines that begin with `indent`."""
    if indent is None:
        return json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, ensure_ascii=False, indent=_indent(text))
    return lines.replace("\n", _line_end(text) + indent)


def _indent(text: str) -> str:
    """The indentation of one level: that of the first member of the text's object."""
    found = re.match(r"\s*[{\[][ \t\r]*\n(?:[ \t\r]*\n)*([ \t]+)", text)
    return found[1] if found else _INDENT


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
