"""Counts the tests that a suite ran, by name if its runners name them, from their reports and output."""

import re
from collections.abc import Sequence
from pathlib import Path

from orchestrator.project.runners.counts.general import general_count
from orchestrator.project.runners.counts.printed import printed_count
from orchestrator.project.runners.counts.reports import reported_count
from orchestrator.project.runners.suite import Suite
from state.records.commands import UNCOUNTED, TestCount, TestState

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\r(?=\n)")
_LONG_LINE = re.compile(r"^(.{2000}).+$", re.MULTILINE)  # no runner's own line is as long


def plain(output: str) -> str:
    """Return an output without terminal codes."""
    return _ANSI.sub("", output).replace("\r", "\n")


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
