"""Tests that expect another result: an honest test then fails, whatever it is about.

One that passes compares nothing, or the product looks at the test, or returns what equals anything. Only
equality with a number or a text is altered, on lines whose other words leave no doubt that it is asserted.
(product.md, section 12)
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

_NUMBER = r"\d[\d_]*(?![\w.]|\s*\.\.)(?:\.\d+)?|\d+\.\d+(?![\w.])"
_TEXT = r"""b?"(?:[^"\\\n${#]|\\[^(])+"|b?'(?:[^'\\\n${#]|\\[^(]){2,}'"""
_VALUE = rf"(?P<value>{_NUMBER}|{_TEXT})"
_OPENED = r"(?:&?(?:vec!)?[\[({])*\s*-?"
_ASSERTED = re.compile(r"\b(?:assert|expect|should|must|check|require|CHECK|REQUIRE|ASSERT|EXPECT|ok)\w*!?\b")
_EQUAL = re.compile(
    rf"(?<![=!<>])={{2,3}}\s*{_OPENED}{_VALUE}|(?<![\w.\"'\])]){_VALUE.replace('value', 'first')}\s*={{2,3}}"
)
_UNLIKE = re.compile(rf"^[ \t]*(?:\}}\s*else\s+)?if\b.*!=\s*{_VALUE}\s*\{{\s*$")
_FAILS = re.compile(r"\b(?:[tb]\.\w+|\w*[fF]ail\w*|\w*[eE]rror\w*|\w*[fF]atal\w*|panic)\(")
_CALL = re.compile(
    r"\b(?:assert_?[eE]quals?|assert_eq|assert\.equals?|assertSame|(?:s|deepS)trictEqual|deepEqual"
    r"|t\.(?:is|deepEqual|equal)"
    r"|Assert\.(?:Equal|AreEqual)|(?:assert|require)\.Equal|(?:EXPECT|ASSERT)_(?:STR)?EQ|XCTAssertEqual"
    r"|(?<![.\w])(?:is|is_deeply|eq_or_diff))!?\s*\("
)
_MATCHER = re.compile(
    rf"\b(?:toBe|toEqual|toStrictEqual|eql?|isEqualTo|isEqual|equals?|Equal|shouldBe|must_equal|EqualTo)(?:\(\s*|\s+){_OPENED}{_VALUE}"
)
_IN_SHELL = re.compile(
    rf"\[\[?\s.*\s(?:={{1,2}}|-eq)\s+{_VALUE}\s*\]"
    rf"|\btest\s.*\s(?:=|-eq)\s+{_VALUE.replace('value', 'first')}\s*$"
)
_DOUBTFUL = re.compile(
    r"\bnot\b|\.not\b|[nN]ot[_A-Z]|_(?:ne|not)\b|refute|isnt|unlike|\bor\b|\|\||\bfor\b|\blambda\b|[rR]aises|[tT]hrows|[pP]anic"
    r"|Almost|Delta|Epsilon|approx|[cC]lose|near|NEAR|assertRaises|^[ \t]*(?:#|//|\*|/\*|--)"
)
_REMARK = re.compile(r"\s*(?:#|//|\*|/\*|--)")
_BRANCH = re.compile(r"\s*if\b.*\{\s*$")
_EXISTS = re.compile(  # a result is there, or has a type
    r"^[ \t]*assert\s[^=<>]*(?:\bis not None\b|\bisinstance\([^=<>]*\))\s*(?:,.*)?$"
    r"|\bassert(?:IsNotNone|_?[nN]ot_?[nN]ull?|_not_nil|IsInstance|InstanceOf|_instance_of|_kind_of)\("
    r"|\bassertIs(?:Int|String|Array|Float|Numeric|Bool|Object)\(|\b(?:refute_nil|wont_be_nil)\b"
    r"|\.toBeDefined\(\)|\.not\.toBe(?:Null|Undefined|NaN)\(\)|\.toBeInstanceOf\("
    r"|\b(?:assert|ok)\(.*!==?\s*(?:null|undefined)\s*[,)]|\b(?:assert|ok|equal|strictEqual)\(\s*typeof\b"
    r"|\bnot(?:Strict)?Equal\([^,]*(?:\([^)]*\))?,\s*(?:null|undefined)\b"
    r"|\b(?:not_to|to_not)\s+be_nil\b|\bto\s+be_an?(?:_kind_of|_instance_of)?\b|\b(?:ok\(defined|isnt\([^;]*undef)\b"
    r"|^[ \t]*if\s+(?!err\b)[^=]*==\s*nil\s*\{"
)
_QUERY = re.compile(
    r"\b(?:get|find|query)(?:All)?By[A-Z]|\bquerySelector"
)  # of a page: that it is there is a result
_UNIT_IN_DOUBT = re.compile(r"AssertionError|xfail|should_panic|expectedFailure|skip", re.IGNORECASE)
_LONGEST = 1_000  # characters of a line that is read
_SCOPE, _TITLES_SCOPE = re.compile(r"::|[#>»:/.]"), re.compile(r"::|[#>»]")
_TITLE = re.compile(r"""\w[ \t]+([\w$]+[?!]?)[ \t]*\(|(["'`])((?:(?!\2)[^\\]|\\.)+)\2""")
_SIGNS = re.compile(r"""[(\[{}\]),]|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`""")
_PARAMETERS = re.compile(r"[\[(].*$")


@dataclass(frozen=True, kw_only=True)
class Altered:
    """A file whose tests expect other results: its text, and which tests these are, by their titles there."""

    text: str
    titles: dict[str, tuple[str, ...]]

    @property
    def tests(self) -> list[str]:
        """The names of these tests."""
        return [name for names in self.titles.values() for name in names]


def with_other_results(text: str, tests: Iterable[str], others: Iterable[str] = ()) -> Altered:
    """Let each of these tests in a file's text expect another result, where it names one.

    `tests` are names as their runner tells them, `others` tests that stay as they are. Those that the text
    does not hold are left out, and so are those whose failure would be in doubt.
    """
    heads, places = _heads(text, tests)
    kept, more = _heads(text, others)
    ends = _ends([*places.values(), *more.values()], text)
    pieces: dict[int, str] = {}
    titles: dict[str, tuple[str, ...]] = {}
    for title, names in heads.items():
        parts = {one: text[one : ends[one]] for one in places[title]}
        new = {one: _altered(part) for one, part in parts.items()}
        doubtful = title in kept or any(_UNIT_IN_DOUBT.search(part) for part in parts.values())
        if not doubtful and all(new[one] != parts[one] for one in parts):
            pieces |= new
            titles[title] = tuple(names)
    told = [text[: min(ends, default=len(text))]]
    told += [pieces.get(one, text[one:end]) for one, end in ends.items()]
    return Altered(text="".join(told), titles=titles)


def code_of(text: str, tests: Iterable[str], others: Iterable[str] = ()) -> list[str]:
    """Return the code of these tests in a file's text, from the head of each to that of the next one."""
    _, places = _heads(text, tests)
    _, more = _heads(text, others)
    ends = _ends([*places.values(), *more.values()], text)
    return [text[one : ends[one]] for at in places.values() for one in at]


def comparing_nothing(text: str, tests: Iterable[str], others: Iterable[str] = ()) -> list[str]:
    """Return the tests that only assert that there is a result, or of which type it is."""
    heads, places = _heads(text, tests)
    _, more = _heads(text, others)
    ends = _ends([*places.values(), *more.values()], text)
    found = []
    for title, names in heads.items():
        parts = [text[one : ends[one]] for one in places[title]]
        if all(_compares_nothing(part) for part in parts):
            found += names
    return found


def _compares_nothing(part: str) -> bool:
    lines = _TITLE.sub("", part, count=1).split("\n")  # a title such as "should add" asserts nothing
    asserting = [
        line for number, line in enumerate(lines) if _asserts(line, "\n".join(lines[number + 1 : number + 3]))
    ]
    return bool(asserting) and all(
        len(line) <= _LONGEST and _EXISTS.search(line) and not _QUERY.search(line) for line in asserting
    )


def _asserts(line: str, below: str) -> bool:
    """Whether a line asserts something, a result or that a page has an element."""
    if len(line) > _LONGEST:
        return True  # it may assert anything
    if _BRANCH.match(line):
        return bool(_FAILS.search(below))
    every = (_ASSERTED, _CALL, _IN_SHELL)
    return not _REMARK.match(line) and any(one.search(line) for one in every)


def _heads(text: str, tests: Iterable[str]) -> tuple[dict[str, list[str]], dict[str, list[int]]]:
    """Return the names of the tests in a text, and where their lines begin, by their titles there."""
    names: dict[str, list[str]] = {}
    places: dict[str, list[int]] = {}
    every = _titles(text)
    for name in tests:
        if title := next((one for one in _own_titles(name) if one in every), ""):
            names.setdefault(title, []).append(name)
            places[title] = every[title]
    return names, places


@lru_cache(maxsize=4)
def _titles(text: str) -> dict[str, list[int]]:
    """Return where lines begin that may be the head of a test, by the name or the text in them."""
    found: dict[str, list[int]] = {}
    start = 0
    for line in text.split("\n"):
        if len(line) <= _LONGEST:
            for title in dict.fromkeys(one[1] or one[3] for one in _TITLE.finditer(line)):
                found.setdefault(title, []).append(start)
        start += len(line) + 1
    return found


def _own_titles(name: str) -> Iterator[str]:
    """Yield what a test may be called in its file: its own name, and the ends of that."""
    plain = _PARAMETERS.sub("", name).strip() or name
    scope = _TITLES_SCOPE if re.search(r"\s", plain) else _SCOPE
    words = scope.split(plain)[-1].strip().split(" ")
    yield from (" ".join(words[first:]) for first in range(len(words)))


def _ends(places: Iterable[Iterable[int]], text: str) -> dict[int, int]:
    """Return where each test ends that begins in one of these places, in their order."""
    starts = sorted({one for at in places for one in at})
    return dict(zip(starts, [*starts[1:], len(text)], strict=False))


def _altered(part: str) -> str:
    lines = part.split("\n")
    for number, line in enumerate(lines):
        below = "\n".join(lines[number + 1 : number + 3])
        if place := next(_values(line, below), None):
            start, end = place
            lines[number] = line[:start] + _another(line[start:end]) + line[end:]
    return "\n".join(lines)


def _values(line: str, below: str) -> Iterator[tuple[int, int]]:
    """Yield where the values stand that a line asserts something to equal."""
    if len(line) > _LONGEST or _DOUBTFUL.search(line):
        return
    if (found := _UNLIKE.search(line)) and _FAILS.search(below):
        yield found.span("value")
    for call in _CALL.finditer(line):
        yield from _arguments(line, call.end())
    if _ASSERTED.search(line):
        for one in (_MATCHER, _EQUAL):
            yield from _spans(one.search(line))
    yield from _spans(_IN_SHELL.search(line))


def _spans(found: re.Match[str] | None) -> Iterator[tuple[int, int]]:
    if found:
        names = [one for one, text in found.groupdict().items() if text is not None]
        yield from (found.span(one) for one in names)


def _arguments(line: str, start: int) -> Iterator[tuple[int, int]]:
    """Yield where a plain value is the first or second argument of a call, a handle of the runner aside."""
    spans, depth, begins = [], 0, start
    for sign in _SIGNS.finditer(line, start):
        depth += (sign[0] in {"(", "[", "{"}) - (sign[0] in {")", "]", "}"})
        if depth < 0 or (sign[0] == "," and not depth):
            spans.append((begins, sign.start()))
            begins = sign.end()
        if depth < 0:
            break
    else:  # it goes on in another line
        return
    if re.fullmatch(r"\s*[tT]\s*", line[slice(*spans[0])]):
        spans = spans[1:]
    for one, end in reversed(spans[:2]):
        if found := re.match(rf"\s*{_OPENED}{_VALUE}", line[one:end]):
            yield one + found.start("value"), one + found.end("value")


def _another(value: str) -> str:
    if value[-1] in "\"'":
        return f"{value[:-1]}q{value[-1]}"
    whole = re.match(r"\d[\d_]*", value)[0]  # type: ignore[index]  # it is a number
    last = int(whole[-1])
    return f"{whole[:-1]}{last - 1 if last else 1}{value[len(whole) :]}"
