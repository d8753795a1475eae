"""Reads package.json, composer.json and deno.json: managers, workspaces, and the scripts that calls run."""

import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from orchestrator.project.build_files.step import ShellStep, first_file, text_of
from orchestrator.project.build_files.yaml_text import as_table, read_yaml, texts
from orchestrator.project.shell import Simple

MANIFEST = "package.json"
TURBO = ("turbo.json", "turbo.jsonc")
LOCKS = {
    "pnpm-lock.yaml": "pnpm",
    "yarn.lock": "yarn",
    "bun.lock": "bun",
    "bun.lockb": "bun",
    "package-lock.json": "npm",
}
_DEPENDENCIES = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_VALUES = (
    *("--prefix", "-w", "--workspace", "-C", "--dir", "--filter", "-F", "--cwd", "--loglevel", "--reporter"),
    "-d",
)
_AT = {"pnpm": "--dir", "yarn": "--cwd", "bun": "--cwd"}
_FOLDER = ("--prefix", "-C", "--dir", "--cwd")
_ONE_OF = ("-w", "--workspace", "--filter", "-F")
_ALL_OF = frozenset({"-r", "--recursive", "-ws", "--workspaces", "--filter", "-w", "--workspace", "-F"})
_SHORT = {"t": "test", "tst": "test"}
_RUN = frozenset({"run", "run-script", "rum", "urn"})
_PLACES = ("*/package.json", "packages/*/package.json", "apps/*/package.json", "libs/*/package.json")
_NODE_PROGRAMS = "node_modules/.bin"
_MOST_PACKAGES = 50


def manager_of(folder: Path) -> str:
    """Return the package manager that a package's manifest names, else the one of its lock file."""
    named = _json(folder / MANIFEST).get("packageManager")
    if isinstance(named, str) and (name := named.partition("@")[0]) in {*LOCKS.values()}:
        return name
    return next((manager for lock, manager in LOCKS.items() if (folder / lock).is_file()), "npm")


def scripts_of(manifest: Path) -> dict[str, str]:
    """Return the scripts of a package.json that are texts."""
    scripts = _json(manifest).get("scripts")
    pairs = scripts.items() if isinstance(scripts, dict) else ()
    return {key: value for key, value in pairs if isinstance(value, str)}


def test_script(manifest: Path) -> str:
    """Return the test script of a package.json, or "" if it is the one that `npm init` writes."""
    script = scripts_of(manifest).get("test", "").strip()
    return "" if "no test specified" in script else script


def depends(manifest: Path) -> bool:
    """Whether a package.json names packages that it requires."""
    loaded = _json(manifest)
    return any(loaded.get(kind) for kind in _DEPENDENCIES)


def composer_scripts(folder: Path) -> list[str]:
    """Return the names of the scripts in composer.json."""
    scripts = _json(folder / "composer.json").get("scripts")
    return [name for name, lines in scripts.items() if lines] if isinstance(scripts, dict) else []


def deno_test_task(manifest: Path) -> str:
    """Return the line of the task `test` in deno.json, or ""."""
    tasks = _json(manifest).get("tasks")
    task = tasks.get("test") if isinstance(tasks, dict) else None
    line = task.get("command") if isinstance(task, dict) else task
    return line.strip() if isinstance(line, str) else ""


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


def turbo_tasks(folder: Path) -> dict[str, list[str]]:
    """Return the tasks of a folder's turbo.json, each with those that it depends on."""
    loaded = _json(first_file(folder, TURBO) or folder / TURBO[0])
    tasks = loaded.get("tasks") or loaded.get("pipeline")
    return {
        name: texts(as_table(task).get("dependsOn"))
        for name, task in (tasks.items() if isinstance(tasks, dict) else ())
    }


def turbo_steps(simple: Simple, folder: Path) -> list[ShellStep] | None:
    """Return the scripts that a call of turbo runs, of each package that has one, or None without any."""
    tasks, names = turbo_tasks(folder), simple.positional(("-F", "--filter", "--concurrency", "--cwd"))
    waiting, ordered = [one for one in names if one not in _RUN], dict[str, None]()
    while waiting:
        name = waiting.pop(0).removeprefix("^").rpartition("#")[2]
        if name not in ordered:
            ordered = {name: None, **ordered}
            waiting += [one for one in tasks.get(name, ()) if not one.startswith("$")]
    manager = manager_of(folder)
    call = f"{manager} {_AT.get(manager, _FOLDER[0])}="
    lines = [
        f"{call}{shlex.quote(package.relative_to(folder).as_posix())} run {name}"
        for name in ordered
        for package in workspaces_in(folder) or [folder]
        if name in scripts_of(package / MANIFEST)
    ]
    return [ShellStep(line=one, folder=folder) for one in lines] or None


