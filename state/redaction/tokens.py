"""Finds unknown secrets by the formats of their tokens. Randomness alone is no sign."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from state.redaction.formats import TokenFormat, token_formats

_SHORTEST = 20  # characters of a token: the AWS access key
_RUN = b"a" * 16  # letters and digits on end, which most formats have
_LETTERS = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_RUNS = bytes(97 if one in _LETTERS else 32 for one in range(256))


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token in a text: the name of its format, and its place in characters."""

    format: str
    start: int
    end: int


def tokens_in(text: str) -> list[Token]:
    """Return the tokens of a known format in a text, in order."""
    return list(_tokens_in(text)) if _may_hold_one(text) else []


def without_tokens(text: str) -> str:
    """Return the text with the name of its format in the place of each token."""
    parts, after = [], 0
    for token in tokens_in(text):
        parts += [text[after : token.start], f"[redacted: {token.format}]"]
        after = token.end
    return "".join([*parts, text[after:]]) if parts else text


def _may_hold_one(text: str) -> bool:
    """Whether a text may hold a token. It costs a few microseconds a kilobyte."""
    if len(text) < _SHORTEST:
        return False
    runs = text.encode("ascii", "replace").translate(_RUNS)
    return _RUN in runs or any(word in text for word in _compiled().words)


def _tokens_in(text: str) -> Iterator[Token]:
    compiled = _compiled()
    for found in compiled.pattern.finditer(text):
        format_ = compiled.formats[int((found.lastgroup or "f0")[1:])]
        if format_.is_one(found.group()):
            yield Token(format=format_.name, start=found.start(), end=found.end())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compiled:
    """All formats in one expression, with a group for each."""

    pattern: re.Pattern[str]
    formats: tuple[TokenFormat, ...]
    words: tuple[str, ...]


@cache
def _compiled() -> _Compiled:
    formats = token_formats()
    groups = "|".join(f"(?P<f{number}>{one.pattern})" for number, one in enumerate(formats))
    return _Compiled(
        pattern=re.compile(rf"(?<![0-9A-Za-z_])(?:{groups})(?![0-9A-Za-z])"),
        formats=formats,
        words=tuple(dict.fromkeys(word for one in formats for word in one.contains)),
    )
