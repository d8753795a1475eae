"""At most how many tokens a text has, without a tokenizer.

Every digit, mark and byte of another script counts as one token, and letters of one word as two a token, like
a mark that repeats. A single space before a word belongs to the word. Tokenizers of models need fewer, for
prose about half of it.
"""

import re

_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\s+|([!-/:-@\[-`{-~])\1+|[^\sA-Za-z]")
_A_TOKEN = 2  # letters


def most_tokens(text: str) -> int:
    """Return the bound for `text`."""
    return sum(_of(part.group()) for part in _PARTS.finditer(text))


def _of(part: str) -> int:
    if part == " ":
        return 0
    if part.isspace():
        return 1
    return -(-len(part) // _A_TOKEN) if part.isascii() else len(part.encode("utf-8", "replace"))
