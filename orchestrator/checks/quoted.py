"""Commands that a spec, a criterion or a document quotes, with the output that it shows beside them.

A quoted command may be a mention, a form with words to fill in, or one that shall be refused. So only plain
lines count, and none in a paragraph that speaks of refusing, removing or another time.
"""

import re
import shlex
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice

import msgspec

from state.decoding import table_beside

_MOST_LINES, _LONGEST, _MOST_SHOWN, _MOST_TOGETHER = 20_000, 400, 20, 100
_FENCE = re.compile(r" {0,12}(`{3,20}|~{3,20})[ \t]*([\w-]*)")
_NEW_PART = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s|\s{0,3}#|\s*\|")
_INLINE = re.compile(r"(?<!`)(`{1,2})(?!`)([^`\n]{2,400})\1(?!`)")
_QUOTED_WORD = re.compile(r"'[^']*'|\"[^\"$`\\]*\"")
_TANGLED = re.compile(r"[;&|<>`$(){}\[\]*?\\~#]|\.\.\.|…|://")
_TO_FILL_IN = re.compile(r"<[\w .:/-]{1,60}>|(?<![\w=.-])[A-Z][A-Z_]*[A-Z]\d*(?![\w.-])|\bpath/to/\S*")
_FILLED = "x"
_LAUNCHERS = frozenset({"go", "cargo", "uv", "poetry", "pdm", "hatch", "rye"})
_OPTION = re.compile(r"--?[A-Za-z]")


