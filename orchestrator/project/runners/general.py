"""Reads the output of unknown test runners: counts beside words for passing and failing."""

import re

from orchestrator.project.runners.listings import tally, tap_tests, word_numbers
from state.records.commands import UNCOUNTED, TestCount

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
_NOUN = re.compile(r"\b(?:tests?|specs?|examples?|assertions?)\b", re.IGNORECASE)
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
    return (sums, False) if len(sums) > 1 or (sums and _NOUN.search(line)) else ({}, False)


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
