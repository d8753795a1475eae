"""Words of others in a prompt, marked so that none of them can pose as sq's own: filters of all templates.

`data` marks a block of text that others wrote or programs printed. `nested` and `item` are for words of
models that a role works with, such as a task's description. `line` is for names and titles. A template
prints every value that sq did not write by one of them.
"""

import re
from collections.abc import Iterable
from hashlib import sha256

from state.hidden import visible
from state.records.calls import Message

_BREAK = re.compile(r"\r\n?|\n")
_LIKE_STRUCTURE = re.compile(r"^(?=\s{0,3}(?:#(?:#|\s|$)|=+\s*$|-{3,}\s*$|```|~~~|</?\w))")
_NUMBER = 8  # digits of a block's number


def data(text: object, about: str) -> str:
    """Return a text between two lines that it cannot hold, with its hidden characters made visible.

    The number in both lines follows from the text, so that the same text gives the same prompt.
    """
    lines = "\n".join(visible(one) for one in _BREAK.split(str(text).strip("\r\n")))
    number = _number(f"{about}\n{lines}")
    while number in lines:
        number = _number(number)
    return f"<data {number}: {line(about)}>\n{lines}\n</data {number}>"


def nested(text: object) -> str:
    """Return a text with its lines, of which none is a heading, a fence or a mark of the prompt around it."""
    return "\n".join(_LIKE_STRUCTURE.sub(r"\\", visible(one)) for one in _BREAK.split(str(text).strip()))


def item(text: object) -> str:
    """Return a text as one item of a list: its further lines are indented below the first."""
    first, *further = nested(text).split("\n")
    return "\n".join([first, *(f"  {one}".rstrip() for one in further)])


def line(text: object) -> str:
    """Return a text as one line, in which line breaks and hidden characters are escapes."""
    return visible(str(text).strip())


def said(messages: Iterable[Message]) -> str:
    """Return a session's messages, each behind its kind. Further lines are indented: none begins another."""
    return "\n".join(
        f"[{one.kind}{' ' if one.tool else ''}{line(one.tool)}] " + "\n    ".join(_BREAK.split(one.text))
        for one in messages
    )


def _number(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_NUMBER]
