"""Finds comments in program lines, but not in string literals."""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

_HASH = frozenset(
    {".py", ".pyi", ".sh", ".bash", ".rb", ".pl", ".r", ".yml", ".yaml", ".toml", ".ex", ".exs", ".tf", ""}
)
_SEMICOLONS = frozenset({".clj", ".cljs", ".cljc", ".edn", ".lisp", ".el", ".scm", ".rkt"})
_PERCENTS = frozenset({".erl", ".hrl", ".tex"})
_DASHES = frozenset({".sql", ".lua", ".hs", ".elm"})
_MARKUP = frozenset({".html", ".xml"})
_STRING = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`")
_FENCES = ('"""', "'''")


def comments_in(path: str, lines: Sequence[str]) -> Iterator[str]:
    """The text of each comment, without its sign."""
    signs = _signs(path)
    for line in without_long_strings(lines):
        text = without_strings(line)
        if "/*" in signs and text.lstrip().startswith("* "):  # a block comment goes on
            yield text.lstrip()[2:]
        elif found := [text.index(sign) for sign in signs if sign in text]:
            yield text[min(found) :].lstrip("#/*!<-;% ")


def without_strings(line: str) -> str:
    """The line with its string literals emptied."""
    return _STRING.sub('""', line)


def _signs(path: str) -> tuple[str, ...]:
    pure = PurePosixPath(path)
    suffix = "" if pure.name.startswith(("Dockerfile", "Makefile")) else pure.suffix
    if suffix in _HASH:
        return ("#",)
    if suffix in _SEMICOLONS:
        return (";",)
    if suffix in _PERCENTS:
        return ("%",)
    if suffix in _DASHES:
        return ("--",)
    return ("<!--",) if suffix in _MARKUP else ("//", "/*", "<!--")


def without_long_strings(lines: Sequence[str]) -> Iterator[str]:
    """Yield each line without its text between triple quotes, as many as there were."""
    fence = ""
    for line in lines:
        text = line
        if fence:
            _, closed, text = line.partition(fence)
            fence = "" if closed else fence
        opened = next((each for each in _FENCES if not fence and text.count(each) % 2), "")
        if opened:
            text, fence = text.split(opened)[0], opened
        yield text
