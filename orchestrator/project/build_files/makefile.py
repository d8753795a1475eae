"""Reads the recipe lines that `make TARGET` runs, prerequisites first."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.project.build_files.step import ShellStep
from orchestrator.project.files import text_of
from orchestrator.project.shell import Simple

_FILES = ("GNUmakefile", "makefile", "Makefile")
_VALUES = ("-C", "--directory", "-f", "--file", "--makefile", "-j", "--jobs", "-l", "-I", "-o", "-W")
_ASSIGNED = re.compile(r"(?:export\s+|override\s+)*([\w.-]+)\s*(\?|\+|::?|!)?=\s*(.*)")
_RULE = re.compile(r"([^\s:=#][^:=#]*?)\s*::?(?!=)\s*([^;]*)(?:;(.*))?")
_USED = re.compile(r"\$\(([\w.-]+)\)|\$\{([\w.-]+)\}")
_CALL = re.compile(
    r"\$[({](?:shell|wildcard|patsubst|subst|addprefix|foreach|if|filter|filter-out|sort)\b[^()]*(?:\([^()]*\)[^()]*)*[)}]"
)
_DEEPEST = 12


@dataclass(slots=True)
class _Makefile:
    variables: dict[str, str] = field(default_factory=lambda: {"MAKE": "make", "SHELL": "/bin/sh"})
    needs: dict[str, list[str]] = field(default_factory=dict)
    recipes: dict[str, list[str]] = field(default_factory=dict)
    first: str = ""


def make_steps(simple: Simple, folder: Path) -> list[ShellStep] | None:
    """Return the lines that a call of make runs, in order, or None if the makefile or a target is missing."""
    folder = folder / (simple.option("-C", "--directory") or "")
    named = simple.option("-f", "--file", "--makefile")
    path = next((folder / name for name in ([named] if named else _FILES) if (folder / name).is_file()), None)
    if path is None:
        return None
    made = _read(path, text_of(path), _Makefile())
    if "CMAKE generated file" in text_of(path)[:200]:
        made.recipes.setdefault("test", ["ctest"])
    words = simple.positional(_VALUES)
    for word in words:
        if (given := _ASSIGNED.fullmatch(word)) is not None:
            made.variables[given[1]] = given[3]
    goals = [word for word in words if "=" not in word] or [made.variables.get(".DEFAULT_GOAL", made.first)]
    if any(goal not in made.recipes and goal not in made.needs for goal in goals):
        return None
    lines: list[str] = []
    for goal in goals:
        _collect(goal, made, lines, set(), 0)
    return [ShellStep(line=line, folder=folder) for line in lines]


def _read(path: Path, text: str, made: _Makefile, depth: int = 0) -> _Makefile:
    targets: list[str] = []
    for line in re.sub(r"\\\n[ \t]*", " ", text).split("\n"):
        if line.startswith("\t"):
            for target in targets:
                made.recipes[target].append(line.strip())
            continue
        line = line.strip()  # noqa: PLW2901  the rest of this loop means the same line
        if not line or line.startswith("#"):
            continue
        if (included := re.fullmatch(r"-?s?include\s+(\S+)", line)) and depth < _DEEPEST:
            _read(path, text_of(path.parent / _expanded(included[1], made)), made, depth + 1)
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
    needs = [need for need in _expanded(rule[2].split("#", maxsplit=1)[0], made).split() if need != "|"]
    for target in targets:
        made.needs.setdefault(target, []).extend(needs)
        made.recipes.setdefault(target, [])
        if rule[3]:
            made.recipes[target].append(rule[3].strip())
        if not made.first and not target.startswith(".") and "%" not in target:
            made.first = target


def _collect(goal: str, made: _Makefile, lines: list[str], seen: set[str], depth: int) -> None:
    if goal in seen or depth > _DEEPEST:
        return
    seen.add(goal)
    for need in made.needs.get(goal, ()):
        _collect(need, made, lines, seen, depth + 1)
    for line in made.recipes.get(goal, ()):
        expanded = _expanded(line.lstrip("@-+ ").replace("$@", goal), made)
        lines.append(expanded.replace("$$", "$"))


def _expanded(text: str, made: _Makefile, depth: int = 0) -> str:
    """Return the text with make's variables filled in. Calls of make's functions become empty."""
    text = _CALL.sub("", text)
    if depth > _DEEPEST:
        return text
    replaced = _USED.sub(lambda used: made.variables.get(used[1] or used[2], ""), text)
    return replaced if replaced == text else _expanded(replaced, made, depth + 1)
