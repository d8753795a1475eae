"""Amounts, moments and names as templates show them. Times are in UTC: a report is the same anywhere."""

import re
from datetime import UTC, datetime

MINUS = "\u2212"
_CENT = 0.01
_OTHER = re.compile(r"[^a-z0-9]+")


def money(usd: float) -> str:
    """Return an amount in US dollars, with more digits below a cent."""
    return f"${usd:.4f}" if 0 < abs(usd) < _CENT else f"${usd:,.2f}"


def number(value: float | None) -> str:
    """Return a number with commas between the thousands, or "unknown" for None."""
    return "unknown" if value is None else f"{value:,}"


def signed(value: int | None) -> str:
    """Return a difference with its sign: `+14`, `±0`, or "unknown" for None."""
    if value is None:
        return "unknown"
    return "±0" if value == 0 else f"{'+' if value > 0 else MINUS}{abs(value):,}"


def clock(moment_: datetime) -> str:
    """Return the time of day in UTC, to the second."""
    return f"{moment_.astimezone(UTC):%H:%M:%S}"


def moment(moment_: datetime) -> str:
    """Return date and time in UTC, to the second."""
    return f"{moment_.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def iso(moment_: datetime) -> str:
    """Return date and time as a machine reads them."""
    return f"{moment_.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def slug(text: str) -> str:
    """Return a text as part of a class or an id: small letters, digits and hyphens."""
    return _OTHER.sub("-", text.lower()).strip("-") or "none"


def thousandth(share: float) -> str:
    """Return a share of the whole width (0 to 1) in thousandths, as drawings use them."""
    return f"{share * 1000:.1f}"
