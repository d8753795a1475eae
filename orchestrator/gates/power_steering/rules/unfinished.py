"""The rules on work that is left: open todo items, announced steps that were not taken, and unfinished code.

Examples of announced steps: "Now I need to update the parser", "Next I'll run the tests", "remaining: the
docs", not followed by a question. A plan as the answer, an offer, a condition, a negation, others' future
work and past work do not count. The words are data: `announcements.yaml`.

Of code only lines that the session wrote and that remain count. Marks are looked for in comments, not in
strings. Examples in docstrings and methods that are to be overridden are finished.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import PurePosixPath

import msgspec

from orchestrator.gates.power_steering.facts import (
    RuleOutcome,
    SessionEvidence,
    any_of,
    met,
    not_applicable,
    phrases,
    unmet,
)
from state.decoding import table_beside

_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_QUOTED = re.compile(r"`[^`\n]*`|\"[^\"\n]*\"|\u201c[^\u201d\n]*\u201d")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])|\n+")
_ASKS = re.compile(r"[?\uff1f][\s*_`\"')\u2019\u201d]*\Z")
_DONE = (
    r"(?:implemented|wired(?: up)?|finished|done|added|written|handled|updated|migrated|covered|fixed|tested"
    r"|ported|converted|cleaned up|removed|renamed|documented|verified|reviewed|committed|pushed|run)"
)
_ASKS_FOR_A_PLAN = phrases(
    r"(?:plan(?! (?:must|should|has|needs|shows?|file|output))|outline"
    r"|propos\w*|design|road ?map|strategy|approach|steps|estimate|how would you"
    r"|suggest\w*|next steps?)"
)
_LATER = r"(?:later|afterwards|next|tomorrow|in a (?:follow-?up|later|next|separate|second|further)\b.*)"
_TAKEN_BACK = phrases(
    "forget", "instead", "never ?mind", "leave (?:it|that|the rest)", "skip", "drop", "stop",
    "don't", "no longer", "cancel", "abandon", "put .{0,20}aside", "not needed", "changed my mind", "scrap",
    "rather",
)  # fmt: skip


class _Words(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of `announcements.yaml`."""

    own: dict[str, tuple[str, ...]]
    unspaced: dict[str, tuple[str, ...]]
    last: tuple[str, ...]
    nothing: tuple[str, ...]
    offers: tuple[str, ...]
    others: tuple[str, ...]
    habits: tuple[str, ...]


class _Patterns(msgspec.Struct, frozen=True, kw_only=True):
    """The same, compiled."""

    own: re.Pattern[str]
    unspaced: re.Pattern[str]
    last: re.Pattern[str]
    nothing: re.Pattern[str]
    no_announcement: re.Pattern[str]


def todos_complete(evidence: SessionEvidence) -> RuleOutcome | None:
    """Check that every item of the todo list is closed after the last call."""
    facts = evidence.facts
    if not facts.todos:
        return not_applicable("there is no todo list")
    left = facts.open_todos
    if not left:
        return met(f"all {len(facts.todos)} items of the list are closed")
    if any(goal.turn > facts.todos_turn and _TAKEN_BACK.search(goal.text) for goal in facts.goals):
        return None
    return unmet(f"{len(left)} of {len(facts.todos)} todo items are open", left[0].text)


def next_steps(evidence: SessionEvidence) -> RuleOutcome | None:
    """Check that the final message announces no unfinished work. Offers and negations do not count."""
    text = evidence.facts.final_text
    if not text.strip() or _hands_a_plan_over(evidence):
        return None
    if left := next(announced_in(text), ""):
        return unmet("the final message leaves work of its own for later", left)
    return met("the final message leaves nothing of its own for later")


def _hands_a_plan_over(evidence: SessionEvidence) -> bool:
    """Whether the user asked for a plan and nothing was changed: the announced steps are the answer."""
    facts = evidence.facts
    asked = [goal.text for goal in facts.goals if goal.turn >= evidence.goal_turn]
    changed = any(edit.turn >= evidence.goal_turn for edit in facts.edits)
    return not changed and any(_ASKS_FOR_A_PLAN.search(text) for text in asked)


