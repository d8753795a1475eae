"""Finds known secret values in a text, whole and in pieces, at a cost that each stored event can bear.

A text is condensed: white space, quotes, backslashes, percent signs and the escapes of line breaks are left
out, letters are in lower case, and the two alphabets of base64 are one. So a value that was printed over
several lines, letter by letter, or inside JSON is one piece again. The condensed text is read as numbers of
eight bytes, at every fourth place. Each piece of a secret that counts holds one of the prepared numbers, so a
text without any of them needs no second look. Values are also found in JSON, base64, percent-encoding and
hexadecimal digits.
"""

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from sys import byteorder
from urllib.parse import quote

SHORTEST = 8  # characters. Shorter values would blank out ordinary words
PIECE = 12  # condensed characters of a random value that are replaced also by themselves
_GRAM, _STEP = 8, 4
_LEFT_OUT = b" \t\r\n\x0b\x0c\\\"'`%"
_ESCAPED_BREAK = re.compile(rb"\\[nrt]")
_GAPS = re.compile(rb"\\[nrt]|[ \t\r\n\x0b\x0c\\\"'`%]+?")
_ALIKE = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ-_", b"abcdefghijklmnopqrstuvwxyz+/")
_JSON_DEPTH = 2  # a tool's input is JSON, and a file that it writes may be JSON inside that
_BITS_OF_A_DIGIT = 6
_LONGEST_ENCODED = 1_000  # bytes. A longer value, such as a key file, is looked for as it is written
_WITH_PIECES = 16  # condensed characters of the shortest value with such pieces
_SHORT_GRAM = 4
_ENOUGH = _GRAM + _STEP - 1  # so many bytes hold a whole gram at a place that is looked at
_CHANGES = 4  # between letters, capitals and digits in a random piece
_WORD = re.compile(r"[A-Za-z]{1,15}")
_PLACE = re.compile(r"^(?:[a-z][a-z0-9+.-]*://|~?/|\.{1,2}/)", re.IGNORECASE)
_Broken = dict[bytes, list[tuple[bytes, str]]]


@dataclass(frozen=True, slots=True)
class Known:
    """A secret value and the name that stands in its place."""

    name: str
    value: str


