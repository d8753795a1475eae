"""Reads the output of a failed suite: why it could not run, and the part that shows its failures.

A suite cannot run if a program is missing, if nothing is there yet, or if its runner stopped.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import msgspec

from orchestrator.project.runners.row import Reader
from orchestrator.project.runners.suite import Suite
from orchestrator.project.shell import NOT_STARTED
from state.decoding import table_beside
from state.records.commands import TestCount

_REPORTED = re.compile(r"^=+ (?:FAILURES|ERRORS|short test summary info) =+$", re.MULTILINE)
_LONGEST = 200
CUT = "[…]"
_GO_TEST = re.compile(r"^=== (?:RUN|NAME|CONT) +(?P<name>\S+)")
_GO_RESULT = re.compile(r"^[ \t]*--- (?P<state>PASS|FAIL|SKIP): (?P<name>\S+)")
_GO_REST = re.compile(r"^(?:ok  \t|\?   \t|=== (?:RUN|PAUSE|CONT|NAME) |PASS$)")
_COMPLAINT = re.compile(r"\bfail|error\b|\bpanic|exception\b|traceback|\bassert|not ok|[✗✖✕]", re.IGNORECASE)
_IS_GOOD = re.compile(
    r"\bPASS(?:ED)?\b|\bpassed\b|^[ \t]*(?:ok|[✓✔√])[ \t]|\b(?:0|no) (?:fail|error)", re.IGNORECASE
)
_BEFORE, _AFTER = 2, 8  # lines around a complaint


class _Messages(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The patterns of `messages.yaml`, which describes them."""

    shell: tuple[str, ...]
    starters: tuple[str, ...]
    toolchains: tuple[tuple[str, str], ...]
    modules: tuple[str, ...]
    packages: tuple[str, ...]
    nothing: tuple[str, ...]
    causes: tuple[str, ...]


@cache
def _messages() -> _Messages:
    return msgspec.convert(table_beside(__file__, "messages.yaml"), _Messages)


def missing_program(suite: Suite, output: str, exit_code: int | None) -> str:
    """Return the program, toolchain or runner's own module that the output reports as missing, or "" if none.

    A missing file inside the project does not count, and neither does a module of the project that cannot be
    imported.
    """
    if exit_code == 0:
        return ""
    if (module := _missing_module(suite, output)) != "":
        return module
    for pattern, words in _messages().toolchains:
        if match := re.search(pattern, output, re.MULTILINE):
            return words.format(**match.groupdict())
    for pattern in (*_messages().shell, *_messages().starters):
        for match in re.finditer(pattern, output, re.MULTILINE):
            groups = match.groupdict()
            name = groups.get("name") or (f"cargo-{groups['cargo']}" if groups.get("cargo") else "")
            if (
                name
                and not _is_inside(suite, name)
                and _is_told_by_exit(suite, name, output, exit_code, pattern)
            ):
                return name
    return ""


def misses(output: str) -> bool:
    """Whether an output names a program or a module as missing, of the project or of its environment."""
    every = (_messages().shell, _messages().starters, _messages().modules, _messages().packages)
    return any(re.search(one, output, re.MULTILINE) for patterns in every for one in patterns)


def nothing_yet(suite: Suite, output: str, exit_code: int | None, count: TestCount) -> str:
    """Return the output's reason why the tree has nothing to run yet, or "" if it gives none."""
    if count.passed or count.failed:
        return ""
    patterns = [pattern for row in (*suite.runners, *suite.carriers) for pattern in row.absent.nothing]
    if exit_code != 0 or count.says_none:
        for pattern in (*_messages().nothing, *patterns):
            if match := re.search(pattern, output, re.MULTILINE):
                return " ".join((match.groupdict().get("why") or match[0]).split())[:_LONGEST]
    if count.says_none:
        return "it ran no test" if count.skipped else "no test was found"
    return ""


def broke_off(suite: Suite, output: str, exit_code: int | None, count: TestCount) -> str:
    """Return the runner's name and why it stopped before any test, or "" if it ran some or failed otherwise.

    A runner that reports an error of its own has stopped, whatever it ran before that.
    """
    if exit_code == 0:
        return ""
    after = _REPORTED.split(output)[-1]  # tests that ran and failed may print the same words
    for row in suite.runners:
        for pattern in row.printed.failing.breaks:
            if match := re.search(pattern, after, re.MULTILINE):
                return f"{row.name}: {_why(match, output)}"
        unloaded = (
            list(re.finditer(row.printed.failing.unloaded, output, re.MULTILINE))
            if row.printed.failing.unloaded
            else []
        )
        if unloaded and not count.passed and (count.failed or 0) <= len(unloaded):
            return f"{row.name}: {_why(unloaded[0], output)}"
    return ""


def _why(match: re.Match[str], output: str) -> str:
    """Return the cause that a match names, else the first one in the output, else the matched line."""
    causes = (re.search(pattern, output, re.MULTILINE) for pattern in _messages().causes)
    told = match.groupdict().get("why") or next((found["why"] for found in causes if found), match[0])
    return " ".join(told.split())[:_LONGEST]


def _missing_module(suite: Suite, output: str) -> str:
    own = {module for row in (*suite.runners, *suite.carriers) for module in row.absent.modules}
    own |= {run.simple.name for run in suite.runs}
    for pattern in _messages().modules:
        for match in re.finditer(pattern, output):
            name = match["name"].strip(".")
            first = re.split(r"[./]", name)[0]
            if (name in own or first in own) and not _is_of_project(suite, first):
                return first
    return ""


def _is_of_project(suite: Suite, module: str) -> bool:
    places = (suite.folder, suite.folder / "src", suite.folder / "lib")
    return any(
        (place / name).exists() for place in places for name in (module, f"{module}.py", f"{module}.rb")
    )


def _is_inside(suite: Suite, name: str) -> bool:
    """Whether a name with a slash is a path of the project."""
    if "/" not in name:
        return False
    path = Path(name)
    return not path.is_absolute() or path.is_relative_to(suite.folder)


def _is_told_by_exit(suite: Suite, name: str, output: str, exit_code: int | None, pattern: str) -> bool:
    """Whether the message is about a command of the suite, by the exit code, the name, or make's error."""
    if exit_code in NOT_STARTED or pattern in _messages().starters:
        return True
    base = name.rsplit("/", maxsplit=1)[-1]
    used = {run.simple.name for run in suite.runs} | {word for run in suite.runs for word in run.line.split()}
    return base in used or name in used or re.search(r"\*\*\* .*Error 12[67]\b", output) is not None


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
