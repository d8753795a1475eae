"""When the API can be asked again, by the headers of its answers."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_BUCKETS = ("requests", "tokens", "input-tokens", "output-tokens")
_LIMITED = 429
_PREFIX = "anthropic-ratelimit-"


def reset_in(status: int, headers: Mapping[str, str], *, now: float) -> float | None:
    """Return when a refused request may be sent again, in seconds since 1970, or None if that is not named.

    `retry-after` is the API's own word. Without it, the limits that are used up decide, and the one that
    ends last.

    Args:
        status: of the answer. A limit is looked for in that of 429 alone.
        headers: of the answer, with names in lower case.
        now: seconds since 1970.
    """
    after = headers.get("retry-after", "")
    if (named := _seconds(after)) is not None:
        return now + max(0.0, named)
    if (date := _date(after)) is not None:
        return date
    if status != _LIMITED:
        return None
    return max(_used_up(headers), default=None)


def _used_up(headers: Mapping[str, str]) -> Iterator[float]:
    for bucket in _BUCKETS:
        if _seconds(headers.get(f"{_PREFIX}{bucket}-remaining", "")) == 0:
            yield from _time(headers.get(f"{_PREFIX}{bucket}-reset", ""))
    unified = f"{_PREFIX}unified-"
    for name, value in headers.items():
        if name.startswith(unified) and name.endswith("status") and value == "rejected":
            yield from _time(headers.get(f"{name.removesuffix('status')}reset", ""))


def _time(text: str) -> Iterator[float]:
    """Yield the time in `text`, an RFC 3339 time or seconds since 1970, if it is one."""
    if (seconds := _seconds(text)) is not None:
        yield seconds
        return
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return
    yield (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def _seconds(text: str) -> float | None:
    try:
        found = float(text or "nan")
    except ValueError:
        return None
    return found if 0 <= found < 1e11 else None  # noqa: PLR2004  no NaN, no infinity


def _date(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp() if text else None
    except (ValueError, TypeError):
        return None
