"""Reads how tests ended from the output of any runner, first in general, then by known runners' lines.

The general reading is the one that counts a verification of a run (`project.runners.counts.general`).
"""

import re

from orchestrator.gates.power_steering.facts.records import RunOutcome
from orchestrator.project.runners.counts.general import general_count

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07")
_COUNTS = re.compile(  # pytest, and lines of the same shape: "1 failed, 2 passed in 0.1s"
    r"^=*[ ]?((?:\d+ (?:(?:subtests )?passed|failed|errors?|skipped|xfailed|xpassed|deselected|warnings?"
    r"|rerun)(?:, )?)+)(?: in [\d.:hms ()]+)?[ ]?=*$",
    re.MULTILINE,
)
_FAILING = re.compile(
    r"^(?:FAILED\b|ERROR (?:\S+::|collecting)|FAIL\b|--- FAIL|FAILURES!|ERRORS!|not ok \d|Failed!\s"
    r"|BUILD FAIL|test result: FAILED|\[(?:ERROR|INFO)\] .*BUILD FAILURE|=*[ ]?no tests ran\b"
    r"|[ \t]*[1-9]\d* failing\b|[#\u2139] fail [1-9]"
    r"|\d+ examples?, [1-9]\d* failures?"
    r"|[ \t]*Tests?(?: Suites| Files)?:? .*\b[1-9]\d* failed\b|[ \t]*Summary \[.*\b[1-9]\d* failed\b"
    r"|.*Failures: [1-9]|.*Errors: [1-9]|\d+% tests passed, [1-9]\d* tests? failed|[ \t]+\S+: FAIL\b"
    r"|\d+ (?:runs|tests), \d+ assertions, (?:\d+ failures, [1-9]|[1-9])|Result: FAIL$"
    r"|\d+:\d\d \+\d+(?: ~\d+)? -\d+: Some tests failed"
    r"|[ \t]*NX   (?:Running|Ran) targets? .* failed|[ \t]*Tasks:[ \t]+\d+ successful, [1-9]\d* failed"
    r"|nox > Session .* failed|npm ERR!|npm error|error: test failed|error Command failed)",
    re.MULTILINE,
)
_PASSING = re.compile(
    r"^(?:OK(?: \(.*\))?$|ok[ \t]+\S+[ \t]+(?:[\d.]+s|\(cached\))|ok \d+\b|ok$|PASS$|Passed!\s"
    r"|test result: ok\.|[ \t]*[1-9]\d* passing\b|[#\u2139] pass [1-9]|[1-9]\d* examples?, 0 failures"
    r"|All tests passed|[ \t]*Tests?:? .*\b[1-9]\d* passed\b|[ \t]*Summary \[.*\b[1-9]\d* passed\b"
    r"|.*Tests run: [1-9]|100% tests passed|BUILD SUCCESS|\[INFO\] BUILD SUCCESS|[ \t]+congratulations :\)"
    r"|[ \t]*Testing \S+ tests passed|All tests successful|Result: PASS$|\d+ of \d+ test suites .*passed"
    r"|[ \t]*[1-9]\d* (?:runs|tests), \d+ assertions, 0 failures, 0 errors|0 errors .*\| 0 warnings"
    r"|\d+:\d\d \+\d+(?: ~\d+)?: All tests passed|[ \t]*NX   Successfully ran targets?\b"
    r"|nox > Session .* was successful)",
    re.MULTILINE,
)
_CARGO = re.compile(r"^test result: (ok|FAILED)\. (\d+) passed", re.MULTILINE)  # one for each crate
_MINITEST = re.compile(  # failures and errors, one line for each suite
    r"^[1-9]\d* (?:runs|tests), \d+ assertions, (\d+) failures, (\d+) errors", re.MULTILINE
)
_ANY_NUMBER_FAILED = re.compile(r"\b[1-9]\d* (?:failed|errors?)\b")
_ANY_NUMBER_PASSED = re.compile(r"\b[1-9]\d* passed\b")


def summary_of(output: str) -> RunOutcome:
    """Return the outcome in the summary lines of a test runner's output. Words elsewhere are ignored."""
    text = _ANSI.sub("", output).replace("\r", "")
    counted = counted_of(text)
    counts = [found[1] for found in _COUNTS.finditer(text)]
    if counted is RunOutcome.FAILED or _FAILING.search(text) or any(map(_ANY_NUMBER_FAILED.search, counts)):
        return RunOutcome.FAILED
    if counted is RunOutcome.PASSED or _PASSING.search(text) or any(map(_ANY_NUMBER_PASSED.search, counts)):
        return RunOutcome.PASSED
    return RunOutcome.UNKNOWN


def counted_of(output: str) -> RunOutcome:
    """Return the outcome by the counts in an output, for any runner."""
    text = _ANSI.sub("", output).replace("\r", "")
    if minitest := [int(count) for found in _MINITEST.findall(text) for count in found]:
        return RunOutcome.FAILED if any(minitest) else RunOutcome.PASSED
    if crates := _CARGO.findall(text):
        passed = any(int(number) for _, number in crates)
        unknown = RunOutcome.PASSED if passed else RunOutcome.UNKNOWN
        return RunOutcome.FAILED if any(word == "FAILED" for word, _ in crates) else unknown
    count = general_count(text)
    if count.failed:
        return RunOutcome.FAILED
    return RunOutcome.PASSED if count.passed else RunOutcome.UNKNOWN


def ran_none(output: str) -> bool:
    """Whether an output reports that no test was run."""
    return general_count(_ANSI.sub("", output).replace("\r", "")).says_none
