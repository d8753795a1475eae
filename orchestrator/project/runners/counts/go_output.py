"""Reads the tests in the output of `go test -v`."""

import re
from collections.abc import Iterator

from orchestrator.project.runners.counts.tally import FAILED, PASSED, SKIPPED, tally
from state.records.commands import UNCOUNTED, TestCount, TestState

_LINE = re.compile(
    r"^(?:=== RUN +(?P<run>\S+)"
    r"|[ \t]*--- (?P<state>PASS|FAIL|SKIP): (?P<name>\S+)(?: \(.*\))?"
    r"|(?P<result>ok  |FAIL|\?   )\t(?P<package>\S+)\t?(?P<rest>.*))$",
    re.MULTILINE,
)
_STATES = {"PASS": PASSED, "FAIL": FAILED, "SKIP": SKIPPED}
_NONE = ("[no test files]", "[no tests to run]")


def go_count(text: str) -> TestCount:
    """Return the tests of all packages, or UNCOUNTED if they ran without `-v`, which prints no names."""
    packages = [match for match in _LINE.finditer(text) if match["package"]]
    without = [match for match in packages if any(word in match["rest"] for word in _NONE)]
    count = tally(_tests(text), merge=True)
    if count.tests:
        return count
    if packages and len(without) == len(packages):
        return TestCount(passed=0, failed=0, skipped=0, says_none=True)
    return UNCOUNTED


def _tests(text: str) -> Iterator[tuple[str, TestState]]:
    """Yield the tests, named by package. The tests of a package stand in front of its result line."""
    told: dict[str, TestState | None] = {}
    for match in _LINE.finditer(text):
        if match["run"]:
            told.setdefault(match["run"], None)
        elif match["name"]:
            told[match["name"]] = _STATES[match["state"]]
        else:
            package = match["package"]
            if match["result"] == "FAIL" and not told:  # it could not be built
                yield package, FAILED
            yield from ((f"{package}/{name}", state or FAILED) for name, state in told.items())
            told = {}
    yield from ((name, state or FAILED) for name, state in told.items())