def composer_steps(simple: Simple, folder: Path) -> list[ShellStep] | None:
    """Return the lines of a script of composer.json, or None if there is no such script."""
    folder = folder / (simple.option("-d", "--working-dir") or "")
    words = simple.positional(("-d", "--working-dir", "--timeout"))
    name = words[1] if words[:1] and words[0] in _RUN and len(words) > 1 else (words or ["test"])[0]
    return _composer_script(name, _json(folder / "composer.json"), folder, 0)


def _composer_script(name: str, loaded: dict[str, Any], folder: Path, depth: int) -> list[ShellStep] | None:
    scripts = loaded.get("scripts")
    lines = scripts.get(name) if isinstance(scripts, dict) else None
    if not isinstance(lines, str | list) or depth > len(loaded["scripts"]):
        return None
    steps: list[ShellStep] = []
    lines = [lines] if isinstance(lines, str) else [one for one in lines if isinstance(one, str)]
    for number, line in enumerate(lines, 1):
        if line.startswith("@") and not line.startswith(("@php ", "@putenv", "@composer")):
            steps += _composer_script(line[1:].split()[0], loaded, folder, depth + 1) or []
        elif not line.startswith("@putenv") and "::" not in line.split()[0]:
            passes = " --" if number == len(lines) and not depth else None
            line = re.sub(r"^@(php|composer)\b", r"\1", line)  # noqa: PLW2901
            steps.append(ShellStep(line=line, folder=folder, passes=passes, programs="vendor/bin"))
    return steps


def _script(name: str, folder: Path, manager: str) -> list[ShellStep]:
    scripts = scripts_of(folder / MANIFEST)
    if name not in scripts:
        return []
    passes = {"npm": " --", "": None}.get(manager, "")
    return [
        ShellStep(
            line=scripts[one], folder=folder, passes=passes if one == name else None, programs=_NODE_PROGRAMS
        )
        for one in (f"pre{name}", name, f"post{name}")
        if one in scripts
    ]


def _several(words: Sequence[str], folder: Path) -> list[ShellStep] | None:
    scripts = scripts_of(folder / MANIFEST)
    steps: list[ShellStep] = []
    for word in words:
        pattern = re.escape(word.split(" ")[0]).replace(r"\*\*", ".*").replace(r"\*", "[^:]*")
        steps += [
            step for name in scripts if re.fullmatch(pattern, name) for step in _script(name, folder, "")
        ]
    return steps or None


def workspaces_in(folder: Path) -> list[Path]:
    """Return the folders of the workspaces that a package names."""
    globs = _json(folder / MANIFEST).get("workspaces", [])
    globs = globs.get("packages", []) if isinstance(globs, dict) else globs
    listed = texts(as_table(read_yaml(text_of(folder / "pnpm-workspace.yaml"))).get("packages"))
    every = [*(globs if isinstance(globs, list) else []), *listed]
    named = [
        one for one in every if isinstance(one, str) and not one.startswith(("!", "/")) and ".." not in one
    ]
    return _packages(folder, [f"{one.rstrip('/').removeprefix('./')}/{MANIFEST}" for one in named])


def _packages(folder: Path, patterns: Sequence[str]) -> list[Path]:
    found = {
        path for pattern in patterns for path in folder.glob(pattern) if "node_modules" not in path.parts
    }
    return [path.parent for path in sorted(found)[:_MOST_PACKAGES]]


def _workspaces(folder: Path, names: Sequence[str]) -> list[Path]:
    """Return the folders of the packages with these names or folders. Without names, of all but the root."""
    chosen = [
        package
        for package in workspaces_in(folder) or _packages(folder, _PLACES)
        if not names
        or any(
            name.strip("./").endswith(package.name)
            or name.rstrip(".") == _json(package / MANIFEST).get("name")
            for name in names
        )
    ]
    return chosen or [folder]


def _json(path: Path) -> dict[str, Any]:
    """Return the content of a file, without the comments that deno.jsonc may have, or nothing."""
    text = text_of(path)
    if path.name.startswith("deno.") or path.name in TURBO:
        text = _COMMENT.sub(lambda found: found[1] or "", text)
    try:
        loaded = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return loaded if isinstance(loaded, dict) else {}
