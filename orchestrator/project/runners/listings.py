"""Counts tests in output: by name in TAP, trees of signs and `go test -v`, else by summaries in words."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

import msgspec

from state.decoding import table_beside
from state.hidden import without_codes
from state.records.commands import UNCOUNTED, TestCount, TestState

PASSED, FAILED, SKIPPED = TestState.PASSED, TestState.FAILED, TestState.SKIPPED
_PAIR = re.compile(
    r"(?P<number>\d+) (?P<word>[A-Za-z][a-z]*(?: [a-z]+)*)|(?P<word2>[A-Za-z][a-z]*(?: [a-z]+)*)[=:]"
    r" ?(?P<number2>\d+)"
)
_NOUN = re.compile(r"\b(?:tests?|specs?|examples?|cases?|scenarios?)\b")
_BEHIND = re.compile(r"\s(?:in|after|on|with|took)\b.*")
_TAP_LINE = re.compile(
    r"^(?P<indent> *)(?:(?P<not>not )?ok(?: (?P<number>\d+)(?: - | |$)| - | (?=\S))(?P<name>.*?)"
    r"(?: ?# ?(?P<directive>skip|todo)\b.*)?|# Subtest: (?P<head>.*))$",
    re.IGNORECASE | re.MULTILINE,
)
_TREE_SIGNS = {
    **dict.fromkeys("\u2713\u2714\u221a", TestState.PASSED),
    **dict.fromkeys("\u2715\u2716\u2717\u2718\u00d7", TestState.FAILED),
    **dict.fromkeys("-\u25cb\u25cc\ufe63\u2193\u270e", TestState.SKIPPED),
}
_TREE_LINE = re.compile(
    r"^(?P<indent> *)(?:(?P<sign>"
    r"[\u2713\u2714\u221a\u2715\u2716\u2717\u2718\u00d7\u25cb\u25cc\ufe63\u2193\u270e-]|\d+\)|\u25b6) )?"
    r"(?P<name>\S.*?)(?: \([\d.]+ ?m?s\))?(?P<directive> # (?:SKIP|TODO).*)?$"
)
_GO_LINE = re.compile(
    r"^(?:=== RUN +(?P<run>\S+)"
    r"|[ \t]*--- (?P<state>PASS|FAIL|SKIP): (?P<name>\S+)(?: \(.*\))?"
    r"|(?P<result>ok  |FAIL|\?   )\t(?P<package>\S+)\t?(?P<rest>.*))$",
    re.MULTILINE,
)
_GO_STATES = {"PASS": PASSED, "FAIL": FAILED, "SKIP": SKIPPED}
_GO_NONE = ("[no test files]", "[no tests to run]")


class _Words(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The lists of `words.yaml`, which describes them."""

    canary: dict[str, tuple[str, ...]]
    states: dict[TestState, tuple[str, ...]]


@cache
def runner_words() -> _Words:
    """Return the words of runners, and those for tests that must fail."""
    return msgspec.convert(table_beside(__file__, "words.yaml"), _Words)


@cache
def _state_words() -> Mapping[str, TestState]:
    return {word: state for state, words in runner_words().states.items() for word in words}


def plain(output: str) -> str:
    """Return an output without terminal codes."""
    return without_codes(output).replace("\r", "\n")


def state_of(word: str, more: Mapping[str, str] | None = None) -> TestState | None:
    """Return the state that a runner's word or sign stands for, or None."""
    word = word.strip()
    if more and word in more:
        return TestState(more[word])
    return _state_words().get(word.lower()) or (FAILED if word.startswith("FAIL") else None)


def tally(tests: Iterable[tuple[str, TestState]], *, merge: bool = False) -> TestCount:
    """Return the count of tests in the order in which they were reported.

    Another test with the same name gets a number behind it. With `merge` it is the same test, reported twice,
    because its tear-down failed or it was tried again. The later state counts, but a failure stays.
    """
    told: dict[str, TestState] = {}
    numbers: dict[str, int] = {}
    for name, state in tests:
        if name in told and not merge:
            number = numbers.get(name, 1) + 1
            while f"{name} ({number})" in told:
                number += 1
            told[f"{name} ({number})"], numbers[name] = state, number
        elif told.get(name) is not FAILED:
            told[name] = state
    states = list(told.values())
    return TestCount(
        tests=told, passed=states.count(PASSED), failed=states.count(FAILED), skipped=states.count(SKIPPED)
    )