def announced_in(text: str) -> Iterator[str]:
    """The sentences in which a message announces unfinished work of its own."""
    words = _patterns()
    plain = _FENCED.sub("\n", text)
    sentences = [sentence.strip() for sentence in _SENTENCE.split(plain) if sentence.strip()]
    yield from (sentence for sentence in sentences if _announces(sentence, words))
    yield from (each for each in sentences[-1:] if _announces_at_last(each, words))


def _announces(sentence: str, words: _Patterns) -> bool:
    if _ASKS.search(sentence):
        return False
    said = _QUOTED.sub("x", sentence)
    found = words.own.search(said) or words.unspaced.search(said)
    if not found or words.nothing.search(said, 0, found.end()):
        return False
    return not words.no_announcement.search(said)


def _announces_at_last(sentence: str, words: _Patterns) -> bool:
    found = words.last.search(sentence.rstrip(".!"))
    if not found or words.nothing.search(sentence, 0, found.end()):
        return False
    return not words.no_announcement.search(sentence)


@cache
def _patterns() -> _Patterns:
    words = msgspec.convert(table_beside(__file__, "announcements.yaml"), _Words)
    unspaced = [one for each in words.unspaced.values() for one in each]
    return _Patterns(
        own=phrases(*_filled([one for each in words.own.values() for one in each])),
        unspaced=re.compile("|".join(unspaced)),
        last=re.compile(rf"(?:(?<!\w)|(?=\W))(?:{any_of(_filled(words.last))})", re.IGNORECASE),
        nothing=phrases(*words.nothing),
        no_announcement=phrases(*_filled([*words.offers, *words.others, *words.habits])),
    )


def _filled(patterns: Sequence[str]) -> list[str]:
    return [one.replace("DONE", _DONE).replace("LATER", _LATER) for one in patterns]