class KnownValues:
    """The places of known values in a text."""

    def __init__(self, values: Iterable[Known]) -> None:
        """Prepare the search for these values. Those that are no distinct text are left out."""
        named = {one.value: one.name for one in values if is_distinct(one.value)}
        spelled = {text: name for value, name in named.items() for text in in_json(value)}
        longest_first = sorted(spelled, key=len, reverse=True)
        self._written = re.compile(b"|".join(re.escape(encoded(text)) for text in longest_first))
        self._names = {encoded(text): name for text, name in spelled.items()}
        self._needles = [one for value, name in named.items() for one in _needles(name, value)]
        self._always = any(len(condensed(encoded(value))) < SHORTEST for value in named)
        self._pieces = {
            needle.data[at : at + PIECE]: needle.name for needle in self._needles for at in needle.pieces
        }
        self._grams = {gram for needle in self._needles for gram in _grams(needle)}
        self._short_grams = {gram for needle in self._needles for gram in _short_grams(needle)}
        self._ends, self._starts = _broken(self._needles, named)

    def __bool__(self) -> bool:
        return bool(self._names)

    def replaced(self, text: str) -> str:
        """Return the text with each value's name in its place."""
        if len(text) < SHORTEST:
            return text
        data = encoded(text)
        if not self._always and not self._may_be_in(condensed(data)):
            return text
        spans = [*self._whole_in(data), *self._pieces_in(data)]
        return _with_names(data, spans) if spans else text

    def _may_be_in(self, data: bytes) -> bool:
        """Whether a text, condensed, may hold a value. It is seldom wrong."""
        view = memoryview(data)
        even = view[: len(view) // _GRAM * _GRAM].cast("Q")
        last = _STEP + max(0, len(view) - _STEP) // _GRAM * _GRAM
        odd = view[_STEP:last].cast("Q")
        return (
            not self._grams.isdisjoint(even)
            or not self._grams.isdisjoint(odd)
            or data[-SHORTEST:] in self._ends
            or data[:SHORTEST] in self._starts
            or (
                bool(self._short_grams)
                and not self._short_grams.isdisjoint(view[: len(view) // _SHORT_GRAM * _SHORT_GRAM].cast("I"))
            )
        )

    def _whole_in(self, data: bytes) -> Iterator[tuple[int, int, str]]:
        """Yield start, end and name of each value as it is written, plain or inside JSON."""
        for found in self._written.finditer(data):
            yield found.start(), found.end(), self._names[found.group()]

    def _pieces_in(self, data: bytes) -> Iterator[tuple[int, int, str]]:
        """Yield start, end and name of each value that is split or encoded, and of each random piece."""
        text, places = condensed(data), kept_places(data)
        for start, end, name in self._spans_in(text):
            first = places[start]
            before = len(data[:first]) - len(data[:first].rstrip(b"\\"))
            yield first - before % 2, places[end - 1] + 1, name  # an escape goes with its character

    def _spans_in(self, text: bytes) -> Iterator[tuple[int, int, str]]:
        for needle in self._needles:
            at = text.find(needle.data)
            while at >= 0:
                yield at, at + len(needle.data), needle.name
                at = text.find(needle.data, at + 1)
        for at in range(len(text) - PIECE + 1):
            if name := self._pieces.get(text[at : at + PIECE]):
                yield at, at + PIECE, name
        for part, name in self._ends.get(text[-SHORTEST:], ()):
            if text.endswith(part):
                yield len(text) - len(part), len(text), name
        for part, name in self._starts.get(text[:SHORTEST], ()):
            if text.startswith(part):
                yield 0, len(part), name


def is_distinct(value: str) -> bool:
    """Whether a value is worth hiding: `postgres` as a password would blank out a word of every text."""
    return len(value) >= SHORTEST and not _WORD.fullmatch(value)


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


@dataclass(frozen=True, slots=True)
class _Needle:
    """A spelling of a value, condensed. `pieces`: the starts of its random pieces."""

    name: str
    data: bytes
    pieces: tuple[int, ...]


def _needles(name: str, value: str) -> Iterator[_Needle]:
    whole_only = bool(_PLACE.match(value))
    spelled = {*map(encoded, in_json(value)), *in_other_codes(value)}
    for raw in {without_gaps(one) for one in spelled}:
        data = condensed(raw)
        if len(data) >= SHORTEST:
            long = len(data) >= _WITH_PIECES and not whole_only
            pieces = [at for at in range(len(data) - PIECE + 1) if _is_random(raw[at : at + PIECE])]
            yield _Needle(name, data, tuple(pieces) if long else ())


def _is_random(raw: bytes) -> bool:
    """Whether a piece changes between small letters, capitals and digits as no word and no prefix does."""
    kinds = [_kind(byte) for byte in raw if chr(byte).isalnum() and byte < 128]  # noqa: PLR2004  ASCII
    changes = sum(one != other for one, other in pairwise(kinds))
    return changes >= _CHANGES and "digit" in kinds


def _kind(byte: int) -> str:
    character = chr(byte)
    return "digit" if character.isdigit() else "capital" if character.isupper() else "letter"


def _grams(needle: _Needle) -> Iterator[int]:
    """Yield the numbers that a text with this needle, or a piece of it, has at one of the places."""
    if len(needle.data) >= _ENOUGH:
        best = max(range(len(needle.data) - _ENOUGH + 1), key=lambda at: _changes(needle.data, at))
        for at in {*range(best, best + _STEP), *(at + more for at in needle.pieces for more in range(_STEP))}:
            yield int.from_bytes(needle.data[at : at + _GRAM], byteorder)


def _short_grams(needle: _Needle) -> Iterator[int]:
    if len(needle.data) < _ENOUGH:
        for at in range(_SHORT_GRAM):
            yield int.from_bytes(needle.data[at : at + _SHORT_GRAM], byteorder)


def _changes(data: bytes, at: int) -> int:
    part = data[at : at + _ENOUGH]
    return sum(_kind(one) != _kind(other) for one, other in pairwise(part))


def _broken(needles: Iterable[_Needle], named: dict[str, str]) -> tuple[_Broken, _Broken]:
    """Return the larger parts of values with which a text may end or begin, by their nearest characters."""
    plain = {condensed(encoded(value)) for value in named if not _PLACE.match(value)}
    ends: _Broken = {}
    starts: _Broken = {}
    for needle in needles:
        data = needle.data
        if data in plain and len(data) <= 1_000:  # noqa: PLR2004  longer ones have pieces
            for size in range(max(SHORTEST, len(data) // 2), len(data)):
                ends.setdefault(data[size - SHORTEST : size], []).append((data[:size], needle.name))
                tail = data[len(data) - size :]
                starts.setdefault(tail[:SHORTEST], []).append((tail, needle.name))
    return ends, starts


def _with_names(data: bytes, spans: list[tuple[int, int, str]]) -> str:
    """Return the text with one name for each group of spans that overlap."""
    parts: list[bytes] = []
    after, open_ = 0, (0, 0, "")
    for start, end, name in sorted(spans, key=lambda span: (span[0], -span[1])):
        if open_[2] and start < open_[1]:
            open_ = (open_[0], max(open_[1], end), open_[2])
            continue
        if open_[2]:
            parts += [data[after : open_[0]], _mark(open_[2])]
            after = open_[1]
        open_ = (start, end, name)
    parts += [data[after : open_[0]], _mark(open_[2]), data[open_[1] :]]
    return b"".join(parts).decode("utf-8", "surrogatepass")


def _mark(name: str) -> bytes:
    return f"[redacted: {name}]".encode()
