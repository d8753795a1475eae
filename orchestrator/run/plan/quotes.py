"""The places of a plan's quotes in the spec.

Quotes are placed by
their words, since a planner quotes from memory: Markdown, punctuation, case and line breaks do not count, and
in a longer quote some words may differ. A quote without a place is unplaced, and nothing is guessed.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

from state.records.plan import Criterion, Plan
from state.records.spec_check import plain

_WORD = re.compile(r"\w+")
_TARGET = re.compile(r"\]\([^)\s]*\)")  # of a Markdown link
_ALIKE = 0.75  # of the words, in order
_FEWEST = 5  # words of a quote that may differ from the spec
_FEWEST_JOINED = 8  # characters of a quote that is found without its spaces
_TRIED = 20  # windows that are compared in full

Lines = tuple[int, int]
UNPLACED: Lines = (0, 0)


class _Word(NamedTuple):
    text: str
    line: int


def placed(proposed: Plan, spec: str) -> Plan:
    """Return a plan whose criteria have their ids and their places in the spec.

    A criterion without a quote is looked for by its text.
    """
    return replace(
        proposed,
        criteria=tuple(
            _placed(replace(one, id=f"c-{number}"), spec)
            for number, one in enumerate(proposed.criteria, start=1)
        ),
    )


def _placed(criterion: Criterion, spec: str) -> Criterion:
    quote = criterion.quote or criterion.text
    return replace(criterion, spec_lines=place_of(spec, quote, near=criterion.spec_lines))


def holds(spec: str, quote: str) -> bool:
    """Whether a spec has a quote word for word. White space and list signs do not count."""
    wanted = " ".join(quote.split())
    return wanted in " ".join(spec.split()) or wanted in " ".join(map(plain, spec.splitlines()))


def place_of(spec: str, quote: str, *, near: Lines = UNPLACED) -> Lines:
    """Return the first and the last line of a quote in the spec, counted from 1, or (0, 0).

    Args:
        spec: the text of the spec.
        quote: the words to look for.
        near: the lines that the planner names. Of several places the nearest one counts, without these
            lines the first one. A single word that stands in several places then has none.
    """
    words, wanted = _words(spec), [word.text for word in _words(quote)]
    if not words or not wanted:
        return UNPLACED
    places = list(_exact(words, wanted)) or list(_joined(words, wanted)) or list(_fuzzy(words, wanted))
    if not places or (len(wanted) == 1 and len(set(places)) > 1 and near == UNPLACED):
        return UNPLACED
    return min(places, key=lambda lines: abs(lines[0] - near[0])) if near != UNPLACED else places[0]


@lru_cache(maxsize=8)
def _words(text: str) -> tuple[_Word, ...]:
    return tuple(
        _Word(plain, number)
        for number, line in enumerate(text.split("\n"), start=1)
        for word in _WORD.findall(_TARGET.sub("] ", line))
        if (plain := word.strip("_").casefold())
    )


def _exact(words: Sequence[_Word], wanted: Sequence[str]) -> Iterator[Lines]:
    texts, size = [word.text for word in words], len(wanted)
    for start in range(len(texts) - size + 1):
        if texts[start] == wanted[0] and texts[start : start + size] == wanted:
            yield words[start].line, words[start + size - 1].line


def _joined(words: Sequence[_Word], wanted: Sequence[str]) -> Iterator[Lines]:
    """Yield the places without regard to spaces: for languages without them, and for words cut in two."""
    sought = "".join(wanted)
    if len(sought) < _FEWEST_JOINED:
        return
    lines = [word.line for word in words for _ in word.text]
    text, at = "".join(word.text for word in words), -1
    while (at := text.find(sought, at + 1)) >= 0:
        yield lines[at], lines[at + len(sought) - 1]


def _fuzzy(words: Sequence[_Word], wanted: Sequence[str]) -> Iterator[Lines]:
    """Yield the place that is most like the quote, if enough of its words stand there in their order."""
    size, needed = len(wanted), Counter(wanted)
    if size < _FEWEST:
        return
    shared = [one for one in _shared(words, needed, size) if one[0] >= _ALIKE * size]
    best, place = 0.0, UNPLACED
    for _, start in sorted(shared, key=lambda one: (-one[0], one[1]))[:_TRIED]:
        window = words[start : start + size]
        matcher = SequenceMatcher(None, [word.text for word in window], list(wanted), autojunk=False)
        blocks = [block for block in matcher.get_matching_blocks() if block.size]
        alike = sum(block.size for block in blocks) / size
        if alike > best:
            last = blocks[-1]
            best, place = alike, (window[blocks[0].a].line, window[last.a + last.size - 1].line)
    if best >= _ALIKE:
        yield place


def _shared(words: Sequence[_Word], needed: Counter[str], size: int) -> Iterator[tuple[int, int]]:
    """Yield for each window of `size` words how many of the needed words it holds, and its start."""
    held: Counter[str] = Counter()
    count = 0
    for end, word in enumerate(words):
        held[word.text] += 1
        count += held[word.text] <= needed[word.text]
        if end >= size:
            gone = words[end - size].text
            count -= held[gone] <= needed[gone]
            held[gone] -= 1
        yield count, max(0, end - size + 1)
