"""The settings' checks of `sq doctor`: sq's own, and the hooks in those of Claude Code."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.session.permissions import rule_names
from orchestrator.gates.power_steering.considerations import load_considerations
from orchestrator.gates.stop_gate.install.command import this_sq
from orchestrator.gates.stop_gate.install.files import settings_files, settings_in
from orchestrator.gates.stop_gate.install.status import HookState, standings, warnings_of
from orchestrator.views.checks import DoctorCheck, fail, ok, warn
from state.errors import UsageError
from state.settings.config import load_config

_PROBLEM = "\n  - "  # before each problem, if a configuration has several
_STOP = "Stop"


def checks_of_settings(environ: Mapping[str, str], repository: Path | None) -> Iterator[DoctorCheck]:
    """Check the configuration and the considerations, each problem alone, and the hooks of Claude Code."""
    yield from _configuration(environ, repository)
    yield from _considerations(repository)
    gates = standings(environ, repository, this_sq(sys.argv[0], sys.executable))
    yield _hooks(list(settings_files(environ, repository).values()), gates)


def _configuration(environ: Mapping[str, str], repository: Path | None) -> Iterator[DoctorCheck]:
    name = "configuration"
    try:
        resolved = load_config(repository, environ, rules=rule_names())
    except UsageError as error:
        first, *others = str(error).split(_PROBLEM)
        for problem in others or [first]:
            yield fail(name, problem, "correct it, since no run begins before, then see `sq config show`")
        return
    read = [str(file) for file in resolved.files if file.is_file()]
    sources = ", ".join(read) or "no file, shipped defaults"
    yield ok(name, f"{sources}, effort {resolved.settings.effort.name}. All of it: `sq config show`")


def _considerations(repository: Path | None) -> Iterator[DoctorCheck]:
    name = "considerations"
    loaded = load_considerations(repository)
    for problem in loaded.problems:
        yield warn(name, problem, "correct it: power steering leaves it out. See `sq gate considerations`")
    if not loaded.problems:
        enabled = sum(one.enabled for one in loaded.considerations)
        yield ok(name, f"{enabled} are asked by power steering: `sq gate considerations`")


def _hooks(files: Sequence[Path], gates: Sequence[HookState]) -> DoctorCheck:
    name = "hooks"
    counts: dict[Path, tuple[int, int]] = {}
    unreadable = []
    for file in files:
        try:
            counts[file] = _counted(settings_in(file))
        except UsageError as error:
            unreadable.append(str(error))
        except ValueError as error:
            unreadable.append(f"{file} cannot be read: {error}")
    own = "sq's sessions load no settings of Claude Code and run none of them"
    if unreadable:
        advice = f"put it right for sessions of your own: {own}"
        return warn(name, "; ".join(unreadable), advice)
    there = [
        f"{everything} in {file}, {stop} of them for {_STOP}"
        for file, (everything, stop) in counts.items()
        if everything
    ]
    found = f"{'; '.join(there)}: {own}" if there else f"none in Claude Code's settings: {own}"
    return _stop_gate(name, found, gates)


def _stop_gate(name: str, found: str, gates: Sequence[HookState]) -> DoctorCheck:
    """Report where the stop gate is installed, if it is, and its problems there."""
    installed = [f"{gate.scope} ({gate.file})" for gate in gates if gate.installed]
    if not installed:
        return ok(name, found)
    found = f"the stop gate is installed for {', '.join(installed)}. Hooks: {found}"
    disturbed = list(warnings_of(gates))
    return warn(name, found, "; ".join(disturbed)) if disturbed else ok(name, found)


def _counted(settings: object) -> tuple[int, int]:
    """Count the hooks, and those of them for Stop.

    Raises:
        ValueError: these are not settings.
    """
    if not isinstance(settings, dict):
        raise ValueError("settings are an object")  # noqa: TRY004  the same error as json's
    events = settings.get("hooks") or {}
    if not isinstance(events, dict):
        raise ValueError("`hooks` is an object of events")  # noqa: TRY004
    lists = {event: groups for event, groups in events.items() if isinstance(groups, list)}
    numbers = {event: sum(map(_in_group, groups)) for event, groups in lists.items()}
    return sum(numbers.values()), numbers.get(_STOP, 0)


def _in_group(group: Any) -> int:  # noqa: ANN401  any content of a file
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return len(hooks) if isinstance(hooks, list) else 0
