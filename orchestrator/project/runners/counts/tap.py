"""Reads tests from TAP output, the Test Anything Protocol."""

import re
from collections.abc import Iterator

from state.records.commands import TestState

_LINE = re.compile(
    r"^(?P<indent> *)(?:(?P<not>not )?ok(?: (?P<number>\d+)(?: - | |$)| - | (?=\S))(?P<name>.*?)"
    r"(?: ?# ?(?P<directive>skip|todo)\b.*)?|# Subtest: (?P<head>.*))$",
    re.IGNORECASE | re.MULTILINE,
)


def tap_tests(
    text: str, *, begins: str = "", bad: str = "", nested: bool = False
) -> Iterator[tuple[str, TestState]]:
    """Yield the tests, in order.

    `begins` has the group `file` and matches lines in front of a file's tests. `bad` matches lines that
    report that a whole file failed. With `nested` the subtests count as tests, named with the tests around
    them. Without it they are part of their test.
    """
    patterns = [_LINE, *(re.compile(pattern, re.MULTILINE) for pattern in (begins, bad) if pattern)]
    matches = sorted(
        (match for one in patterns for match in one.finditer(text)), key=lambda match: match.start()
    )
    place = ""
    heads: dict[int, str] = {}
    failing = False
    deepest = -1  # of the tests since the last one that closed something
    for match in matches:
        if match.re is not _LINE and begins and match.re is patterns[1]:
            place, failing = match["file"], False
            continue
        if match.re is not _LINE:
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
        yield " > ".join([*([place] if place else []), *above, name]), _state(match)


def _state(match: re.Match[str]) -> TestState:
    if match["directive"]:
        return TestState.SKIPPED
    return TestState.FAILED if match["not"] else TestState.PASSED
