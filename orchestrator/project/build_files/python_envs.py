"""Reads the commands that tox, nox and hatch run."""

import configparser
import re
import shlex
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from orchestrator.project.build_files.step import ShellStep, text_of
from orchestrator.project.shell import Simple

_RUN_CALL = re.compile(r"session\.run\(\s*((?:[^()]|\([^()]*\))*)\)")
_STRINGS = re.compile(r"(?<![\w=])(?:r|f)?\"([^\"\n]*)\"|(?<![\w=])(?:r|f)?'([^'\n]*)'|(\*session\.posargs)")


def tox_steps(simple: Simple, folder: Path) -> list[ShellStep] | None:
    """Return the commands of the chosen tox environments, or None if tox is not configured."""
    chosen = (simple.option("-e", "--env") or "").split(",") if simple.option("-e", "--env") else []
    tables = tox_environments(folder)
    if not tables:
        return None
    listed = chosen or [name for name in tables if name != "testenv"] or ["testenv"]
    envs = {name: tables.get(name) or tables.get("testenv") or "" for name in listed}
    if not chosen and not any(envs.values()):
        envs = {"testenv": tables.get("testenv", "")}
    seen: dict[str, None] = {}
    for text in envs.values():
        for line in re.sub(r"\\\n\s*", " ", text).split("\n"):
            if line.strip() and not line.strip().startswith("#"):
                seen[line.strip().lstrip("-! ")] = None
    return [
        ShellStep(
            line=re.sub(r"\{posargs(?::([^}]*))?\}", lambda used: used[1] or "", line).replace(
                "{toxinidir}", "."
            ),
            folder=folder,
            passes=" --" if re.search(r"\{posargs[^}]*\}\s*$", line) and len(seen) == 1 else None,
            replaces="{posargs:" in line,
            elsewhere=True,
        )
        for line in seen
    ]


def nox_steps(simple: Simple, folder: Path) -> list[ShellStep] | None:
    """Return the commands of a noxfile's sessions, read from its text, or None if there is no noxfile."""
    text = text_of(folder / (simple.option("-f", "--noxfile") or "noxfile.py"))
    if not text:
        return None
    chosen = {name.split("-")[0] for option in ("-s", "--session", "-e") if (name := simple.option(option))}
    steps: list[ShellStep] = []
    for part in re.split(r"(?m)^(?=@nox\.session)", text)[1:]:
        named = re.search(r"name=[\"']([^\"']+)|def (\w+)\(", part)
        if named and (not chosen or (named[1] or named[2]) in chosen):
            steps += _nox_lines(part, folder)
    return steps


def _nox_lines(part: str, folder: Path) -> Iterator[ShellStep]:
    for call in _RUN_CALL.finditer(part):
        strings = list(_STRINGS.finditer(call[1]))
        words = [found[1] or found[2] for found in strings if not found[3]]
        passes = " --" if strings and strings[-1][3] else None
        if words:
            yield ShellStep(line=shlex.join(words), folder=folder, passes=passes, elsewhere=True)


def hatch_steps(simple: Simple, folder: Path) -> list[ShellStep] | None:
    """Return the commands of `hatch test` or `hatch run SCRIPT`. A name that is not a script is a program."""
    words = simple.positional(("-e", "--env", "-p", "--project", "-i", "--include", "-x", "--exclude"))
    if words[:1] == ["test"]:
        return [ShellStep(line="pytest", folder=folder, passes="", elsewhere=True)]
    if words[:1] != ["run"] or len(words) < 2:  # noqa: PLR2004  run and a script
        return None
    scripts = hatch_scripts(folder)
    name = words[1] if words[1] in scripts else words[1].rsplit(":", maxsplit=1)[-1]
    if name not in scripts:
        rest = simple.words[simple.words.index(words[1]) + 1 :]
        return [ShellStep(line=shlex.join([name, *rest]), folder=folder, passes="", elsewhere=True)]
    return list(_hatch_lines(name, scripts, folder, 0))


def _hatch_lines(name: str, scripts: dict[str, list[str]], folder: Path, depth: int) -> Iterator[ShellStep]:
    for line in scripts[name]:
        first, *rest = line.lstrip("- ").split(maxsplit=1)
        if first in scripts and first != name and depth < len(scripts):
            yield from _hatch_lines(first, scripts, folder, depth + 1)
            continue
        told = re.sub(r"\{args(?::([^}]*))?\}", lambda used: used[1] or "", " ".join([first, *rest]))
        yield ShellStep(
            line=told.strip(),
            folder=folder,
            passes="" if re.search(r"\{args[^}]*\}\s*$", line) else None,
            replaces="{args:" in line,
            elsewhere=True,
        )


def hatch_scripts(folder: Path) -> dict[str, list[str]]:
    """Return the lines of each script, by its own name and by that behind its environment: `test:run`."""
    loaded = toml_of(text_of(folder / "pyproject.toml")).get("tool", {}).get("hatch", {})
    envs = {**loaded.get("envs", {}), **toml_of(text_of(folder / "hatch.toml")).get("envs", {})}
    found: dict[str, list[str]] = {}
    for env, table in envs.items():
        scripts = table.get("scripts") if isinstance(table, dict) else None
        for name, told in scripts.items() if isinstance(scripts, dict) else ():
            lines = [told] if isinstance(told, str) else [one for one in told if isinstance(one, str)]
            found[f"{env}:{name}"] = lines
            found.setdefault(name, lines)
    return found


def tox_environments(folder: Path) -> dict[str, str]:
    """Return the commands of each environment, one a line. `testenv` holds the defaults for the others."""
    pyproject = toml_of(text_of(folder / "pyproject.toml")).get("tool", {}).get("tox", {})
    ini = text_of(folder / "tox.ini") or str(pyproject.get("legacy_tox_ini", ""))
    loaded = toml_of(text_of(folder / "tox.toml")) or pyproject
    tables: dict[str, str] = {}
    if ini:
        parser = configparser.RawConfigParser(strict=False)
        try:
            parser.read_string(ini)
        except configparser.Error:
            return {}
        names = re.split(
            r"[,\s]+",
            _expanded_list(parser.get("tox", "env_list", fallback=parser.get("tox", "envlist", fallback=""))),
        )
        tables = {name: "" for name in names if name}
        for section in parser.sections():
            if section == "testenv" or section.startswith("testenv:"):
                tables[section.removeprefix("testenv:")] = parser.get(section, "commands", fallback="")
    elif loaded:
        tables = dict.fromkeys(loaded.get("env_list", []), "")
        tables["testenv"] = "\n".join(_toml_lines(loaded.get("env_run_base", {}).get("commands", [])))
        for name, env in loaded.get("env", {}).items():
            tables[name] = "\n".join(_toml_lines(env.get("commands", [])))
    return tables


def _toml_lines(commands: Iterable[Any]) -> Iterator[str]:
    for command in commands:
        words = [word if isinstance(word, str) else "{posargs}" for word in command]
        yield " ".join(word if word.startswith("{posargs") else shlex.quote(word) for word in words)


def _expanded_list(text: str) -> str:
    """Return `py3{10,11}` as `py310 py311`, so that commas inside braces do not split it."""
    while found := re.search(r"([^\s,{}]*)\{([^{}]*)\}([^\s,{}]*)", text):
        every = " ".join(f"{found[1]}{one.strip()}{found[3]}" for one in found[2].split(","))
        text = text[: found.start()] + every + text[found.end() :]
    return text


def toml_of(text: str) -> dict[str, Any]:
    """Return the content of a TOML file, or nothing if it cannot be read."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return {}
