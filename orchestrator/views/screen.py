"""Output to a terminal or a pipe: every line and every JSON value that sq prints passes here.

Models and repositories choose many of the words that sq shows. `visible` escapes characters that would steer
a terminal, change the reading direction, or be invisible. The linter refuses `click.echo` and `print`
elsewhere.
"""

import json
import os
import re
import sys
from collections.abc import Iterable
from typing import Any

from state.hidden import HIDDEN, visible

BREAK = re.compile(r"\r\n?|\n")
_FURTHER = "    "  # before a text's further lines, so that they do not look like sq's own lines
_JSON_NAMES = {"task_id": "taskId"}  # as reviewers and scripts write it, while stored events keep their names


def cell(text: str) -> str:
    """A text as a cell of a table: as `visible`, but tabs, which would move the columns, are escaped too."""
    return visible(text).replace("\t", r"\t")


def shown(text: str) -> list[str]:
    """Split a text into visible lines, with the further ones indented below the first."""
    first, *further = (visible(line) for line in BREAK.split(text))
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


def ring(text: str) -> None:
    """Ring the terminal and show a notice there (OSC 9), if standard error is a terminal that is not dumb."""
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        sys.stderr.write(f"\x1b]9;{visible(text)}\x07\x07")
        sys.stderr.flush()


def say_document(text: str) -> None:
    """Print a text of several lines as it is, with hidden characters made visible. No lines are indented."""
    lines = text.rstrip("\n").split("\n")
    print("\n".join(map(visible, lines)), flush=True)  # noqa: T201  one of few places


def say_json(value: object) -> None:
    """Print a value as one line of JSON."""
    print(as_json(value), flush=True)  # noqa: T201  the only place


def as_json(value: object) -> str:
    """A value as one line of JSON: a task's id is `taskId`, and hidden characters are escaped."""
    import msgspec

    plain = _renamed(msgspec.to_builtins(value, enc_hook=str))
    return HIDDEN.sub(lambda found: json.dumps(found.group())[1:-1], json.dumps(plain, ensure_ascii=False))


def _renamed(value: Any) -> Any:  # noqa: ANN401  any JSON value
    if isinstance(value, dict):
        return {_JSON_NAMES.get(key, key): _renamed(part) for key, part in value.items()}
    return [_renamed(part) for part in value] if isinstance(value, list | tuple) else value
