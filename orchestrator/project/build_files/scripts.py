"""Reads the scripts of package.json and composer.json that npm, pnpm, yarn, bun and composer run."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from orchestrator.project.build_files.step import ShellStep
from orchestrator.project.files import text_of
from orchestrator.project.shell import Simple

_VALUES = (
    "--prefix",
    "-w",
    "--workspace",
    "-C",
    "--dir",
    "--filter",
    "-F",
    "--cwd",
    "--loglevel",
    "--reporter",
    "-d",
)
_FOLDER = ("--prefix", "-C", "--dir", "--cwd")
_ONE_OF = ("-w", "--workspace", "--filter", "-F")
_ALL_OF = frozenset({"-r", "--recursive", "-ws", "--workspaces", "--filter", "-w", "--workspace", "-F"})
_SHORT = {"t": "test", "tst": "test"}
_RUN = frozenset({"run", "run-script", "rum", "urn"})
_PLACES = ("*/package.json", "packages/*/package.json", "apps/*/package.json", "libs/*/package.json")
_NODE_PROGRAMS = "node_modules/.bin"
_MOST_PACKAGES = 50


def package_steps(simple: Simple, folder: Path) -> list[ShellStep] | None:
    """Return the scripts that a call of npm or its like runs, with `pre` and `post`, or None if none."""
    folder = folder / (simple.option(*_FOLDER) or "")
    words = simple.positional(_VALUES)
    if simple.name in {"npm-run-all", "run-s", "run-p"}:
        return _several(words, folder)
    places = [folder]
    if words[:1] == ["workspace"]:  # yarn
        places, words = _workspaces(folder, words[1:2]), words[2:]
    elif words[:1] == ["workspaces"]:
        places, words = _workspaces(folder, ()), [word for word in words[1:] if word != "foreach"]
    elif not _ALL_OF.isdisjoint(word.split("=", maxsplit=1)[0] for word in simple.words):
        places = _workspaces(folder, [name for option in _ONE_OF if (name := simple.option(option))])
    explicit = words[:1] and words[0] in _RUN
    words = words[1:] if explicit else words
    if not words:
        return None
    name = words[0] if explicit else _SHORT.get(words[0], words[0])
    alone = len(places) == 1
    steps = [step for place in places for step in _script(name, place, simple.name if alone else "")]
    if (
        not steps and not explicit and simple.name in {"yarn", "pnpm"} and name != "test"
    ):  # a program of a package
        return [ShellStep(line=" ".join(words), folder=folder, programs=_NODE_PROGRAMS)]
    return steps or None


def composer_steps(simple: Simple, folder: Path) -> list[ShellStep] | None:
    """Return the lines of a script of composer.json, or None if there is no such script."""
    folder = folder / (simple.option("-d", "--working-dir") or "")
    words = simple.positional(("-d", "--working-dir", "--timeout"))
    name = words[1] if words[:1] and words[0] in _RUN and len(words) > 1 else (words or ["test"])[0]
    return _composer_script(name, _json(folder / "composer.json"), folder, 0)


def _composer_script(name: str, loaded: dict[str, Any], folder: Path, depth: int) -> list[ShellStep] | None:
    lines = loaded.get("scripts", {}).get(name)
    if lines is None or depth > len(loaded["scripts"]):
        return None
    steps: list[ShellStep] = []
    lines = [lines] if isinstance(lines, str) else lines
    for number, line in enumerate(lines, 1):
        if line.startswith("@") and not line.startswith(("@php ", "@putenv", "@composer")):
            steps += _composer_script(line[1:].split()[0], loaded, folder, depth + 1) or []
        elif not line.startswith("@putenv") and "::" not in line.split()[0]:
            passes = " --" if number == len(lines) and not depth else None
            line = re.sub(r"^@(php|composer)\b", r"\1", line)  # noqa: PLW2901
            steps.append(ShellStep(line=line, folder=folder, passes=passes, programs="vendor/bin"))
    return steps


def _script(name: str, folder: Path, manager: str) -> list[ShellStep]:
    scripts = _json(folder / "package.json").get("scripts", {})
    if not isinstance(scripts.get(name), str):
        return []
    passes = {"npm": " --", "": None}.get(manager, "")
    return [
        ShellStep(
            line=scripts[one], folder=folder, passes=passes if one == name else None, programs=_NODE_PROGRAMS
        )
        for one in (f"pre{name}", name, f"post{name}")
        if isinstance(scripts.get(one), str)
    ]


def _several(words: Sequence[str], folder: Path) -> list[ShellStep] | None:
    scripts = _json(folder / "package.json").get("scripts", {})
    steps: list[ShellStep] = []
    for word in words:
        pattern = re.escape(word.split(" ")[0]).replace(r"\*\*", ".*").replace(r"\*", "[^:]*")
        steps += [
            step for name in scripts if re.fullmatch(pattern, name) for step in _script(name, folder, "")
        ]
    return steps or None


def _workspaces(folder: Path, names: Sequence[str]) -> list[Path]:
    """Return the folders of the packages with these names or folders. Without names, of all but the root."""
    globs = _json(folder / "package.json").get("workspaces", [])
    globs = globs.get("packages", []) if isinstance(globs, dict) else globs
    listed = re.findall(
        r"^\s*-\s*[\"']?([^\"'\n#!]+?)[\"']?\s*$", text_of(folder / "pnpm-workspace.yaml"), re.MULTILINE
    )
    patterns = [f"{one.rstrip('/').removeprefix('./')}/package.json" for one in [*globs, *listed]] or _PLACES
    found = sorted(
        {path for pattern in patterns for path in folder.glob(pattern) if "node_modules" not in path.parts}
    )
    chosen = [
        path.parent
        for path in found[:_MOST_PACKAGES]
        if not names
        or any(
            name.strip("./").endswith(path.parent.name) or name.rstrip(".") == _json(path).get("name")
            for name in names
        )
    ]
    return chosen or [folder]


def _json(path: Path) -> dict[str, Any]:
    try:
        loaded = json.loads(text_of(path))
    except ValueError:
        return {}
    return loaded if isinstance(loaded, dict) else {}
