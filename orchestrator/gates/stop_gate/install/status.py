"""Where the stop gate is installed, whether it would run, and which problems it has. Nothing is changed."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator.gates.stop_gate.install.files import Scope, settings_files, settings_in
from orchestrator.gates.stop_gate.install.settings import (
    absolute_command,
    entry_of,
    gates_in,
    guarded_command,
    has_power_steering,
    program_of,
    sq_on_path,
)
from state.errors import UsageError

RIVAL = "double-shot-latte"  # asks a whole Claude Code at every stop, and seed 003 replaces it
PLUGIN = "sq-stop-gate"  # our own, by the name in its manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class HookState:
    """The gate in the settings of one scope. `file` is None without a repository.

    `runs`: the program of the command is there. `up_to_date`: this sq would write the same hook now.
    """

    scope: Scope
    file: Path | None
    installed: bool = False
    command: str = ""
    timeout_s: object = None
    power_steering: bool = False
    runs: bool = False
    up_to_date: bool = False
    disables_all_hooks: bool = False
    rivals: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    problem: str = ""


def standings(environ: Mapping[str, str], repository: Path | None, sq: Sequence[str]) -> list[HookState]:
    """The gate in each scope's settings. `sq` are the words that start the sq that runs now."""
    files = settings_files(environ, repository)
    return [_standing(scope, files.get(scope), environ, sq) for scope in Scope]


def warnings_of(found: Sequence[HookState]) -> Iterator[str]:
    """Warnings for the gate's user, each with the remedy."""
    for one in found:
        yield from _warnings_of_one(one)
    if len(_own(found)) > 1 or len(_shared(found)) > 1:
        yield f"the gate runs more than once at a stop: {_places(found)}. `sq hooks uninstall` removes one"


def notes_of(found: Sequence[HookState]) -> Iterator[str]:
    """Notes that need no action."""
    if len(_own(found)) == len(_shared(found)) == 1:
        yield f"the gate is installed more than once and runs once a stop: {_places(found)}"


def _running(found: Sequence[HookState]) -> list[HookState]:
    return [one for one in found if one.installed and one.runs]


def _own(found: Sequence[HookState]) -> set[str]:
    """The commands for this machine. Claude Code runs equal ones once."""
    return {one.command for one in _running(found) if program_of(one.command) is not None}


def _shared(found: Sequence[HookState]) -> set[str]:
    """The hooks that others share: of the project, and of plugins."""
    plugins = {name for one in found for name in one.plugins}
    return plugins | {one.command for one in _running(found) if program_of(one.command) is None}


def _places(found: Sequence[HookState]) -> str:
    plugins = [f"the plugin {name}" for one in found for name in one.plugins]
    return ", ".join([*(str(one.scope) for one in _running(found)), *plugins])


def command_for(scope: Scope, sq: Sequence[str], *, power_steering: bool) -> str:
    """The command for a scope: a project's settings are shared, the others belong to this machine."""
    if scope is Scope.PROJECT:
        return guarded_command(power_steering=power_steering)
    return absolute_command(sq, power_steering=power_steering)


def _standing(scope: Scope, file: Path | None, environ: Mapping[str, str], sq: Sequence[str]) -> HookState:
    if file is None:
        return HookState(scope=scope, file=None)
    try:
        settings = settings_in(file)
    except UsageError as error:
        return HookState(scope=scope, file=file, problem=str(error))
    gate = next(gates_in(settings), None)
    values = settings if isinstance(settings, dict) else {}
    enabled = values.get("enabledPlugins")
    names = [name for name, on in enabled.items() if on] if isinstance(enabled, dict) else []
    steering = gate is not None and has_power_steering(gate.command)
    wanted = entry_of(command_for(scope, sq, power_steering=steering))
    return HookState(
        scope=scope,
        file=file,
        installed=gate is not None,
        command=gate.command if gate else "",
        timeout_s=gate.entry.get("timeout") if gate else None,
        power_steering=steering,
        runs=gate is not None and _runs(gate.command, environ),
        up_to_date=gate is not None and {**gate.entry, **wanted} == gate.entry,
        disables_all_hooks=values.get("disableAllHooks") is True,
        rivals=tuple(name for name in names if name.partition("@")[0] == RIVAL),
        plugins=tuple(name for name in names if name.partition("@")[0] == PLUGIN),
    )


def _warnings_of_one(one: HookState) -> Iterator[str]:
    if one.problem:
        yield one.problem
    if one.disables_all_hooks:
        yield f"{one.file} has `disableAllHooks`: no hook runs, the stop gate neither"
    program = program_of(one.command)
    renew = f"`sq hooks install --scope {one.scope}{' --power-steering' if one.power_steering else ''}`"
    if one.installed and not one.runs and program is None:
        yield f"the gate in {one.file} does nothing here: the first `sq` on PATH, if any, is not this sq"
    elif one.installed and not one.runs:
        yield f"the gate in {one.file} cannot start {program}: it is gone. Renew it with {renew}"
    elif one.installed and not one.up_to_date:
        yield f"the gate in {one.file} is of another sq or an older form. Renew it with {renew}"
    for name in one.rivals:
        yield (
            f"the plugin {name} is enabled in {one.file}: it starts a whole Claude Code at every stop, and "
            f"the gate replaces it. Run `claude plugin disable {name}`"
        )


def _runs(command: str, environ: Mapping[str, str]) -> bool:
    program = program_of(command)
    if program is None:
        return sq_on_path(environ)
    from shutil import which

    return which(program, path=environ.get("PATH", os.defpath)) is not None
