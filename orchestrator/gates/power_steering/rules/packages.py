"""Projects of several packages: whether the tests of the changed package ran."""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from agents.shell import simple_commands
from agents.transcript.facts.checks import is_test_run
from agents.transcript.facts.records import Command, Edit
from orchestrator.gates.power_steering.evidence import Evidence
from orchestrator.gates.power_steering.rules.behaviour import changes_behaviour
from orchestrator.gates.power_steering.rules.found import Found, unmet

_FOLDERS = r"(?:^|[\s/=\"'])(?:packages|apps|crates|services|plugins|libs|modules)/"
_PACKAGE = re.compile(rf"{_FOLDERS}([\w@-]+)")
_WHOLE = re.compile(r"(?:--workspace\b(?!=)|--all\b|--recursive|\s-r\b|\./\.\.\.|//\.\.\.|\*)")
_NAME = re.compile(r"[\w@-]+")
_OPTIONS = (
    "-p",
    "--package",
    "--filter",
    "-F",
    "-w",
    "--workspace",
    "-pl",
    "--projects",
    "--project",
    "--scope",
)
_GRADLE = re.compile(r":?((?:[\w-]+:)*[\w-]+):\w*[tT]est\w*")
_SOURCES = frozenset({"src", "lib", "tests", "test", "app", "main"})


def only_elsewhere(evidence: Evidence, runs: Sequence[Command]) -> Found | None:
    """Find a changed package for which the runs since then name only other packages."""
    whole = {run.order for run in evidence.facts.test_runs if _WHOLE.search(run.line)}
    for package, edit in _changed(evidence).items():
        since = [run for run in evidence.facts.test_runs if run.order >= edit.order and run in runs]
        if not since or any(run.order in whole for run in since):
            continue
        if all(_names_others(evidence, run, package) for run in since):
            return unmet(f"{edit.path} was changed, and only the tests of other packages ran", runs[-1].line)
    return None


def _changed(evidence: Evidence) -> dict[str, Edit]:
    """The newest change of behaviour in each package."""
    changed: dict[str, Edit] = {}
    for edit in evidence.facts.edits:
        if edit.is_code and changes_behaviour(edit) and (package := _package_of(evidence, edit.path)):
            changed[package] = edit
    return changed


def _package_of(evidence: Evidence, path: str) -> str:
    """The name of the package folder: one below `packages` or the like, or one that contains `src`."""
    if found := _PACKAGE.search(path):
        return found[1]
    root = evidence.transcript.cwd.rstrip("/") + "/"
    parts = PurePosixPath(path.removeprefix(root)).parts
    at_top = bool(parts) and not parts[0].startswith("/")
    return parts[0] if at_top and len(parts) > 2 and parts[1] in _SOURCES and parts[0] not in _SOURCES else ""  # noqa: PLR2004


def _names_others(evidence: Evidence, run: Command, package: str) -> bool:
    """Whether a run names other packages, but not this one."""
    options = set(_chosen(run))
    if options:
        return package not in options and any(_are_siblings(evidence, package, one) for one in options)
    seen = [*(one.path for one in evidence.facts.reads), *(one.line for one in evidence.facts.commands)]
    known = {package, *(found[1] for text in seen for found in _PACKAGE.finditer(text))}
    named = {word for word in _NAME.findall(run.line) if word in known}
    return bool(named) and package not in named


def _chosen(run: Command) -> Iterator[str]:
    """The packages in a run's options or Gradle tasks, without their scope."""
    for simple in simple_commands(run.line):
        if not is_test_run(simple):
            continue
        names = [*simple.options(*_OPTIONS)]
        names += [found[1] for word in simple.plain if (found := _GRADLE.fullmatch(word))]
        given = (one for name in names if not name.startswith("-") for one in name.split(","))
        yield from (_short(one) for one in given if one)


def _short(name: str) -> str:
    """A package's name without its scope, its path and its parents."""
    return re.split(r"[/:]", name.strip("./:"))[-1]


def _are_siblings(evidence: Evidence, package: str, other: str) -> bool:
    """Whether the session shows both as sibling folders: in a listing, a manifest, or by their paths."""
    if other.startswith(f"{package}-"):
        return True
    texts = [*(one.text for one in evidence.facts.reads), *(one.output for one in evidence.facts.commands)]
    texts += [one.line for one in evidence.facts.commands]
    paths = [*(one.path for one in evidence.facts.reads), *(one.path for one in evidence.facts.edits)]
    beside = re.compile(rf"{_FOLDERS}{re.escape(other)}\b")
    return any(map(beside.search, [*paths, *texts])) or any(_lists(text, package, other) for text in texts)


def _lists(text: str, package: str, other: str) -> bool:
    """Whether a text has both as lines of their own, or quoted in one line."""
    lines = [line.strip().rstrip("/") for line in text.splitlines()]
    if {package, other} <= set(lines):
        return True
    quoted = [re.compile(rf"[\"']:?{re.escape(one)}[\"']") for one in (package, other)]
    return any(all(pattern.search(line) for pattern in quoted) for line in lines)