class _Words(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `quoted.yaml`, which describes the fields."""

    shells: frozenset[str]
    otherwise: tuple[str, ...]
    depends: tuple[str, ...]
    acts: frozenset[str]
    prints: str
    varies: tuple[str, ...]
    refused: tuple[str, ...]
    usage: str
    choices: str


@cache
def _words() -> _Words:
    return msgspec.convert(table_beside(__file__, "quoted.yaml"), _Words)


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.MULTILINE)


def _speaks(words: Sequence[str], text: str) -> bool:
    """Whether a text, but for its inline code, has one of these words or phrases."""
    plain = _INLINE.sub("", text)
    return any(_pattern(rf"(?<!\w)(?:{one})(?!\w)").search(plain) for one in words)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotedCommand:
    """A command as `source` quotes it at `line`. `after`: those above it in its block, which may run first.

    `shown` is the output that stands beside it, "" if none does or it may be another one each time.
    """

    command: str
    source: str
    line: int = 0
    after: tuple[str, ...] = ()
    shown: str = ""


def commands_in(text: str, source: str, *, only: Collection[int] | None = None) -> Iterator[QuotedCommand]:
    """Yield the commands that a text quotes, inline or in blocks of a shell. `only`: those of these lines."""
    paragraph: list[tuple[int, str]] = []
    block: list[tuple[int, str]] = []
    fence, kind, heading, is_open = "", "", "", False
    for number, line in enumerate([*text.splitlines()[:_MOST_LINES], ""], 1):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence):
                yield from _chosen(_of_block(block, kind, f"{heading}\n{_joined(paragraph)}", source), only)
                fence, paragraph = "", []
            else:
                block.append((number, line))
            continue
        if mark or not line.strip() or _NEW_PART.match(line):
            yield from _chosen(_of_paragraph(paragraph if is_open else (), heading, source), only)
            is_open = False
        if mark:
            fence, kind, block = mark[1], mark[2].lower(), []
        elif line.startswith("#"):
            heading, paragraph = line, []
        elif line.strip():  # a paragraph stays: it may speak of a block below it
            paragraph, is_open = paragraph if is_open else [], True
            paragraph.append((number, line))


def _chosen(found: Iterator[QuotedCommand], only: Collection[int] | None) -> Iterator[QuotedCommand]:
    return (one for one in found if only is None or one.line in only)


def _joined(lines: Sequence[tuple[int, str]]) -> str:
    return "\n".join(line for _, line in lines)


def _of_paragraph(lines: Sequence[tuple[int, str]], heading: str, source: str) -> Iterator[QuotedCommand]:
    text = _joined(lines)
    if not lines or _speaks(_words().otherwise, f"{heading}\n{text}"):
        return
    compares = not _speaks(_words().depends, text)
    for found in islice(_INLINE.finditer(text), _MOST_TOGETHER):
        shown = _pattern(_words().prints).match(text, found.end()) if compares else None
        line = lines[0][0] + text.count("\n", 0, found.start())
        output = _steady([shown["text"]]) if shown else ""
        yield QuotedCommand(command=found[2].strip(), source=source, line=line, shown=output)


def _of_block(
    lines: Sequence[tuple[int, str]], kind: str, above: str, source: str
) -> Iterator[QuotedCommand]:
    if kind not in _words().shells or _speaks(_words().otherwise, above):
        return
    prompts = [at for at, (_, line) in enumerate(lines) if line.lstrip().startswith("$ ")]
    starts = (prompts or [at for at, (_, line) in enumerate(lines) if line.strip()])[:_MOST_TOGETHER]
    before: tuple[str, ...] = ()
    for at, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        number, line = lines[at]
        command = line.strip().removeprefix("$ ").strip()
        shown = [text.strip() for _, text in lines[at + 1 : end] if text.strip()] if prompts else []
        if not _speaks(_words().otherwise, "\n".join(shown)):
            output = _steady(shown)
            yield QuotedCommand(command=command, source=source, line=number, after=before, shown=output)
        before = (*before, command)


def _steady(lines: Sequence[str]) -> str:
    """Return an output that is plain and the same each time, else ""."""
    text = "\n".join(lines)
    varies = any(_pattern(one).search(text) for one in _words().varies)
    return "" if len(lines) > _MOST_SHOWN or varies else text


def filled_in(one: QuotedCommand) -> QuotedCommand | None:
    """Return a command that can be run as it is, with a word for each that is to be filled in, else None."""
    line = _TO_FILL_IN.sub(_FILLED, one.command)
    if len(line) > _LONGEST or _TANGLED.search(_QUOTED_WORD.sub(_FILLED, line)):
        return None
    try:
        words = shlex.split(line)
    except ValueError:
        return None
    leads_away = any(word.lstrip("-").startswith("/") or "=/" in word or ".." in word for word in words)
    given = words[2:] if words[1:2] == ["run"] and words[0] in _LAUNCHERS else words[1:]
    if (
        not words
        or "=" in words[0]
        or leads_away
        or not _words().acts.isdisjoint(word.lower() for word in given)
    ):
        return None
    return replace(one, command=line, shown=one.shown if line == one.command else "")


def refusal_in(words: Sequence[str], exit_code: int, output: str) -> str:
    """Return the line of an output by which a program does not know a word of its command, or ""."""
    if not exit_code:
        return ""
    given = {part.strip("-") for word in words[1:] for part in (word, word.partition("=")[0])}
    given |= {letter for word in words[1:] if re.match(r"-\w", word) for letter in word[1:]}
    for pattern in _words().refused:
        for found in _pattern(pattern).finditer(output):
            named = {one.strip("'\"`.,:;-") for one in found["words"].split()}
            if not given.isdisjoint(named - {"", _FILLED}):
                return found[0].strip()[:300]
    usage = _pattern(_words().usage).search(output)
    if usage is None or exit_code not in {2, 64}:
        return ""
    text = output[usage.start() :]
    options = [word.partition("=")[0] for word in words[1:] if _OPTION.match(word)]
    bare = words[1:2] if _pattern(_words().choices).search(text) and words[1:2] != [_FILLED] else []
    unknown = [word for word in (*options, *bare) if word.isascii() and word not in text]
    return text.strip().partition("\n")[0][:300] if unknown else ""


def is_shown(expected: str, output: str) -> bool:
    """Whether an output has the lines that are expected, in their order, whatever the white space."""
    lines = iter([" ".join(line.split()) for line in output.splitlines()])
    wanted = [" ".join(line.split()) for line in expected.splitlines()]
    return all(any(one in line for line in lines) for one in wanted)
