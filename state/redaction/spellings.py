"""The spellings of a secret value: inside JSON, in base64, percent-encoded, in hexadecimal digits."""

import json
from base64 import b64encode
from urllib.parse import quote

from state.redaction.condensed import encoded

_JSON_DEPTH = 2  # a tool's input is JSON, and a file that it writes may be JSON inside that
_BITS_OF_A_DIGIT = 6
_LONGEST_ENCODED = 1_000  # bytes. A longer value, such as a key file, is looked for as it is written


def in_json(value: str) -> set[str]:
    """Return a value as it is written, and inside JSON, and inside JSON in JSON."""
    written = {value}
    for _ in range(_JSON_DEPTH):
        written |= {
            json.dumps(text, ensure_ascii=ascii_)[1:-1] for text in written for ascii_ in (True, False)
        }
    return written


def in_other_codes(value: str) -> set[bytes]:
    """Return a value in base64 (at each of its three alignments), percent-encoded, and in hexadecimal."""
    data = encoded(value)
    if len(data) > _LONGEST_ENCODED:
        return set()
    return {
        *(_in_base64(data, before) for before in range(3)),
        quote(data, safe="").encode(),
        quote(data).encode(),
        data.hex().encode(),
    }


def _in_base64(data: bytes, before: int) -> bytes:
    """Return the digits that depend on `data` alone, with `before` other bytes in front of it."""
    digits = b64encode(bytes(before) + data + bytes(2))
    first = -(-before * 8 // _BITS_OF_A_DIGIT)
    return digits[first : (before + len(data)) * 8 // _BITS_OF_A_DIGIT]
