"""A text without the characters that a split or escaped secret has between its own.

White space, quotes, backslashes, percent signs and the escapes of line breaks are left out. Letters are in
lower case, and the two alphabets of base64 are one. So a value that was printed over several lines, letter by
letter, or inside JSON is one piece again.
"""

import re

_LEFT_OUT = b" \t\r\n\x0b\x0c\\\"'`%"
_ESCAPED_BREAK = re.compile(rb"\\[nrt]")
_GAPS = re.compile(rb"\\[nrt]|[ \t\r\n\x0b\x0c\\\"'`%]+?")
_ALIKE = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ-_", b"abcdefghijklmnopqrstuvwxyz+/")


def encoded(text: str) -> bytes:
    """Return a text as UTF-8. Halves of surrogate pairs stay."""
    return text.encode("utf-8", "surrogatepass")


def condensed(data: bytes) -> bytes:
    """Return the condensed form of a text in UTF-8."""
    return without_gaps(data).translate(_ALIKE)


def without_gaps(data: bytes) -> bytes:
    """Return the same characters as `condensed`, in their own case and alphabet."""
    if b"\\" in data:
        data = _ESCAPED_BREAK.sub(b"", data)
    return data.translate(None, _LEFT_OUT)


def kept_places(data: bytes) -> list[int]:
    """Return for each byte of the condensed form its place in `data`."""
    places: list[int] = []
    after = 0
    for gap in _GAPS.finditer(data):
        places.extend(range(after, gap.start()))
        after = gap.end()
    places.extend(range(after, len(data)))
    return places