def word_numbers(words: str) -> Iterator[tuple[str, int]]:
    """Yield the counts in a list such as `3 passed, 1 failed` or `failures=1, skipped=2`."""
    for pair in _PAIR.finditer(words):
        word = _BEHIND.sub("", _NOUN.sub("", pair["word"] or pair["word2"])).strip()
        number = int(pair["number"] or pair["number2"])
        if word in {"", "total"}:
            yield "total", number
        elif len(word) > 1 and (state := state_of(word)):  # `e` and `f` are signs in a list of tests
            yield str(state), number


def numbers_of(patterns: tuple[str, ...], text: str) -> TestCount | None:
    """Return the sum of all summaries that match one of the patterns, or None if none matches."""
    sums = {"passed": 0, "failed": 0, "skipped": 0}
    found = False
    for pattern in patterns:
        for match in re.finditer(pattern, text, re.MULTILINE):
            found = True
            for key, number in numbers_in(match).items():
                sums[key] += number
    if not found:
        return None
    return TestCount(passed=sums["passed"], failed=sums["failed"], skipped=sums["skipped"])


def numbers_in(match: re.Match[str]) -> dict[str, int]:
    """Return passed, failed and skipped of one summary. If it lacks passed, that is the rest of its total."""
    sums = {"passed": 0, "failed": 0, "skipped": 0, "total": 0, "excluded": 0}
    groups = match.groupdict()
    for name, value in groups.items():
        if name != "words" and value:
            sums[name.rstrip("0123456789")] += int(value)
    for key, number in word_numbers(groups.get("words") or ""):
        sums[key] += number
    total, _ = sums.pop("total"), sums.pop("excluded")
    if total and not sums["passed"]:
        sums["passed"] = max(0, total - sums["failed"] - sums["skipped"])
    return sums


def tap_tests(
    text: str, *, begins: str = "", bad: str = "", nested: bool = False
) -> Iterator[tuple[str, TestState]]:
    """Yield the tests, in order.

    `begins` has the group `file` and matches lines in front of a file's tests. `bad` matches lines that
    report that a whole file failed. With `nested` the subtests count as tests, named with the tests around
    them. Without it they are part of their test.
    """
    patterns = [_TAP_LINE, *(re.compile(pattern, re.MULTILINE) for pattern in (begins, bad) if pattern)]
    matches = sorted(
        (match for one in patterns for match in one.finditer(text)), key=lambda match: match.start()
    )
    place = ""
    heads: dict[int, str] = {}
    failing = False
    deepest = -1  # of the tests since the last one that closed something
    for match in matches:
        if match.re is not _TAP_LINE and begins and match.re is patterns[1]:
            place, failing = match["file"], False
            continue
        if match.re is not _TAP_LINE:
            if not failing:  # else its tests failed already
                yield place or "a test file", TestState.FAILED
            continue
        depth = len(match["indent"])
        failing = failing or match["not"] is not None
        if match["head"] is not None:
            heads[depth] = match["head"]
            continue
        closes = deepest > depth
        deepest = depth
        if (depth and not nested) or (nested and closes):
            continue
        above = [name for at, name in sorted(heads.items()) if at < depth]
        name = match["name"].strip().replace(r"\#", "#") or match["number"] or "test"
        yield " > ".join([*([place] if place else []), *above, name]), _tap_state(match)


def _tap_state(match: re.Match[str]) -> TestState:
    if match["directive"]:
        return TestState.SKIPPED
    return TestState.FAILED if match["not"] else TestState.PASSED


