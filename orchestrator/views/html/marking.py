"""Marks text as HTML that needs no more escaping, Markdown included. Only this module may do so.

A test searches all code and templates for other places. Markdown of agents and specs gets no HTML of its own,
no pictures, and links to http and https alone.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from state.hidden import visible

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


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


_ADDRESS = re.compile(r"https?://", re.IGNORECASE)


def markdown(text: str) -> Markup:
    """Return Markdown as HTML. Headings are left as text, so that they do not look like those of the page.

    A link shows the host that it leads to.
    """
    shown = "\n".join(visible(line) for line in text.splitlines())
    return Markup(_engine().render(shown))  # noqa: S704  the engine escapes everything


@cache
def _engine() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    engine = MarkdownIt("commonmark", {"html": False, "linkify": False, "typographer": False})
    engine.enable(["strikethrough"])
    engine.disable(["image", "html_block", "html_inline", "heading", "lheading", "reference"])
    vars(engine)["validateLink"] = _is_allowed
    engine.add_render_rule("link_open", _link_open)
    engine.add_render_rule("link_close", _link_close)
    return engine


def _is_allowed(address: str) -> bool:
    return bool(_ADDRESS.match(address.strip()))


def _link_open(
    _self: object, tokens: Sequence["Token"], index: int, _options: object, env: dict[str, list[str]]
) -> str:
    address = str(tokens[index].attrGet("href") or "")
    host = address.split("/")[2].rpartition("@")[2] if "://" in address else ""
    env.setdefault("hosts", []).append(host)
    return f'<a href="{escape(address)}" rel="noopener noreferrer nofollow">'


def _link_close(
    _self: object, _tokens: Sequence["Token"], _index: int, _options: object, env: dict[str, list[str]]
) -> str:
    return f'</a> <span class="host">({escape(env["hosts"].pop())})</span>'
