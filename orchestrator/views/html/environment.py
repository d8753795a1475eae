"""The template engine for HTML: everything is escaped, and no hidden character gets through.

Each value that a template shows passes `shown_value`, so that a forgotten filter cannot do harm.
"""

from collections.abc import Callable
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from orchestrator.views.html import amounts, marking
from orchestrator.views.html.amounts import bar_kind, bar_kinds, lane_words
from orchestrator.views.html.marking import markdown
from orchestrator.views.words import duration
from state.hidden import visible

if TYPE_CHECKING:
    from markupsafe import HasHTML

_HERE = Path(__file__).parent
_FILTERS: dict[str, Callable[..., object]] = {
    "visible": visible,
    "lines": marking.lines,
    "markdown": markdown,
    "money": amounts.money,
    "number": amounts.number,
    "signed": amounts.signed,
    "duration": duration,
    "clock": amounts.clock,
    "moment": amounts.moment,
    "iso": amounts.iso,
    "slug": amounts.slug,
    "styles": marking.styles,
    "thousandth": amounts.thousandth,
}


def environment(*folders: Path, event_href: str = "#seq-{}", spec_href: str = "#spec-{}") -> Environment:
    """Return an engine for the templates of this room and of `folders`.

    Args:
        folders: further folders with templates.
        event_href: the address of an event, with `{}` for its place in the journal.
        spec_href: the address of a line of the spec, with `{}` for its number.
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
        "event_href": event_href.format,
        "spec_href": spec_href.format,
        "bar_kind": bar_kind,
        "bar_kinds": bar_kinds,
        "lane_words": lane_words,
    }
    return made


@cache
def style(name: str = "base.css") -> str:
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