def tree_tests(text: str, *, begins: str = "", ends: str = "") -> Iterator[tuple[str, TestState]]:
    """Yield the tests, named with the groups around them, and by file if `begins` has a group `file`.

    With `begins`, lines before its first match are ignored. `ends` matches the line at which the list is
    over. A line that repeats the name of the group around it closes that group.
    """
    place = ""
    listing = not begins
    groups: list[tuple[int, str]] = []
    for line in text.split("\n"):
        if begins and (found := re.match(begins, line)):
            place, listing, groups = found["file"], True, []
            continue
        if ends and re.match(ends, line):
            listing = False
        match = _TREE_LINE.match(line) if listing else None
        if match is None:
            listing = listing or (not begins and line.startswith("\u25b6 "))
            continue
        depth, name, sign = len(match["indent"]), match["name"], match["sign"] or ""
        if not depth and not sign:  # printed by the tests themselves
            continue
        closed = [group for group in groups if group[0] == depth]
        groups = [group for group in groups if group[0] < depth]
        if sign in {"", "\u25b6"}:
            groups.append((depth, name))
        elif (depth, name) not in closed:
            state = TestState.SKIPPED if match["directive"] else _TREE_SIGNS.get(sign, TestState.FAILED)
            yield " > ".join([*([place] if place else []), *(group for _, group in groups), name]), state


def go_count(text: str) -> TestCount:
    """Return the tests of all packages, or UNCOUNTED if they ran without `-v`, which prints no names."""
    packages = [match for match in _GO_LINE.finditer(text) if match["package"]]
    without = [match for match in packages if any(word in match["rest"] for word in _GO_NONE)]
    count = tally(_go_tests(text), merge=True)
    if count.tests:
        return count
    if packages and len(without) == len(packages):
        return TestCount(passed=0, failed=0, skipped=0, says_none=True)
    return UNCOUNTED


def _go_tests(text: str) -> Iterator[tuple[str, TestState]]:
    """Yield the tests, named by package. The tests of a package stand in front of its result line."""
    told: dict[str, TestState | None] = {}
    for match in _GO_LINE.finditer(text):
        if match["run"]:
            told.setdefault(match["run"], None)
        elif match["name"]:
            told[match["name"]] = _GO_STATES[match["state"]]
        else:
            package = match["package"]
            if match["result"] == "FAIL" and not told:  # it could not be built
                yield package, FAILED
            yield from ((f"{package}/{name}", state or FAILED) for name, state in told.items())
            told = {}
    yield from ((name, state or FAILED) for name, state in told.items())


_PLAN = re.compile(r"^1\.\.(\d+)\s*(?:#.*)?$", re.MULTILINE)
_NONE = re.compile(
    r"^[^\w\n]*(?:Ran 0 tests\b|no tests (?:ran|run|found|to run|executed|were (?:found|executed))\b|no t"
    r"est files\b"
    r"|No test(?:s| files?| suites?| cases?)? (?:were )?(?:found|executed|collected|discovered)\b|co"
    r"llected 0 items"
    r"|0 (?:tests?|examples?|specs?|scenarios?)(?:,|\.|$| (?:run|ran|passed|executed|completed|found)\b)"
    r"|(?:Tests?|Tests run|Total tests?|Total|# tests|# TOTAL|Executed)[:=]? +0(?: tests?)?\b(?!"
    r"[.\d])|1\.\.0\s*(?:#.*)?$)",
    re.IGNORECASE | re.MULTILINE,
)
_LONE = re.compile(r"^[\W_]*(?P<word>[A-Za-z][A-Za-z ]*?)\s*[:=]\s*(?P<number>\d+)\W*$")
_LONE_AFTER = re.compile(
    r"^[\W_]*(?P<number>\d+)\s+(?P<word>[A-Za-z][a-z]*(?: [a-z]+)?)\W*(?:\(.*\)|in .*)?$"
)
_RATIO = re.compile(
    r"\b(?P<passed>\d+)\s*(?:/|of|out of)\s*(?P<total>\d+)\s+(?:tests?|specs?|examples?|cases?)\s+"
    r"(?:passed|succeeded|ok)\b",
    re.IGNORECASE,
)
_ALL = re.compile(
    r"\bAll\s+(?P<passed>[1-9]\d*)\s+(?:tests?|specs?|examples?|cases?)\s+(?:passed|successful|succeeded|ok)\b",
    re.IGNORECASE,
)
_TOTAL = frozenset({"total", "tests", "test", "tests run", "total tests", "examples", "specs", "run", "ran"})
_BRACKET = re.compile(r"^\[ *(?P<word>[A-Za-z]+) *\] +(?P<number>\d+) tests?\b")
_OF_TESTS = re.compile(r"\b(?:tests?|specs?|examples?|assertions?)\b", re.IGNORECASE)
_LONGEST = 300  # characters of a summary's line
_FAR = 12  # lines between those of one summary
_FIRST = re.compile(r"\b(?:Ran|Tests run:|Executed)\s+(\d+)\b")


