"""TOML that a person edits: values as text, and the line in which each table and key of a text stands."""

import re
import tomllib
from collections.abc import Iterable

_WIDE = 100  # characters of a list in one line
_ESCAPES = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", "\\": "\\\\"}
_HEADER = re.compile(r"\s*\[\[\s*([A-Za-z_]+)\s*\]\]")
_KEY = re.compile(r"\s*([A-Za-z_]+)\s*=")


def text_value(text: str) -> str:
    """Return a text as TOML. Several lines stay several lines."""
    if "\n" not in text:
        return '"' + "".join(_escaped(one, quote='\\"') for one in text) + '"'
    lines = "\n".join("".join(_escaped(one, quote='"') for one in line) for line in text.split("\n"))
    lines = lines.replace('""', '"\\"')  # one quote may stand before the three at the end
    return f'"""\n{lines}"""'


def list_value(texts: Iterable[str]) -> str:
    """Return texts as a TOML list: in one line, or with a line for each if that would be long."""
    values = [text_value(one) for one in texts]
    short = f"[{', '.join(values)}]"
    if len(short) <= _WIDE and "\n" not in short:
        return short
    return "[\n" + "".join(f"  {value},\n" for value in values) + "]"


def comment(text: str) -> str:
    """Return a text as lines of comment."""
    lines = ("".join(one if one.isprintable() else " " for one in line) for line in text.splitlines())
    return "\n".join(f"# {line}".rstrip() for line in lines)


def _escaped(sign: str, *, quote: str) -> str:
    if sign == '"':
        return quote
    if sign in _ESCAPES:
        return _ESCAPES[sign]
    code = ord(sign)
    if code < 0x20 or 0x7F <= code < 0xA0:  # noqa: PLR2004  control characters
        return f"\\u{code:04x}"
    return "�" if 0xD800 <= code <= 0xDFFF else sign  # noqa: PLR2004  half of a pair, which TOML has not


class LineNumbers:
    """The lines of a valid TOML text that has only lists of tables and keys, counted from 1."""

    def __init__(self, text: str) -> None:
        """Find them: a line counts unless it is inside a text of several lines."""
        self._tables: dict[str, list[tuple[int, dict[str, int]]]] = {}
        keys: dict[str, int] = {}
        self._tables[""] = [(1, keys)]
        lines = text.split("\n")
        for number, line in enumerate(lines, start=1):
            found = _HEADER.match(line) or _KEY.match(line)
            if not found or not _is_complete("\n".join(lines[: number - 1])):
                continue
            if line.lstrip().startswith("["):
                keys = {}
                self._tables.setdefault(found[1], []).append((number, keys))
            else:
                keys.setdefault(found[1], number)

    def of(self, table: str, index: int, key: str = "") -> int:
        """Return the line of a key of the table with this index, or of the table if it lacks the key.

        The table "" is the top of the text, where a key may be a table itself.
        """
        if not table and key in self._tables:
            table, key = key, ""
        line, keys = self._tables[table][index]
        return keys.get(key, line)


def _is_complete(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True
