"""Finds the failing part of a command's output, so that a prompt shows it and not a list of passing tests."""

import re
from collections.abc import Iterator, Sequence

from orchestrator.project.runners.row import Reader
from orchestrator.project.runners.suite import Suite

CUT = "[…]"
_GO_TEST = re.compile(r"^=== (?:RUN|NAME|CONT) +(?P<name>\S+)")
_GO_RESULT = re.compile(r"^[ \t]*--- (?P<state>PASS|FAIL|SKIP): (?P<name>\S+)")
_GO_REST = re.compile(r"^(?:ok  \t|\?   \t|=== (?:RUN|PAUSE|CONT|NAME) |PASS$)")
_COMPLAINT = re.compile(r"\bfail|error\b|\bpanic|exception\b|traceback|\bassert|not ok|[✗✖✕]", re.IGNORECASE)
_IS_GOOD = re.compile(
    r"\bPASS(?:ED)?\b|\bpassed\b|^\s*(?:ok|[✓✔√])[ \t]|\b(?:0|no) (?:fail|error)", re.IGNORECASE
)
_BEFORE, _AFTER = 2, 8  # lines around a complaint


def failing_part(suite: Suite, output: str, most: int) -> str:
    """Return the part of a failed command's output that shows its failures, in at most `most` characters.

    It begins at the mark with which the runner begins its failures. Without a mark it is the lines around the
    complaints, or "" if there are none.
    """
    for row in suite.runners:
        if row.printed.reader is Reader.GO and (blocks := "\n".join(_go_blocks(output.split("\n")))):
            return _cut(blocks, most)
        if row.printed.failing.begins and (
            mark := re.search(row.printed.failing.begins, output, re.MULTILINE)
        ):
            return _cut(output[mark.start() :], most)
    return _cut("\n".join(_around(output.split("\n"))), most)


def _go_blocks(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines of failing tests, and those outside tests, such as errors of the build."""
    results = [found for line in lines if (found := _GO_RESULT.match(line))]
    failing = {found["name"] for found in results if found["state"] == "FAIL"}
    if not failing:
        return
    shown = True
    for line in lines:
        if found := _GO_TEST.match(line):
            shown = found["name"] in failing
        elif found := _GO_RESULT.match(line):
            shown = found["state"] == "FAIL"
        elif re.match(r"^(?:ok  |FAIL|\?   )\t", line):
            shown = True
        if shown and not _GO_REST.match(line):
            yield line


def _around(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines around each complaint, with a mark for those that are left out between."""
    bad = [at for at, line in enumerate(lines) if _COMPLAINT.search(line) and not _IS_GOOD.search(line)]
    shown = sorted(
        {near for at in bad for near in range(at - _BEFORE, at + _AFTER + 1) if 0 <= near < len(lines)}
    )
    last = -1
    for at in shown:
        if at > last + 1:
            yield CUT
        yield lines[at]
        last = at


def _cut(text: str, most: int) -> str:
    """Return a text without its middle if it is too long: the first failures, and the summary at its end."""
    text = text.strip("\n")
    if len(text) <= most:
        return text
    begin, end = text[: most * 3 // 4], text[-most // 5 :]
    return f"{begin.rpartition(chr(10))[0] or begin}\n{CUT}\n{end.partition(chr(10))[2] or end}"
