"""Output to a terminal or a pipe: every line and every JSON value that sq prints passes here.

Models and repositories choose many of the words that sq shows. `visible` escapes characters that would steer
a terminal, change the reading direction, or be invisible. The linter refuses `click.echo` and `print`
elsewhere.
"""

import json
import re
import sys
from collections.abc import Iterable
from typing import Any

_BREAK = re.compile(r"\r\n?|\n")
# Control characters except tab; marks, embeddings and isolates of direction; characters without width (soft
# hyphen, spaces, joiners, operators, fillers, tags); line separators; surrogates, which cannot be encoded.
_UNSEEN = (
    "\x00-\x08\x0a-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U000e0000-\U000e0fff"
)
# A joiner is part of the writing after an Arabic or Indic letter or a picture. Elsewhere it only hides.
_JOINER = "(?<![\u0600-\u0dff\ufe0f\u2190-\u2bff\U0001f000-\U0001faff])[\u200c\u200d]"
_HIDDEN = re.compile(f"[{_UNSEEN}]|{_JOINER}")
_SHORT_ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
_ONE_BYTE, _TWO_BYTES = 0x100, 0x10000
_FURTHER = "    "  # before a text's further lines, so that they do not look like sq's own lines
_JSON_NAMES = {"task_id": "taskId"}  # as reviewers and scripts write it, while stored events keep their names


def visible(text: str) -> str:
    r"""A text as one line that can be shown: tabs stay, the end of a line is `\n`, ESC is `\x1b`."""
    return _HIDDEN.sub(_escaped, text)


def cell(text: str) -> str:
    """A text as a cell of a table: as `visible`, but tabs, which would move the columns, are escaped too."""
    return visible(text).replace("\t", r"\t")


def shown(text: str) -> list[str]:
    """Split a text into visible lines, with the further ones indented below the first."""
    first, *further = (visible(line) for line in _BREAK.split(text))
    indent = first[: len(first) - len(first.lstrip())] + _FURTHER
    return [first, *(f"{indent}{line}".rstrip() for line in further)]


def say(*texts: str, error: bool = False) -> None:
    """Print texts, each on its own line or lines. The output is flushed, also into a pipe."""
    lines = [line for text in texts for line in shown(text)]
    print("\n".join(lines), file=sys.stderr if error else sys.stdout, flush=True)


def say_all(texts: Iterable[str]) -> None:
    """Print texts like `say`, or nothing if there are none."""
    if every := list(texts):
        say(*every)


def say_json(value: object) -> None:
    """Print a value as one line of JSON."""
    print(as_json(value), flush=True)  # noqa: T201  the only place


def as_json(value: object) -> str:
    """A value as one line of JSON: a task's id is `taskId`, and hidden characters are escaped."""
    import msgspec

    plain = _renamed(msgspec.to_builtins(value, enc_hook=str))
    return _HIDDEN.sub(lambda found: _in_json(found.group()), json.dumps(plain, ensure_ascii=False))


def _renamed(value: Any) -> Any:  # noqa: ANN401  any JSON value
    if isinstance(value, dict):
        return {_JSON_NAMES.get(key, key): _renamed(part) for key, part in value.items()}
    return [_renamed(part) for part in value] if isinstance(value, list | tuple) else value


def _escaped(found: re.Match[str]) -> str:
    character = found.group()
    code = ord(character)
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    if code < _ONE_BYTE:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < _TWO_BYTES else f"\\U{code:08x}"


def _in_json(character: str) -> str:
    return json.dumps(character)[1:-1]
