"""The colours of `sq watch`, by name. Each text has a contrast of at least 4.5 on every ground."""

from functools import cache

from rich.style import Style

GROUND, RAISED, CHOSEN, FOUND = "#10151b", "#1d2732", "#2b3d52", "#5c4a00"
GROUNDS = {"ground": GROUND, "raised": RAISED, "chosen": CHOSEN, "found": FOUND}
# A style: its colour, and whether it is bold. A word or a sign always says the same as the colour.
STYLES: dict[str, tuple[str, bool]] = {
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


@cache
def style_of(name: str, ground: str = "ground", *, colours: bool = True) -> Style:
    """Return the style of this name on this ground.

    Args:
        name: of the style.
        ground: `ground`, `raised`, `chosen` or `found`.
        colours: False: only bold and reversed text, in the terminal's own colours.
    """
    colour, bold = STYLES[name]
    if not colours:
        return Style(bold=bold, reverse=ground in _REVERSED)
    return Style(color=colour, bgcolor=GROUNDS[ground], bold=bold)
