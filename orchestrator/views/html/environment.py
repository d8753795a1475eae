"""The template engine for HTML: everything is escaped, and no hidden character gets through.

Each value that a template shows passes `shown_value`, so that a forgotten filter cannot do harm. `lines` and
`styles` mark text that needs no more escaping. Only this module may do so: a test searches all code and
templates for other places.
"""

from collections.abc import Callable
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from orchestrator.views.html import amounts
from orchestrator.views.html.amounts import diff_lines
from orchestrator.views.models.lanes import bar_kind, bar_kinds, lane_words
from orchestrator.views.screen import BREAK
from orchestrator.views.words import duration, percent
from state.hidden import visible

if TYPE_CHECKING:
    from markupsafe import HasHTML

_HERE = Path(__file__).parent


def lines(text: str) -> Markup:
    """Return a text of several lines for an element that keeps white space, escaped and visible.

    A break is written as `&#10;`, so that no line of the file begins with an agent's words, which a CI that
    reads the output of commands could take for a command to itself.
    """
    return Markup("&#10;").join(escape(visible(line)) for line in BREAK.split(text))


def styles(text: str) -> Markup:
    """Return a style sheet of sq's own for a `style` element.

    Raises:
        ValueError: it would end the element.
    """
    if "</" in text:
        raise ValueError("a style sheet must not hold </")
    return Markup(text)  # noqa: S704  a file of this program


_FILTERS: dict[str, Callable[..., object]] = {
    "visible": visible,
    "diff_lines": diff_lines,
    "lines": lines,
    "money": amounts.money,
    "number": amounts.number,
    "signed": amounts.signed,
    "duration": duration,
    "percent": percent,
    "clock": amounts.clock,
    "moment": amounts.moment,
    "iso": amounts.iso,
    "slug": amounts.slug,
    "styles": styles,
    "thousandth": amounts.thousandth,
}


def environment(*folders: Path) -> Environment:
    """Return an engine for the templates of this room and of `folders`. Links lead to places in one file.

    The page gives its templates other addresses, and `live`.
    """
    made = Environment(
        loader=FileSystemLoader([*folders, _HERE]),
        undefined=StrictUndefined,
        autoescape=True,
        finalize=shown_value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= _FILTERS
    made.globals |= {
        "live": False,
        "event_href": "#seq-{}".format,
        "spec_href": "#spec-{}".format,
        "section_href": "#{}".format,
        "task_href": lambda task_id: f"#task-{amounts.slug(task_id)}",
        "bar_kind": bar_kind,
        "bar_kinds": bar_kinds,
        "lane_words": lane_words,
    }
    return made


@cache
def style(name: str) -> str:
    """Return a style sheet of this room. It holds no byte that an agent chose."""
    return (_HERE / name).read_text("utf-8")


def shown_value(value: object) -> "HasHTML | str":
    """Return a value as a template shows it: a text on one line with visible characters, or marked HTML.

    Raises:
        TypeError: None, a moment or a collection, each of which needs a filter that says how it is shown.
    """
    if isinstance(value, Markup):
        return value
    if isinstance(value, str):
        return visible(str(value))
    if value is None or isinstance(value, datetime | tuple | list | dict | set):
        raise TypeError(f"a template shows {type(value).__name__} without a filter")
    return visible(str(value))
