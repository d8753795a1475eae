"""Commands that a spec, a criterion or a document quotes.

No word of prose is read, so a quoted command may be one that shall be refused or that was there before.
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice

import msgspec

from state.decoding import table_beside

_MOST_LINES, _LONGEST, _MOST_TOGETHER = 20_000, 400, 100
_FENCE = re.compile(r" {0,12}(`{3,20}|~{3,20})[ \t]*([\w-]*)")
_INLINE = re.compile(r"(?<!`)(`{1,2})(?!`)([^`\n]{2,400})\1(?!`)")
_IMPORT = re.compile(r"\b(?:from|import|require\()\s*(['\"])(@?[\w.-]+(?:/[\w.-]+)+)\1")
_QUOTED_WORD = re.compile(r"'[^']*'|\"[^\"$`\\]*\"")
_TANGLED = re.compile(r"[;&|<>`$(){}\[\]*?\\~#]|\.\.\.|…|://")
_TO_FILL_IN = re.compile(r"<[\w .:/-]{1,60}>|(?<![\w=.-])[A-Z][A-Z_]*[A-Z]\d*(?![\w.-])|\bpath/to/\S*")
_FILLED = "x"
_LAUNCHERS = frozenset({"go", "cargo", "uv", "poetry", "pdm", "hatch", "rye"})
_OPTION = re.compile(r"--?[A-Za-z]")
_OF_USAGE = frozenset({2, 64})  # exit codes


class _Words(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `quoted.yaml`, which describes the fields."""

    shells: frozenset[str]
    acts: frozenset[str]
    refused: tuple[str, ...]
    usage: str
    unlisted: str
    choices: str


@cache
def _words() -> _Words:
    return msgspec.convert(table_beside(__file__, "quoted.yaml"), _Words)


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotedCommand:
    """A command as `source` quotes it at `line`. `is_alone`: in a block, without an output beside it."""

    command: str
    source: str
    line: int
    is_alone: bool = False


def commands_in(text: str, source: str) -> Iterator[QuotedCommand]:
    """Yield the commands that can be run of those that a text quotes, inline or in blocks of a shell.

    What code loads of a package of Node is one too, as `import name/of/it`.
    """
    fence, kind, block = "", "", list[tuple[int, str]]()
    for number, line in enumerate(text.splitlines()[:_MOST_LINES], 1):
        mark = _FENCE.match(line)
        if fence and mark and mark[1].startswith(fence):
            yield from _of_block(block, source) if kind in _words().shells else ()
            fence = ""
        elif fence:
            block.append((number, line))
            for one in islice(_IMPORT.finditer(line), _MOST_TOGETHER):
                yield QuotedCommand(command=f"import {one[2]}", source=source, line=number, is_alone=True)
        elif mark:
            fence, kind, block = mark[1], mark[2].lower(), []
        else:
            for found in islice(_INLINE.finditer(line), _MOST_TOGETHER):
                load = _IMPORT.search(found[2])
                if command := f"import {load[2]}" if load else _ready(found[2].strip()):
                    yield QuotedCommand(command=command, source=source, line=number)


def _of_block(lines: Sequence[tuple[int, str]], source: str) -> Iterator[QuotedCommand]:
    prompts = [at for at, (_, line) in enumerate(lines) if line.lstrip().startswith("$ ")]
    starts = (prompts or [at for at, (_, line) in enumerate(lines) if line.strip()])[:_MOST_TOGETHER]
    for at, end in zip(starts, [*starts[1:], len(lines)], strict=False):
        number, line = lines[at]
        shown = [text for _, text in lines[at + 1 : end] if text.strip()] if prompts else []
        if command := _ready(line.strip().removeprefix("$ ").strip()):
            yield QuotedCommand(command=command, source=source, line=number, is_alone=not shown)


def _ready(written: str) -> str:
    """Return a command with a word for each that is to be filled in, "" if it cannot be run as it is."""
    line = _TO_FILL_IN.sub(_FILLED, written)
    if len(line) > _LONGEST or _TANGLED.search(_QUOTED_WORD.sub(_FILLED, line)):
        return ""
    try:
        words = shlex.split(line)
    except ValueError:
        return ""
    leads_away = any(word.lstrip("-").startswith("/") or "=/" in word or ".." in word for word in words)
    given = words[2:] if words[1:2] == ["run"] and words[0] in _LAUNCHERS else words[1:]
    acts = not _words().acts.isdisjoint(word.lower() for word in given)
    return "" if not words or "=" in words[0] or leads_away or acts else line


def refusal_in(words: Sequence[str], exit_code: int, output: str) -> tuple[str, Sequence[str]]:
    """Return the line of an output by which a program does not know words of its command, and these words."""
    for pattern in _words().refused if exit_code else ():
        for found in _pattern(pattern).finditer(output):
            named = {one.strip("'\"`.,:;-") for one in found["words"].split()} - {"", _FILLED}
            if unknown := [one for one in words[1:] if not named.isdisjoint(_names_of(one))]:
                return found[0].strip()[:300], unknown
    usage = _pattern(_words().usage).search(output) if exit_code in _OF_USAGE else None
    text = output[usage.start() :].strip() if usage else ""
    if not text or _pattern(_words().unlisted).search(text):
        return "", []
    options = [word.partition("=")[0] for word in words[1:] if _OPTION.match(word)]
    bare = words[1:2] if _pattern(_words().choices).search(text) and words[1:2] != [_FILLED] else []
    unknown = [word for word in (*options, *bare) if word.isascii() and word not in text]
    return text.partition("\n")[0][:300] if unknown else "", unknown


def _names_of(word: str) -> set[str]:
    """Return what programs may call a word of a command: with its value or without, or one letter of it."""
    letters = word[1:] if re.match(r"-\w", word) else ""
    return {word.strip("-"), word.partition("=")[0].strip("-"), *letters}


def as_typed(word: str) -> list[str]:
    """Return the texts by which a file has a word of a command, and not another one of that name."""
    plain = word.partition("=")[0]
    quoted = [text for sign in "'\"`" for text in (f"{sign}{plain}", f"{plain}{sign}")]
    return [plain] if plain.startswith("-") else quoted


def is_named_in(word: str, text: str) -> bool:
    """Whether a text of code has a word of a command, or a part of a name that is called so."""
    name = r"[-_]?".join(map(re.escape, re.findall(r"[^\W_]+", word.partition("=")[0].rpartition("/")[2])))
    begins, ends = r"(?:(?<![A-Za-z])|(?<=[a-z])(?=[A-Z]))", r"(?![a-z])"
    return len(name) > 1 and re.search(f"{begins}(?i:{name}){ends}", text) is not None