def general_count(text: str) -> TestCount:
    """Return the count in the last summary of a runner outside the table, or UNCOUNTED if it is unreadable.

    An unreadable summary never counts as zero: `says_none` needs words that say so, and no test that passed
    or failed.
    """
    read = _of_tap(text) or _of_ratio(text) or _of_summary(text)
    if (read is None or not (read.passed or read.failed)) and _NONE.search(text):
        return TestCount(passed=0, failed=0, skipped=(read.skipped if read else 0) or 0, says_none=True)
    if read is None or (not read.tests and not (read.passed or read.failed)):
        return UNCOUNTED
    return read


def _of_tap(text: str) -> TestCount | None:
    """Return the count of TAP output, if it has a plan beside the tests."""
    if not _PLAN.search(text):
        return None
    count = tally(tap_tests(text))
    return count if count.tests else None


def _of_ratio(text: str) -> TestCount | None:
    """Return the count in `12 of 12 tests passed` or `All 12 tests passed`."""
    found = list(_RATIO.finditer(text))
    if found:
        passed, total = int(found[-1]["passed"]), int(found[-1]["total"])
        return TestCount(passed=passed, failed=max(0, total - passed))
    every = list(_ALL.finditer(text))
    return TestCount(passed=int(every[-1]["passed"]), failed=0) if every else None


def _of_summary(text: str) -> TestCount | None:
    """Return the count in the last line, or group of lines, with numbers beside words such as "passed"."""
    lines = text.split("\n")
    for at in range(len(lines) - 1, -1, -1):
        told, alone = _numbers(lines[at])
        if not told.keys() & {"passed", "failed"}:
            continue
        for above in reversed(lines[max(0, at - _FAR) : at]):
            more, more_alone = _numbers(above)
            if alone and more_alone:  # one number a line
                told = {key: told.get(key, 0) + more.get(key, 0) for key in {**told, **more}}
            elif more and not more.keys() & told.keys():
                told = {**told, **more}
            elif above.strip():
                break
        return _count_of(told) if told.keys() & {"passed", "total"} else None  # linters count errors too
    return None


def _numbers(line: str) -> tuple[dict[str, int], bool]:
    """Return the counts in a line, and whether it holds a single one. Lines with other words have none."""
    if len(line) > _LONGEST:
        return {}, False
    if found := _LONE.match(line) or _LONE_AFTER.match(line):
        word = found["word"].strip().lower()
        word = "total" if word in _TOTAL else word
        return dict(word_numbers(f"{found['number']} {word}")), True
    if found := _BRACKET.match(line):
        return dict(word_numbers(f"{found['number']} {found['word'].lower()}")), True
    sums: dict[str, int] = {}
    pairs = list(word_numbers(line.lower()))
    if not any(key == "total" for key, _ in pairs) and (first := _FIRST.search(line)):
        pairs.append(("total", int(first[1])))
    for key, number in pairs:
        sums[key] = sums.get(key, 0) + number
    return (sums, False) if len(sums) > 1 or (sums and _OF_TESTS.search(line)) else ({}, False)


def _count_of(told: dict[str, int]) -> TestCount:
    passed, total = told.get("passed"), told.get("total")
    failed, skipped = told.get("failed"), told.get("skipped")
    if passed is None and total is not None:
        passed = max(0, total - (failed or 0) - (skipped or 0))
    if failed is None and passed is not None and total is not None:
        failed = max(0, total - passed - (skipped or 0))
    return TestCount(
        passed=passed, failed=failed if failed is not None else 0 if passed else None, skipped=skipped
    )
