"""`sq hooks`: install the stop gate into Claude Code's settings, and remove it.

`sq hook`, which Claude Code calls, is here for `--help`: `__main__` answers a hook before this is read.
"""

import os
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from orchestrator.cli import options
from orchestrator.gates.stop_gate.install import (
    HookState,
    Removal,
    Scope,
    command_for,
    memory_folder,
    notes_of,
    settings_files,
    states,
    warnings_of,
)
from orchestrator.gates.stop_gate.install import install as install_into
from orchestrator.gates.stop_gate.install import uninstall as uninstall_from
from orchestrator.gates.stop_gate.plugin import FOLDER
from orchestrator.gates.stop_gate.settings_text import this_sq
from orchestrator.views.screen import say, say_all, say_json
from state.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])

_NOT_INSTALLED = "the stop gate is not installed"


def _scope_option(help_text: str, default: Scope | None = Scope.USER) -> Callable[[F], F]:
    choice = click.Choice([str(scope) for scope in Scope])
    return click.option("--scope", type=choice, default=default and str(default), help=help_text)


@click.group("hooks", short_help="Install the stop gate into Claude Code, and take it out.")
def command() -> None:
    """The stop gate for your own sessions of Claude Code: it holds a session that stops too early.

    Scopes: `user` is for all your sessions, `local` for yours in this repository, `project` for all in it.
    The command written for a project does nothing on machines without sq.
    """


@command.command("install", short_help="Put the gate into Claude Code's settings.")
@_scope_option("Whose sessions: user (default), project or local.")
@click.option("--power-steering", is_flag=True, help="Ask the considerations too, up to 60 s a stop.")
def install(scope: str, power_steering: bool) -> int:
    """Put the stop gate into Claude Code's settings. Everything else in them stays.

    If it is already installed, this brings it up to date.
    """
    where, file = _file(scope)
    words = command_for(where, _sq(), power_steering=power_steering)
    changed = install_into(file, words, memory=memory_folder())
    say(f"the stop gate {'is now' if changed else 'was already'} installed in {file}: {words}")
    if where is Scope.PROJECT:
        say(f"Claude Code reads it in sessions that are begun in {file.parents[1]}, not in a folder below it")
    if where is Scope.LOCAL:
        say("the file names this machine's sq: keep it out of git")
    _warn(states(os.environ, options.repository_here(), _sq()))
    return 0


@command.command("uninstall", short_help="Take the gate out again.")
@_scope_option("From whose sessions: user (default), project or local.")
def uninstall(scope: str) -> int:
    """Take the stop gate out of Claude Code's settings.

    If the settings were not edited since, they are restored to the byte. Otherwise all else in them stays.
    """
    _, file = _file(scope)
    done = uninstall_from(file, memory=memory_folder())
    if done is Removal.NOT_THERE:
        say(f"{_NOT_INSTALLED} in {file}, and nothing was changed")
    elif not file.exists():
        say(f"the stop gate is taken out. {file} was made for it and is removed")
    elif done is Removal.RESTORED:
        say(f"the stop gate is taken out. {file} is as it was before")
    else:
        say(f"the stop gate is taken out of {file}. All else in it stays")
    for one in states(os.environ, options.repository_here(), _sq()):
        if one.installed:
            say(f"it is still installed in {one.file}: `sq hooks uninstall --scope {one.scope}`")
    return 0


@command.command("status", short_help="Show where the gate is installed.")
@_scope_option("Show this scope alone.", default=None)
@options.json_object
def status(scope: str | None, as_json: bool) -> int:
    """Show for each scope whether the stop gate is installed and would run, and its problems.

    The exit code is always 0.
    """
    found = states(os.environ, options.repository_here(), _sq())
    notes = list(notes_of(found))
    shown = [one for one in found if scope in {None, one.scope}]
    if as_json:
        say_json({"scopes": shown, "warnings": list(warnings_of(found)), "notes": notes})
        return 0
    for one in shown:
        say(f"{one.scope:<7}  {_state_text(one)}")
    say_all(notes)
    _warn(found)
    return 0


@command.command("plugin", short_help="Print the folder of the gate as a Claude Code plugin.")
def plugin() -> int:
    """Print the folder of the stop gate as a plugin, an alternative to settings.

    How to use it is written to stderr.
    """
    say(str(FOLDER))
    say(f"one session: claude --plugin-dir {shlex.quote(str(FOLDER))}", error=True)
    say('the Agent SDK: plugins=[{"type": "local", "path": FOLDER}]', error=True)
    return 0


def _sq() -> list[str]:
    return this_sq(sys.argv[0], sys.executable)


def _file(scope: str) -> tuple[Scope, Path]:
    """The file of a scope.

    Raises:
        UsageError: the scope needs a repository, and there is none around this folder.
    """
    where = Scope(scope)
    file = settings_files(os.environ, options.repository_here()).get(where)
    if file is None:
        raise UsageError(
            f"--scope {where} is for a repository and this folder is in none. Go there, or use user"
        )
    return where, file


def _state_text(one: HookState) -> str:
    if one.file is None:
        return "not in a repository"
    if one.problem:
        return one.problem
    if not one.installed:
        return f"{_NOT_INSTALLED} in {one.file}"
    told = "up to date" if one.up_to_date else "of another sq or an older form"
    if not one.runs:
        told = "its sq is not there"
    return f"installed in {one.file}, {told}, ended after {one.timeout_s} s at most: {one.command}"


def _warn(found: Sequence[HookState]) -> None:
    for warning in warnings_of(found):
        say(f"warning: {warning}", error=True)


@click.group("hook", short_help="Answer a hook of Claude Code (`sq hooks install` sets it up).")
def hook() -> None:
    """Answer a hook of Claude Code: its JSON on stdin, the answer on stdout."""


@hook.command("stop", short_help="Say whether a session of Claude Code may stop.")
@click.option("--power-steering", is_flag=True, help="Check with power steering too: a model, or rules.")
@click.option("--shared", is_flag=True, help="For shared settings: silent if another hook took the stop.")
def stop(power_steering: bool, shared: bool) -> None:
    """Say whether the session may stop: nothing or a message on stdout allows it, a decision holds it.

    The exit code is always 0.
    """
    from orchestrator.gates.stop_gate import entry

    del power_steering, shared  # `entry` reads the command line itself
    entry.main()
