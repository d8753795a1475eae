"""Which characters of a text would steer a terminal or mislead its reader, and markup of the terminal's libraries."""

import unicodedata

_JOINERS = "\u200c\u200d"  # part of the writing of some languages and pictures
MARKUP = (
    "[red]", "[/red]", "[/]", "[bold", "[link=https://evil.example]x[/link]", "[@click=app.quit]quit[/]",
    "[on red]", r"\[", "[[", "]]", "[$accent]x", ":smile:", "[@click=app.exit(1)]", "[blink]x",
)  # fmt: skip


def steering_in(text: str) -> list[str]:
    """The characters that steer or hide. Ends of lines may be there."""
    return [
        one
        for one in text
        if one != "\n" and one not in _JOINERS and unicodedata.category(one) in {"Cc", "Cf", "Zl", "Zp", "Cs"}
    ]
