"""The colours of `sq watch`, by name. Each text has a contrast of at least 4.5 on every ground."""

from functools import cache

from rich.color import Color
from rich.style import Style

GROUND, RAISED, CHOSEN, FOUND = "#10151b", "#1d2732", "#2b3d52", "#5c4a00"
GROUNDS = {"ground": GROUND, "raised": RAISED, "chosen": CHOSEN, "found": FOUND}
# A style: its colour, and whether it is bold. A word or a sign always says the same as the colour.
_STYLES: dict[str, tuple[str, bool]] = {
    "": ("#e8edf2", False),
    "dim": ("#b4c0cb", False),
    "strong": ("#ffffff", True),
    "title": ("#ffffff", True),
    "good": ("#8fe39a", False),
    "bad": ("#ffb0a8", True),
    "warn": ("#ffd479", False),
    "work": ("#8ed8f8", False),
    "wait": ("#b4c0cb", False),
    "need": ("#f5b7ff", True),
    "key": ("#ffd479", True),
    "agent": ("#d5dfe8", False),
    "added": ("#8fe39a", False),
    "removed": ("#ffb0a8", False),
    "hunk": ("#8ed8f8", False),
}
_REVERSED = frozenset({"chosen", "found"})
_BRIGHTEST = 255
_LINEAR_BELOW = 0.04045


@cache
def style_of(name: str, ground: str = "ground", *, colours: bool = True) -> Style:
    """Return the style of this name on this ground.

    Args:
        name: of the style.
        ground: `ground`, `raised`, `chosen` or `found`.
        colours: False: only bold and reversed text, in the terminal's own colours.
    """
    colour, bold = _STYLES[name]
    if not colours:
        return Style(bold=bold, reverse=ground in _REVERSED)
    return Style(color=colour, bgcolor=GROUNDS[ground], bold=bold)


def names() -> list[str]:
    """Return the names of all styles."""
    return list(_STYLES)


def contrast(name: str, ground: str) -> float:
    """Return the contrast of a style on a ground as WCAG 2 computes it, from 1 to 21."""
    lighter, darker = sorted((_luminance(_STYLES[name][0]), _luminance(GROUNDS[ground])), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    red, green, blue = (_linear(part / _BRIGHTEST) for part in Color.parse(colour).get_truecolor())
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return part / 12.92 if part <= _LINEAR_BELOW else ((part + 0.055) / 1.055) ** 2.4
