"""Jinja for the page: every value is escaped, hidden characters are shown, and a missing value is an error."""

from datetime import UTC, datetime
from functools import cache
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined

from orchestrator.views.durations import duration
from state.hidden import visible

_SHOWN = 4000  # characters of a text that is folded open
_CENT = 0.01


@cache
def environment() -> Environment:
    """Return the templates with their filters."""
    made = Environment(
        loader=PackageLoader("orchestrator.views.page", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.finalize = _shown
    made.filters |= {
        "block": block,
        "clock": clock,
        "day": day,
        "duration": duration,
        "millis": millis,
        "money": money,
        "part": part,
    }
    return made


def rendered(template: str, **values: Any) -> str:  # noqa: ANN401  the values of a template
    """Return a template with these values."""
    return environment().get_template(f"{template}.j2").render(values)


def _shown(value: object) -> object:
    """Show the hidden characters of each value that a template prints. Markup is a template's own output."""
    if isinstance(value, _Block) or hasattr(value, "__html__"):
        return value
    return visible(value) if isinstance(value, str) else value


class _Block(str):
    """A text whose hidden characters are already shown, and whose lines are lines."""

    __slots__ = ()


def block(text: str, limit: int = _SHOWN) -> str:
    """A text of several lines. If it is longer than `limit`, its end is left out, and the text says so."""
    cut = text if len(text) <= limit else f"{text[:limit]}\n… {len(text) - limit} more characters"
    return _Block("\n".join(visible(line) for line in cut.replace("\r\n", "\n").split("\n")))


def money(usd: float) -> str:
    """An amount of money. Small ones have four digits."""
    return f"${usd:.2f}" if usd == 0 or usd >= _CENT else f"${usd:.4f}"


def clock(moment: datetime) -> str:
    """The local time of a moment."""
    return f"{moment.astimezone():%H:%M:%S}"


def day(moment: datetime) -> str:
    """The local day and time of a moment."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"


def millis(moment: datetime) -> int:
    """Milliseconds since 1970, as scripts count time."""
    return round(moment.astimezone(UTC).timestamp() * 1000)


def part(text: str) -> str:
    """A text as one part of an address."""
    return quote(text, safe="")
