"""The targets of a Makefile, read as text. Only plain variables are evaluated."""

import re
from collections.abc import Iterator

from orchestrator.project.detection.targets import Target, ways_of
from orchestrator.project.detection.ways import Way
from orchestrator.project.files import Shown

_NAMES = ("GNUmakefile", "makefile", "Makefile")  # in the order in which make looks for them
_RULE = re.compile(r"^([^\s#=:][^#=:]*?)\s*::?(?![:=])\s*(.*)$")
_VARIABLE = re.compile(r"^(?:export\s+|override\s+)*([\w.\-]+)\s*(?:[:?+]|::)?=\s*(.*)$")
_INCLUDE = re.compile(r"^[-s]?include\s+([\w./\- ]+)$")
_REFERENCE = re.compile(r"\$[({]([\w.\-]+)[)}]")
_MOST_INCLUDED = 10
_DEEPEST = 5  # variables in the values of variables
_LONGEST = 2_000  # characters of one line with its variables replaced


def make_ways(shown: Shown) -> list[Way]:
    """Return the targets of the Makefile that verify."""
    name = shown.first(*_NAMES)
    if not name:
        return []
    variables, targets = {"MAKE": "make"}, dict[str, Target]()
    names: tuple[str, ...] = ()
    for line in _lines(shown, name):
        if line.startswith("\t"):
            _add(targets, names, Target(lines=(line.strip(" \t@-+"),)))
        elif found := _RULE.match(line):
            before, _, recipe = found.group(2).partition(";")
            names = tuple(found.group(1).split())
            before = "" if "=" in before else before.split("#")[0]  # a variable of these targets alone
            lines = (recipe.strip(" @-+"),) if recipe.strip() else ()
            _add(targets, names, Target(before=(before,), lines=lines))
        elif found := _VARIABLE.match(line):
            variables.setdefault(found.group(1), found.group(2).split(" #")[0].strip())
    replaced = {
        name: Target(
            before=tuple(word for text in target.before for word in _replaced(text, variables).split()),
            lines=tuple(_replaced(text, variables) for text in target.lines),
        )
        for name, target in targets.items()
    }
    return ways_of("make", name, replaced)


def _lines(shown: Shown, name: str) -> Iterator[str]:
    """Yield the lines of a Makefile and of those that it includes, continued ones joined."""
    waiting, seen = [name], set[str]()
    while waiting and len(seen) <= _MOST_INCLUDED:
        name = waiting.pop()
        seen.add(name)
        for line in shown.text(name).replace("\\\r\n", " ").replace("\\\n", " ").splitlines():
            if found := _INCLUDE.match(line.strip()):
                waiting += [one for one in found.group(1).split() if one not in seen]
            yield line


def _add(targets: dict[str, Target], names: tuple[str, ...], more: Target) -> None:
    for name in names:
        had = targets.get(name, Target())
        targets[name] = Target(before=had.before + more.before, lines=had.lines + more.lines)


def _replaced(text: str, variables: dict[str, str]) -> str:
    for _ in range(_DEEPEST):
        now = _REFERENCE.sub(lambda found: variables.get(found.group(1), ""), text)[:_LONGEST]
        if now == text:
            break
        text = now
    return text
