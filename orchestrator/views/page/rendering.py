"""The engine of the page's templates: that of the report, with local times and addresses of the page."""

from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from orchestrator.views.html.environment import environment
from orchestrator.views.html.marking import lines
from orchestrator.views.words import time_of_day

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

TEMPLATES = Path(__file__).parent / "templates"
LONG = 4000  # characters of a text that are shown at once


@cache
def engine() -> "Environment":
    """Return the engine."""
    made = environment(TEMPLATES)
    made.filters |= {
        "clock": time_of_day,
        "cut": cut,
        "millis": millis,
        "moment": moment,
        "part": part,
    }
    made.tests["long"] = lambda text: len(text) > LONG
    return made


def rendered(template: str, /, **values: object) -> str:
    """Return a template with these values."""
    return engine().get_template(f"{template}.html.j2").render(values)


def moment(at: datetime) -> str:
    """Return the local date and time, to the minute."""
    return f"{at.astimezone():%Y-%m-%d %H:%M}"


def millis(at: datetime) -> str:
    """Return milliseconds since 1970, as scripts count time."""
    return str(round(at.astimezone(UTC).timestamp() * 1000))


def part(text: str) -> str:
    """Return a text as one part of an address."""
    return quote(text, safe="")


def cut(text: str, limit: int = LONG) -> "Markup":
    """Return a text of several lines. Its end is left out if it is long, and the text says so."""
    if len(text) <= limit:
        return lines(text)
    return lines(f"{text[:limit]}\n… {len(text) - limit:,} more characters")
