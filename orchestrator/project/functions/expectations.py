"""Tests that expect another result: an honest test then fails, whatever it is about.

One that passes compares nothing, or the product looks at the test, or returns what equals anything. Only
equality with a number or a text is altered, on lines whose other words leave no doubt that it is asserted.
(product.md, section 12)
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_NUMBER = r"\d[\d_]*(?![\w.]|\s*\.\.)(?:\.\d+)?|\d+\.\d+(?![\w.])"
_TEXT = r"""b?"(?:[^"\\\n${#]|\\[^(])+"|b?'(?:[^'\\\n${#]|\\[^(]){2,}'"""
_VALUE = rf"(?P<value>{_NUMBER}|{_TEXT})"
_OPENED = r"(?:&?(?:vec!)?[\[({])*\s*-?"
_ASSERTED = re.compile(r"\b(?:assert|expect|should|must|check|require|CHECK|REQUIRE|ASSERT|EXPECT|ok)\w*!?\b")
_EQUAL = re.compile(
    rf"(?<![=!<>])={{2,3}}\s*{_OPENED}{_VALUE}|(?<![\w.\"'\])]){_VALUE.replace('value', 'first')}\s*={{2,3}}"
)
_UNLIKE = re.compile(rf"^\s*(?:\}}\s*else\s+)?if\b.*!=\s*{_VALUE}\s*\{{\s*$")
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
    r"|Almost|Delta|Epsilon|approx|[cC]lose|near|NEAR|assertRaises|^\s*(?:#|//|\*|/\*|--)"
)
_REMARK = re.compile(r"\s*(?:#|//|\*|/\*|--)")
_BRANCH = re.compile(r"\s*if\b.*\{\s*$")
_EXISTS = re.compile(  # a result is there, or has a type
    r"^\s*assert\s[^=<>]*(?:\bis not None\b|\bisinstance\([^=<>]*\))\s*(?:,.*)?$"
    r"|\bassert(?:IsNotNone|_?[nN]ot_?[nN]ull?|_not_nil|IsInstance|InstanceOf|_instance_of|_kind_of)\("
    r"|\bassertIs(?:Int|String|Array|Float|Numeric|Bool|Object)\(|\b(?:refute_nil|wont_be_nil)\b"
    r"|\.toBeDefined\(\)|\.not\.toBe(?:Null|Undefined|NaN)\(\)|\.toBeInstanceOf\("
    r"|\b(?:assert|ok)\(.*!==?\s*(?:null|undefined)\s*[,)]|\b(?:assert|ok|equal|strictEqual)\(\s*typeof\b"
    r"|\bnot(?:Strict)?Equal\([^,]*(?:\([^)]*\))?,\s*(?:null|undefined)\b"
    r"|\b(?:not_to|to_not)\s+be_nil\b|\bto\s+be_an?(?:_kind_of|_instance_of)?\b|\b(?:ok\(defined|isnt\([^;]*undef)\b"
    r"|^\s*if\s+(?!err\b)[^=]*==\s*nil\s*\{"
)
_UNIT_IN_DOUBT = re.compile(r"AssertionError|xfail|should_panic|expectedFailure|skip", re.IGNORECASE)
_SCOPE = re.compile(r"::|[#>»:/.]")
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
    starts = sorted({one for at in (*places.values(), *more.values()) for one in at})
    pieces: dict[int, str] = {}
    titles: dict[str, tuple[str, ...]] = {}
    for title, names in heads.items():
        parts = {one: text[one : _end(starts, one, text)] for one in places[title]}
        new = {one: _altered(part) for one, part in parts.items()}
        doubtful = title in kept or any(_UNIT_IN_DOUBT.search(part) for part in parts.values())
        if not doubtful and all(new[one] != parts[one] for one in parts):
            pieces |= new
            titles[title] = tuple(names)
    told = [text[: starts[0]]] if starts else [text]
    told += [pieces.get(one, text[one : _end(starts, one, text)]) for one in starts]
    return Altered(text="".join(told), titles=titles)


def comparing_nothing(text: str, tests: Iterable[str], others: Iterable[str] = ()) -> list[str]:
    """Return the tests that only assert that there is a result, or of which type it is."""
    heads, places = _heads(text, tests)
    _, more = _heads(text, others)
    starts = sorted({one for at in (*places.values(), *more.values()) for one in at})
    found = []
    for title, names in heads.items():
        parts = [text[one : _end(starts, one, text)] for one in places[title]]
        if all(_compares_nothing(part) for part in parts):
            found += names
    return found


def _compares_nothing(part: str) -> bool:
    lines = part.split("\n")
    asserting = [
        line for number, line in enumerate(lines) if _asserts(line, "\n".join(lines[number + 1 : number + 3]))
    ]
    return bool(asserting) and all(_EXISTS.search(line) for line in asserting)


def _asserts(line: str, below: str) -> bool:
    if _BRANCH.match(line):
        return bool(_FAILS.search(below))
    every = (_ASSERTED, _CALL, _IN_SHELL)
    return not _REMARK.match(line) and any(one.search(line) for one in every)


def _heads(text: str, tests: Iterable[str]) -> tuple[dict[str, list[str]], dict[str, list[int]]]:
    """Return the names of the tests in a text, and where their lines begin, by their titles there."""
    names: dict[str, list[str]] = {}
    places: dict[str, list[int]] = {}
    for name in tests:
        title, at = _head(text, name)
        if at:
            names.setdefault(title, []).append(name)
            places[title] = at
    return names, places


def _end(starts: list[int], start: int, text: str) -> int:
    return next((one for one in starts if one > start), len(text))


def _head(text: str, name: str) -> tuple[str, list[int]]:
    """Return a test's title in a text, and where the lines with it begin."""
    plain = _PARAMETERS.sub("", name).strip() or name
    own = (
        _SCOPE.split(plain)[-1].strip()
        if not re.search(r"\s", plain)
        else re.split(r"::|[#>»]", plain)[-1].strip()
    )
    words = own.split(" ")
    for first in range(len(words)):
        title = " ".join(words[first:])
        escaped = re.escape(title)
        found = re.finditer(
            rf"""(?:^|(?<=\n))[^\n]*?(?:\w[ \t]+{escaped}[ \t]*\(|(["'`]){escaped}\1)""", text
        )
        if at := [one.start() for one in found]:
            return title, at
    return own, []


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
    if _DOUBTFUL.search(line):
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
