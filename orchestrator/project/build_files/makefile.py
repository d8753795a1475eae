"""Reads a Makefile: its targets, with plain variables replaced, and the lines that `make TARGET` runs."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.project.build_files.step import BuildFile, ShellStep, Target, first_file, text_of
from orchestrator.project.shell import Simple

_FILES = ("GNUmakefile", "makefile", "Makefile")  # in the order in which make looks for them
_VALUES = ("-C", "--directory", "-f", "--file", "--makefile", "-j", "--jobs", "-l", "-I", "-o", "-W")
_ASSIGNED = re.compile(r"(?:export\s+|override\s+)*([\w.-]+)\s*(\?|\+|::?|!)?=\s*(.*)")
_RULE = re.compile(r"([^\s:=#][^:=#]*?)\s*::?(?!=)\s*([^;]*)(?:;(.*))?")
_INCLUDE = re.compile(r"[-s]?include\s+(\S.*)")
_USED = re.compile(r"\$\(([\w.-]+)\)|\$\{([\w.-]+)\}")
_CALL = re.compile(
    r"\$[({](?:shell|wildcard|patsubst|subst|addprefix|foreach|if|filter|filter-out|sort)\b[^()]*(?:\([^()]*\)[^()]*)*[)}]"
)
_DEEPEST = 12  # files in files, and variables in the values of variables
_LONGEST = 2_000  # characters of one line with its variables replaced


@dataclass(slots=True)
class _Makefile:
    variables: dict[str, str] = field(default_factory=lambda: {"MAKE": "make", "SHELL": "/bin/sh"})
    needs: dict[str, list[str]] = field(default_factory=dict)
    recipes: dict[str, list[str]] = field(default_factory=dict)
    first: str = ""


def makefile_in(folder: Path, names: Sequence[str] = _FILES, given: Sequence[str] = ()) -> BuildFile | None:
    """Return the Makefile of a folder, or None if there is none. `given` are words of a call: `A=B`."""
    path = first_file(folder, names)
    if path is None:
        return None
    text = text_of(path)
    made = _read(path, text, _Makefile())
    if "CMAKE generated file" in text[:200]:
        made.recipes.setdefault("test", ["ctest"])
    for word in given:
        if (assigned := _ASSIGNED.fullmatch(word)) is not None:
            made.variables[assigned[1]] = assigned[3]
    targets = {
        goal: Target(
            before=tuple(made.needs.get(goal, ())),
            lines=tuple(_recipe_line(line, goal, made) for line in lines),
        )
        for goal, lines in made.recipes.items()
    }
    return BuildFile(path=path, targets=targets, first=made.variables.get(".DEFAULT_GOAL", made.first))


def make_steps(simple: Simple, folder: Path) -> list[ShellStep] | None:
    """Return the lines that a call of make runs, in order, or None if the makefile or a target is missing."""
    folder = folder / (simple.option("-C", "--directory") or "")
    named = simple.option("-f", "--file", "--makefile")
    words = simple.positional(_VALUES)
    made = makefile_in(folder, [named] if named else _FILES, words)
    if made is None:
        return None
    return made.steps([word for word in words if "=" not in word] or [made.first], folder)


def _read(path: Path, text: str, made: _Makefile, depth: int = 0) -> _Makefile:
    targets: list[str] = []
    for line in re.sub(r"\\\r?\n[ \t]*", " ", text).splitlines():
        if line.startswith("\t"):
            for target in targets:
                made.recipes[target].append(line.strip())
            continue
        line = line.strip()  # noqa: PLW2901  the rest of this loop means the same line
        if not line or line.startswith("#"):
            continue
        if (included := _INCLUDE.fullmatch(line)) and depth < _DEEPEST:
            for name in _expanded(included[1].split(" #")[0], made).split():
                _read(path, text_of(path.parent / name), made, depth + 1)
        elif assigned := _ASSIGNED.fullmatch(line):
            _assign(assigned[1], assigned[2] or "", assigned[3], made)
            targets = []
        elif rule := _RULE.fullmatch(line):
            targets = _expanded(rule[1], made).split()
            _add_rule(targets, rule, made)
        else:
            targets = targets if line.startswith(("if", "else", "endif")) else []
    return made


def _assign(name: str, sign: str, value: str, made: _Makefile) -> None:
    value = re.sub(r"\s+#.*", "", value)
    if sign == "+":
        made.variables[name] = f"{made.variables.get(name, '')} {value}".strip()
    elif sign != "?" or name not in made.variables:
        made.variables[name] = value


def _add_rule(targets: Sequence[str], rule: re.Match[str], made: _Makefile) -> None:
    told = "" if "=" in rule[2] else rule[2].split("#", maxsplit=1)[0]  # else a variable of these targets
    needs = [need for need in _expanded(told, made).split() if need != "|"]
    for target in targets:
        made.needs.setdefault(target, []).extend(needs)
        made.recipes.setdefault(target, [])
        if rule[3]:
            made.recipes[target].append(rule[3].strip())
        if not made.first and not target.startswith(".") and "%" not in target:
            made.first = target


def _recipe_line(line: str, goal: str, made: _Makefile) -> str:
    return _expanded(line.lstrip("@-+ ").replace("$@", goal), made).replace("$$", "$")


def _expanded(text: str, made: _Makefile) -> str:
    """Return the text with make's variables filled in. Calls of make's functions become empty."""
    for _ in range(_DEEPEST):
        text = _CALL.sub("", text)
        replaced = _USED.sub(lambda used: made.variables.get(used[1] or used[2], ""), text)[:_LONGEST]
        if replaced == text:
            break
        text = replaced
    return text
