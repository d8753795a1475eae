"""Counts the tests that a suite ran, by name if its runners name them, from their reports and output."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from orchestrator.project.runners.listings import (
    FAILED,
    PASSED,
    SKIPPED,
    general_count,
    go_count,
    numbers_of,
    plain,
    state_of,
    tally,
    tap_tests,
    tree_tests,
)
from orchestrator.project.runners.reports import reported_count
from orchestrator.project.runners.row import Printed, Reader
from orchestrator.project.runners.suite import Suite
from state.records.commands import UNCOUNTED, TestCount, TestState

_Tests = Iterator[tuple[str, TestState]]
_MIX_TEST = re.compile(
    r"^(?:(?P<module>[A-Z]\w*(?:\.\w+)*) \[(?P<file>[^\]]+\.exs)\]"
    r"|  \* (?P<name>\S.*?)(?: \((?:(?P<left>excluded|skipped)|[\d.]+ms)\)) \[L#\d+\]"
    r"| +\d+\) (?P<failed>\S.*) \((?P<of>[A-Z][\w.]*)\))$",
    re.MULTILINE,
)
_LONG_LINE = re.compile(r"^(.{2000}).+$", re.MULTILINE)  # no runner's own line is as long


def count(suite: Suite, output: str, exit_code: int | None, reports: Path) -> TestCount:
    """Return the tests that one run of the suite's command ran.

    `output` is everything the command printed, `reports` the folder that was given to `prepare`. A report is
    used if it holds at least as many tests as the output mentions. The output of runners outside the table is
    read with general patterns for summaries.
    """
    text = _LONG_LINE.sub("\\1", plain(output))
    counts: list[TestCount] = []
    for row in suite.runners:
        read = printed_count(row.printed, text, exit_code, alone=len(suite.runners) == 1)
        reported = reported_count(row, reports, suite.folder, text)
        counts.append(_better(reported, read))
    unknown = any(run.runs_tests is None for run in suite.runs) or not suite.runs
    if not counts or (unknown and all(one == UNCOUNTED for one in counts)):
        counts = [general_count(text)] if unknown else counts
    elif all(one == UNCOUNTED for one in counts):
        counts = [general_count(text)]
    return _added(counts)


def _better(reported: TestCount, read: TestCount) -> TestCount:
    """Return the report, unless the output mentions more tests, because a second run overwrote the report."""
    if reported == UNCOUNTED:
        return read
    if read.says_none and not reported.tests:
        return read
    if read.ran is not None and (reported.ran or 0) < read.ran:
        return read
    return reported


def _added(counts: Sequence[TestCount]) -> TestCount:
    known = [one for one in counts if one != UNCOUNTED]
    if len(known) <= 1:
        return known[0] if known else UNCOUNTED
    tests: dict[str, TestState] = {}
    for one in known:
        for name, state in one.tests.items():
            tests[name if name not in tests else f"{name} (2)"] = state
    named = all(one.tests or not one.ran for one in known)
    return TestCount(
        tests=tests if named else {},
        passed=_sum([one.passed for one in known]),
        failed=_sum([one.failed for one in known]),
        skipped=_sum([one.skipped for one in known]),
        says_none=all(one.says_none for one in known) and len(known) == len(counts),
    )


def _sum(numbers: Sequence[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


def printed_count(printed: Printed, text: str, exit_code: int | None, *, alone: bool) -> TestCount:
    """Return the count in the output of a row's runner.

    Names are used only if there are as many as the numbers say. `alone`: the exit code is this runner's own,
    so its codes for "no test" apply.
    """
    if printed.reader is Reader.GO:
        return go_count(text)
    named = tally(_READERS[printed.reader](printed, text))
    numbers = numbers_of(printed.numbers, text)
    told = _agreed(named, numbers)
    none = any(re.search(pattern, text, re.MULTILINE) for pattern in printed.none)
    none = none or (alone and exit_code is not None and exit_code in printed.none_exit_codes)
    if not (told.passed or told.failed) and (none or (told != UNCOUNTED and not told.skipped)):
        return TestCount(passed=0, failed=0, skipped=told.skipped or 0, says_none=True)
    return told


def _agreed(named: TestCount, numbers: TestCount | None) -> TestCount:
    if numbers is None:
        return named if named.tests else UNCOUNTED
    total = (numbers.passed or 0) + (numbers.failed or 0) + (numbers.skipped or 0)
    same_failed = named.failed == numbers.failed
    if named.tests and same_failed and len(named.tests) in {total, total - (numbers.skipped or 0)}:
        return (
            named
            if len(named.tests) == total
            else TestCount(
                tests=named.tests, passed=numbers.passed, failed=numbers.failed, skipped=numbers.skipped
            )
        )
    return numbers


def _by_lines(printed: Printed, text: str) -> _Tests:
    text = text[: _end(printed, text)]
    patterns = [re.compile(pattern, re.MULTILINE) for pattern in (printed.file, *printed.tests) if pattern]
    matches = sorted(
        (match for one in patterns for match in one.finditer(text)), key=lambda match: match.start()
    )
    place = ""
    for match in matches:
        groups = match.groupdict()
        own = groups.get("file") or groups.get("file2") or ""
        if printed.file and match.re is patterns[0]:
            place = own
        elif (state := state_of(groups["state"], printed.states)) is not None:
            yield _full_name(groups, own or place), state


def _full_name(groups: Mapping[str, str | None], place: str) -> str:
    if (inside := groups.get("in")) is not None:  # unittest. Python 3.11 repeats the name inside the brackets
        case = groups["case"] or ""
        return inside if inside.endswith(f".{case}") or inside == case else f"{inside}.{case}"
    name = groups["name"] or ""
    return f"{place} > {name}" if place else name


def _end(printed: Printed, text: str) -> int:
    found = re.search(printed.ends, text, re.MULTILINE) if printed.ends else None
    return found.start() if found else len(text)


def _tree(printed: Printed, text: str) -> _Tests:
    if re.search(r"^TAP version \d+$", text, re.MULTILINE):  # node below 20 without a terminal
        return tap_tests(text, nested=True)
    return tree_tests(text, begins=printed.begins, ends=printed.ends)


def _tap(printed: Printed, text: str) -> _Tests:
    return tap_tests(text[: _end(printed, text)], begins=printed.begins, bad=printed.bad)


def _mix(printed: Printed, text: str) -> _Tests:
    del printed
    states: dict[str, TestState] = {}
    files: dict[str, str] = {}
    place = ""
    for match in _MIX_TEST.finditer(text):
        if match["module"]:
            place = files[match["module"]] = match["file"]
        elif match["name"]:
            states.setdefault(f"{place} > {match['name']}", SKIPPED if match["left"] else PASSED)
        elif match["of"] in files:
            states[f"{files[match['of']]} > {match['failed']}"] = FAILED
    yield from states.items()


_READERS: Mapping[Reader, Callable[[Printed, str], _Tests]] = {
    Reader.LINES: _by_lines,
    Reader.TREE: _tree,
    Reader.TAP: _tap,
    Reader.MIX: _mix,
}
