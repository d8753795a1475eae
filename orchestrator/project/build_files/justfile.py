"""Reads the recipe lines that `just RECIPE` runs, dependencies first."""

import re
from dataclasses import dataclass
from pathlib import Path

from orchestrator.project.build_files.step import ShellStep
from orchestrator.project.files import text_of
from orchestrator.project.shell import Simple

_FILES = ("justfile", "Justfile", ".justfile", "JUSTFILE")
_VALUES = ("-f", "--justfile", "-d", "--working-directory", "--set", "--shell")
_RECIPE = re.compile(r"@?(?P<name>[A-Za-z_][\w-]*)(?P<parameters>[^:\n]*?)\s*:(?!=)\s*(?P<needs>[^#\n]*)")
_VARIABLE = re.compile(r"(?:export\s+)?([\w-]+)\s*:=\s*[\"']?(.*?)[\"']?\s*")
_ALIAS = re.compile(r"alias\s+([\w-]+)\s*:=\s*([\w-]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recipe:
    needs: tuple[str, ...]
    lines: tuple[str, ...]


def just_steps(simple: Simple, folder: Path) -> list[ShellStep] | None:
    """Return the lines that a call of just runs, in order, or None if the justfile or a recipe is missing."""
    named = simple.option("-f", "--justfile")
    path = next((folder / name for name in ([named] if named else _FILES) if (folder / name).is_file()), None)
    if path is None:
        return None
    text = re.sub(r"\\\n[ \t]*", " ", text_of(path))
    recipes = _recipes(text)
    aliases = {found[1]: found[2] for found in map(_ALIAS.fullmatch, text.split("\n")) if found}
    words = [word for word in simple.positional(_VALUES) if "=" not in word]
    goal = words[0] if words else next(iter(recipes), "")
    lines: list[str] = []
    if not _collect(aliases.get(goal, goal), recipes, lines, set()):
        return None
    variables = {found[1]: found[2] for found in map(_VARIABLE.fullmatch, text.split("\n")) if found}
    return [ShellStep(line=_filled(line, variables), folder=path.parent) for line in lines]


def _recipes(text: str) -> dict[str, _Recipe]:
    recipes: dict[str, _Recipe] = {}
    for part in re.split(r"\n(?=[^\s#\[}])", f"\n{text}"):
        head, *body = part.strip("\n").split("\n")
        if (found := _RECIPE.fullmatch(head.split("#", maxsplit=1)[0].rstrip())) and not head.startswith(
            "alias "
        ):
            lines = [line.strip() for line in body if line[:1].isspace() and line.strip()]
            needs = tuple(re.findall(r"(?<![\w(-])\(?([A-Za-z_][\w-]*)", found["needs"].replace("&&", " ")))
            recipes[found["name"]] = _Recipe(needs=needs, lines=tuple(_shell_lines(lines)))
    return recipes


def _shell_lines(lines: list[str]) -> list[str]:
    if lines and lines[0].startswith("#!"):  # a script of its own
        return ["\n".join(lines[1:])] if re.search(r"\b(?:ba|z|da)?sh\b", lines[0]) else []
    return [line.lstrip("@-") for line in lines if not line.startswith("#")]


def _collect(goal: str, recipes: dict[str, _Recipe], lines: list[str], seen: set[str]) -> bool:
    if goal in seen:
        return True
    seen.add(goal)
    if goal not in recipes:
        return False
    known = True
    for need in recipes[goal].needs:
        known = _collect(need, recipes, lines, seen) and known
    lines.extend(recipes[goal].lines)
    return known


def _filled(line: str, variables: dict[str, str]) -> str:
    return re.sub(r"\{\{\s*([\w-]*)[^}]*\}\}", lambda used: variables.get(used[1], ""), line)
