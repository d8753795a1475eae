"""Marks text as HTML that needs no more escaping. Only this module may do so.

A test searches all code and templates for other places.
"""

import re

from markupsafe import Markup, escape

from state.hidden import visible

_BREAK = re.compile(r"\r\n?|\n")


def lines(text: str) -> Markup:
    """Return a text of several lines for an element that keeps white space, escaped and visible.

    A break is written as `&#10;`, so that no line of the file begins with an agent's words, which a CI that
    reads the output of commands could take for a command to itself.
    """
    return Markup("&#10;").join(escape(visible(line)) for line in _BREAK.split(text))


def styles(text: str) -> Markup:
    """Return a style sheet of sq's own for a `style` element.

    Raises:
        ValueError: it would end the element.
    """
    if "</" in text:
        raise ValueError("a style sheet must not hold </")
    return Markup(text)  # noqa: S704  a file of this program
