"""Text that stays text on a hosting service: it mentions nobody, links nothing, closes nothing.

For the places that have no code spans: titles and the messages of commits. A service acts on names after `@`,
numbers after `#` or `GH-`, addresses, and commits named by repository (GitHub, "Autolinked references").
"""

import re

from state.hidden import visible

_ACTING = re.compile(
    r"[@#!](?=[A-Za-z0-9_-])|(?<=[Gg][Hh])-(?=\d)|(?<=:)//(?=\S)|(?<=[Ww]{3})\.(?=\S)|\[(?=skip|no |ci )",
    re.IGNORECASE,
)
_TRAILER = re.compile(r"^[\s*_>`~#-]+")


def inert(text: str) -> str:
    """Return a text as one line in which no sign acts: a space follows each sign that would."""
    line = " ".join(visible(text.replace("\n", " ").replace("\t", " ")).split())
    return _ACTING.sub(lambda found: f"{found.group()} ", _TRAILER.sub("", line))