_MARK = re.compile(  # not "TODO list", which may be a program's subject
    r"\s*@?(?:TODO|FIXME|XXX)\b"
    r"(?!\s*(?:lists?|items?|app|application|entry|entries|comments?|markers?|tags?|file|store|api"
    r"|model)\b)"
    r"|\s*(?i:implement (?:this|me|later)|to be implemented|not (?:yet )?implemented|placeholder\b"
    r"|stub\b(?! out)|stubbed|fill (?:this )?in later|coming soon"
    r"|.*\b(?:goes|belongs|would go|comes) here\b|.*\bhard-?coded for now\b)"
)
_SAYS_SO = r"(?:[^\"'`]{0,40}\W)?(?i:not (?:yet )?implemented|todo\b|unimplemented)"
_RAISES = re.compile(
    r"\s*(?:raise\s+NotImplementedError\b|throw\s+new\s+NotImplementedException|TODO\("
    rf"|throw\s+new\s+\w*(?:Error|Exception)\(\s*[\"'`]{_SAYS_SO}"
    rf"|(?:panic|fatalError|failwith|error|raise|revert|die|croak|abort|fail|stop|bail!|throw)\(?\s*[\"']{_SAYS_SO}"
    rf"|(?:return|=>|=)\s*(?:\w+\.)*(?:Err|Error|Errorf|New|failwith|errors\.New)\(\s*[\"']{_SAYS_SO})"
)
_HOLES = {  # by the ending of the file
    ".rs": re.compile(r"\b(?:todo|unimplemented)!\s*[(\[{]"),
    ".scala": re.compile(r"(?:=|=>)\s*\?\?\?\s*$"),
}
_DEF = re.compile(r"(\s*)(?:async\s+)?def\s+(\w+)\s*\(")
_CLASS = re.compile(r"(\s*)class\s+(\w+)(?:\(([^)]*)\))?")
_ABSTRACT = re.compile(r"\b(?:ABC|ABCMeta|Protocol)\b")
_ABSTRACT_NAME = re.compile(
    r"(?:Base|Abstract|Null|Noop|NoOp|Dummy|Fake)\w*|\w*(?:Base|Protocol|Interface|Mixin|ABC)"
)
_DECLARES = re.compile(r"\s*@(?:\w+\.)*(?:abstract\w*|overload)\b")
_MEANT = phrases("intentionally", "deliberately", r"subclass\w*", "override", "overridden")
_ASKS_FOR_MARK = re.compile(
    r"\b(?i:leave|add|put|keep|mark|insert|write|with|as)\b[^.\n]{0,60}(?<!\w)(?:TODO|FIXME|XXX)\b"
    r"(?!\.\w|[- ]?(?i:lists?|items?|app|application|program|tool|api|service|manager|file))"
    r"|\b(?:TODO|FIXME|XXX)(?:\([^)]*\)|:)|\b(?:TODO|FIXME|XXX)[- ](?:comment|marker|note|mark)"
)
_NAMES_A_HOLE = re.compile(  # the words of languages for missing code
    r"\b(?:todo|unimplemented)!|\bTODO\(|\bNotImplemented(?:Error|Exception)?\b|\?\?\?(?!\?)"
)
_ASKS_FOR_STUB = phrases(
    r"(?:stub|stubs|stubbed|placeholders?|skeleton|scaffold\w*|mock(?:ed|s)?|dummy|empty (?:function"
    r"|method|class|body|bodies"
    r"|implementation)s?|no-?op|leave (?:it|them|the body|the bodies) (?:empty|unimplemented)"
    r"|signatures? only|interface only)"
)
_SIGNS = {  # of comments, by the ending of the file
    suffix: (sign,)
    for sign, suffixes in {
        "#": ".py|.pyi|.sh|.bash|.rb|.pl|.r|.yml|.yaml|.toml|.ex|.exs|.tf|",
        ";": ".clj|.cljs|.cljc|.edn|.lisp|.el|.scm|.rkt",
        "%": ".erl|.hrl|.tex",
        "--": ".sql|.lua|.hs|.elm",
        "<!--": ".html|.xml",
    }.items()
    for suffix in suffixes.split("|")
}
_STRING = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`")
_FENCES = ('"""', "'''")


def philosophy_compliance(evidence: SessionEvidence) -> RuleOutcome | None:
    """Check that the written code has no stub, placeholder or mark of open work, except in tests."""
    if not evidence.written_code:
        return not_applicable("no code was written")
    for path, lines in evidence.written_code.items():
        for line in _unfinished(path, lines):
            if _is_asked_for(evidence):
                return None
            return unmet(f"{path} holds unfinished code", line.strip())
    return met("no mark of unfinished code in the written code")


def _is_asked_for(evidence: SessionEvidence) -> bool:
    """Whether the user asked for a mark of open work, a stub or a placeholder by name."""
    said = evidence.users_words
    return any(
        pattern.search(words) for words in said for pattern in (_ASKS_FOR_MARK, _ASKS_FOR_STUB, _NAMES_A_HOLE)
    )


def _unfinished(path: str, lines: Sequence[str]) -> Iterator[str]:
    """The comments and lines that show unfinished code."""
    yield from (comment for comment in comments_in(path, lines) if _MARK.match(comment))
    hole = _HOLES.get(PurePosixPath(path).suffix)
    for number, line in enumerate(without_long_strings(lines)):
        if hole and hole.search(without_strings(line).split("//")[0]):
            yield line
        if _RAISES.match(line) and not _is_meant(lines, number):
            yield line


def _is_meant(lines: Sequence[str], number: int) -> bool:
    """Whether the line `number` is in an abstract method, or one that is marked to be overridden."""
    for at in range(number - 1, -1, -1):
        found = _DEF.match(lines[at])
        if found and len(found[1]) < _indent(lines[number]):
            return bool(_MEANT.search(" ".join(lines[at:number]))) or _is_declared(lines, at)
    return False


def _is_declared(lines: Sequence[str], number: int) -> bool:
    """Whether the function at `number` is abstract, an overload, or in an abstract class."""
    at = number - 1
    while at >= 0 and lines[at].lstrip().startswith("@"):
        if _DECLARES.match(lines[at]):
            return True
        at -= 1
    for line in reversed(lines[:number]):
        of = _CLASS.match(line)
        if of and len(of[1]) < _indent(lines[number]):
            return bool(_ABSTRACT.search(of[3] or "") or _ABSTRACT_NAME.fullmatch(of[2]))
    return False


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


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
    return _SIGNS.get(suffix, ("//", "/*", "<!--"))


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
