"""Targets of a Makefile, a justfile or a Taskfile: which of them verify, and which stand for others."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from orchestrator.project.detection.ways import Way
from orchestrator.project.detection.words import calls_linter, runners_of

_CHECK = "check"
_TESTS = ("test", "tests", "unittest", "unittests")  # the first that exists is taken
_MOST_LINES = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One target: its prerequisites, and the lines that it runs."""

    before: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()


def ways_of(program: str, source: str, targets: Mapping[str, Target]) -> list[Way]:
    """Return the targets that verify, as commands of `program` (`make`, `just`, `task`).

    A target that runs another is taken alone. One that only lints is taken beside the tests.
    """
    names = [
        name for name in (_CHECK, next((name for name in _TESTS if name in targets), "")) if name in targets
    ]
    reached = {name: _reached(program, name, targets) for name in names}
    names = [
        name for name in names if not any(name in reached[other] for other in names if other != name)
    ] or names[:1]
    ways = []
    for name in names:
        lines = tuple(line for one in sorted({name, *reached[name]}) for line in targets[one].lines)
        lints = (
            name == _CHECK and not runners_of(lines) and calls_linter(lines) and not reached[name] & {*_TESTS}
        )
        ways.append(Way(command=f"{program} {name}", source=source, lines=lines, tests=not lints, own=True))
    return ways


def _reached(program: str, name: str, targets: Mapping[str, Target]) -> set[str]:
    """Return the other targets that are made for this one."""
    waiting, reached = [name], set[str]()
    while waiting:
        target = targets[waiting.pop()]
        for other in (*target.before, *_called(program, target.lines)):
            if other in targets and other not in reached:
                reached.add(other)
                waiting.append(other)
    return reached - {name}


def _called(program: str, lines: tuple[str, ...]) -> Iterator[str]:
    """Yield the words after the program's name in lines that call it for this folder."""
    for line in lines[:_MOST_LINES]:
        for call in re.finditer(rf"(?:^|[\s@;&|+-]){program}\s+([^;&|]+)", line):
            words = call.group(1).split()
            if "-C" not in words and not any(word.startswith("--directory") for word in words):
                yield from words
