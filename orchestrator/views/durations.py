"""Spans of time in words."""

_MINUTE_S = 60


def duration(seconds: float) -> str:
    """A span of time in words: `12 s`, `3 min 20 s`, `2 h 5 min`."""
    minutes, rest = divmod(round(seconds), _MINUTE_S)
    hours, minutes = divmod(minutes, _MINUTE_S)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
