"""Compares a request with a reply's expectations, and shows the differences."""

from collections.abc import Iterator
from difflib import get_close_matches, ndiff

from agents.gateway.conversation import ModelRequest
from agents.gateway.position import Due, Position
from agents.gateway.script import Expectation

_SHORT = 400  # characters of a prompt or a result that a message shows
_ALIKE = 0.4  # similarity from which two lines are shown as a difference


def unmet(expect: Expectation, request: ModelRequest, position: Position, due: Due) -> Iterator[str]:
    """Yield each expectation that does not hold, with the text found instead."""
    results = "\n".join(due.results)
    yield from _lacking("prompt_contains", expect.prompt_contains, position.prompt, "the prompt")
    for words in expect.prompt_lacks:
        if words in position.prompt:
            yield f"prompt_lacks: the prompt holds {words!r}: {shorten(_around(words, position.prompt))!r}"
    yield from _lacking("anywhere_contains", expect.anywhere_contains, request.everything, "the request")
    yield from _lacking("tool_results_contain", expect.tool_results_contain, results, "the tool results")
    for name in expect.tools_offered:
        if name not in request.tools:
            yield f"tools_offered: {name} is not offered, only {', '.join(request.tools) or 'no tool at all'}"
    if expect.model is not None and expect.model not in request.model:
        yield f"model: expected {expect.model!r} in it, found {request.model!r}"
    if expect.effort is not None and expect.effort != request.effort:
        yield f"effort: expected {expect.effort!r}, found {request.effort!r}"


def shorten(text: str) -> str:
    """Return `text` if it is short, else its head and its end."""
    half = _SHORT // 2
    return text if len(text) <= _SHORT else f"{text[:half]} … {text[-half:]}"


def _lacking(key: str, expected: tuple[str, ...], found: str, where: str) -> Iterator[str]:
    for words in expected:
        if words not in found:
            yield f"{key}: {words!r} is not in {where}{_difference(words, found)}"


def _difference(words: str, found: str) -> str:
    """Return a diff against the most similar line, or the text itself if no line is similar."""
    lines = found.splitlines()
    first = words.splitlines()[0]
    near = get_close_matches(first, lines, n=1, cutoff=_ALIKE)
    if not near:
        return f", which is {shorten(found)!r}"
    start = lines.index(near[0])
    wanted = words.splitlines()
    shown = ndiff(wanted, lines[start : start + len(wanted)])
    return ":\n" + "\n".join(f"      {line.rstrip()}" for line in shown)


def _around(words: str, text: str) -> str:
    start = text.index(words)
    return text[max(0, start - 80) : start + len(words) + 80]
