"""Reads the output of a failed suite: why it could not run, and the part that shows its failures.

A suite cannot run if a program is missing, if nothing is there yet, or if its runner stopped.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from orchestrator.project.runners.row import Reader
from orchestrator.project.runners.suite import Suite
from orchestrator.project.shell import NOT_STARTED
from state.records.commands import TestCount

# Each pattern has a group for the program. `_SHELL` are messages of shells, `_STARTERS` those of programs
# that start others.
_SHELL = (
    (
        r"^(?:\S*(?:sh|bash|zsh|dash|ksh|make)(?:\[\d+\])?|[\w./-]+): (?:line )?(?:\d+: )?(?:exec: )?"
        r"(?P<name>[\w@./+-]+): (?:command )?not found\b"
    ),
    r"^(?:zsh|\S*sh):(?:\d+:)? command not found: (?P<name>[\w@./+-]+)",
    (
        r"^g?make(?:\[\d+\])?: (?P<name>[\w@./+-]+): (?:No such file or directory|Command not found|Perm"
        r"ission denied)"
    ),
    r"^\S*env: [\u2018'\"]?(?P<name>[\w@./+-]+)[\u2019'\"]?: No such file or directory",
    (
        r"^\S+: (?:line )?\d+: (?P<name>[\w@./+-]+): (?:No such file or directory|Permission denied|cann"
        r"ot execute.*|Exec format error)"
    ),
    r"^/?\S*: (?P<name>[\w@./+-]+): bad interpreter",
)
_STARTERS = (
    r"^error: no such (?:sub)?command: [`'\"](?P<cargo>[\w-]+)[`'\"]",
    r"^bundler: command not found: (?P<name>[\w-]+)",
    r"^error: Failed to spawn: [`'\"]?(?P<name>[\w./+-]+)[`'\"]?",
    r"^Command not found: (?P<name>[\w./+-]+)",
    r"\bspawn (?P<name>[\w./+-]+) ENOENT",
    r"\bexec: \"(?P<name>[\w./+-]+)\": executable file not found in \$PATH",
    r"\berror: unable to spawn (?P<name>[\w./+-]+)",
    r"^(?P<name>[\w-]+)> .*: No such file or directory",
    r"No such file or directory: '(?P<name>[\w+-]+)'$",
    r"^(?:npm|npx) (?:error|ERR!) could not determine executable to run",
    r"^The (?P<name>JAVA_HOME) environment variable is not (?:defined|set)",
    r"^ERROR: (?P<name>JAVA_HOME) is not set",
    r"ERR_PNPM_RECURSIVE_EXEC_FIRST_FAIL.*Command \"(?P<name>[\w-]+)\" not found",
    r"^error Command \"(?P<name>[\w-]+)\" not found\.",
)
# Messages of programs that start a chosen version of another, and have none: what is missing, and its remedy.
_TOOLCHAINS = (
    (
        r"^error: rustup could not choose a version of (?P<name>[\w.-]+) to run",
        "a Rust toolchain for {name} (`rustup default stable` chooses one)",
    ),
    (
        r"^error: toolchain '(?P<name>[\w.-]+)' is not installed",
        "the Rust toolchain {name} (`rustup toolchain install {name}` adds it)",
    ),
    (
        r"^(?P<by>pyenv|rbenv|nodenv): version [`'](?P<name>[\w.-]+)' is not installed",
        "version {name} (`{by} install {name}` adds it)",
    ),
)
_MODULE = (
    r"No module named '?(?P<name>[\w.]+)",
    r"cannot load such file -- (?P<name>[\w./-]+)",
    r"[Cc]an't find gem (?P<name>[\w-]+)",
    r"Could not find '?(?P<name>[\w-]+)'? \(.*\) in any of the sources",
)
_NOTHING = (
    (
        r"^g?make(?:\[\d+\])?: \*\*\* (?P<why>No rule to make target .*|No targets specified and no make"
        r"file found)\. +Stop\."
    ),
    r"^(?P<why>npm (?:error|ERR!) Missing script: .*)",
    r"^(?P<why>.*can't open file '.*': \[Errno 2\] No such file or directory)",
)
# Lines of an output that name a cause: of pytest, of compilers, of all others. The first one is the cause.
_CAUSES = (
    r"^E +(?P<why>\S.*)$",
    r"^(?P<why>[\w./-]+\.\w+:\d+(?::\d+)?: .+)$",
    r"^ *(?P<why>(?:error|[\w.]*(?:Error|Exception))(?:\[\w+\])?: .+)$",
)
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


def missing_program(suite: Suite, output: str, exit_code: int | None) -> str:
    """Return the program, toolchain or runner's own module that the output reports as missing, or "" if none.

    A missing file inside the project does not count, and neither does a module of the project that cannot be
    imported.
    """
    if exit_code == 0:
        return ""
    if (module := _missing_module(suite, output)) != "":
        return module
    for pattern, words in _TOOLCHAINS:
        if match := re.search(pattern, output, re.MULTILINE):
            return words.format(**match.groupdict())
    for pattern in (*_SHELL, *_STARTERS):
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


def nothing_yet(suite: Suite, output: str, exit_code: int | None, count: TestCount) -> str:
    """Return the output's reason why the tree has nothing to run yet, or "" if it gives none."""
    if count.passed or count.failed:
        return ""
    patterns = [pattern for row in (*suite.runners, *suite.carriers) for pattern in row.absent.nothing]
    if exit_code != 0 or count.says_none:
        for pattern in (*_NOTHING, *patterns):
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
    causes = (re.search(pattern, output, re.MULTILINE) for pattern in _CAUSES)
    told = match.groupdict().get("why") or next((found["why"] for found in causes if found), match[0])
    return " ".join(told.split())[:_LONGEST]


def _missing_module(suite: Suite, output: str) -> str:
    own = {module for row in (*suite.runners, *suite.carriers) for module in row.absent.modules}
    own |= {run.simple.name for run in suite.runs}
    for pattern in _MODULE:
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
    if exit_code in NOT_STARTED or pattern in _STARTERS:
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
