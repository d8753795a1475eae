"""The command of the stop gate in Claude Code's settings: how it is written and recognised."""

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

TIMEOUT_S = 30  # the gate ends by itself before that: its judge has 8 s
STEERING_TIMEOUT_S = 90  # likewise: power steering has 60 s

_MODULE = "orchestrator.cli"
SHARED = "--shared"  # two scopes may have the gate: this one is silent if the other took the stop
_STEERING = "--power-steering"
_NAMED = r"orchestrator[.][a-z]"  # each of our launchers names the module that it starts
_HEAD_BYTES = 4096  # a launcher is a small text, Debian's `sq` a large binary
# Runs our sq if it is on PATH. Does nothing if there is none, or another program of that name.
_GUARD = (
    's=$(command -v sq) && [ -x "$s" ] && head -c {head} "$s" 2>/dev/null | LC_ALL=C grep -q "{named}"'
    ' && exec "$s" {words}; exit 0'
)
_ANY_GUARD = re.compile(
    r"s=\$\(command -v sq\) && [^\n;]*orchestrator[^\n;]*"
    r' && exec "\$s" hook stop((?: --[a-z][a-z-]*)*); exit 0'
)
_FLAG = re.compile(r"--[a-z][a-z-]*(?:=[\w.-]*)?")
_MODULE_WORD = re.compile(r"orchestrator(?:\.\w+)*")


def absolute_command(sq: Sequence[str], *, power_steering: bool = False) -> str:
    """The command for one machine's settings. `sq` are the words that start sq, quoted here for sh."""
    return shlex.join([*sq, *_words(power_steering=power_steering)])


def guarded_command(*, power_steering: bool = False) -> str:
    """The command for shared settings: it does nothing if sq is missing or another program."""
    words = " ".join([*_words(power_steering=power_steering), SHARED])
    return _GUARD.format(head=_HEAD_BYTES, named=_NAMED, words=words)


def entry_of(command: str) -> dict[str, object]:
    """The hook's entry in settings. `timeout` is in seconds."""
    timeout = STEERING_TIMEOUT_S if has_power_steering(command) else TIMEOUT_S
    return {"type": "command", "command": command, "timeout": timeout}


def is_ours(command: str) -> bool:
    """Whether a command is only the stop gate, of this version of sq or another."""
    return _ANY_GUARD.fullmatch(command.strip()) is not None or program_of(command) is not None


def program_of(command: str) -> str | None:
    """The program that our command starts. None if it is the one on PATH, or the command is not ours."""
    match _split(command):
        case [program, "hook", "stop", *flags] if program.rpartition("/")[2] == "sq":
            pass
        case [program, "-I", "-m", module, "hook", "stop", *flags] if _MODULE_WORD.fullmatch(module):
            pass
        case _:
            return None
    return program if all(map(_FLAG.fullmatch, flags)) else None


def has_power_steering(command: str) -> bool:
    """Whether our command switches power steering on."""
    guard = _ANY_GUARD.fullmatch(command.strip())
    return _STEERING in (guard[1].split() if guard else _split(command))


def this_sq(argv0: str, executable: str) -> list[str]:
    """The words that start the sq that runs now, from any folder.

    This is the console script if there is one: the one that was called, or the one beside Python. A checkout
    has none, and its `bin/sq` may first have to make an environment. Then it is Python itself, isolated, so
    that a user's package called `state` does not replace ours.
    """
    for script in (Path(argv0).resolve(), Path(executable).with_name("sq")):
        if script.name == "sq" and is_our_launcher(script):
            return [str(script)]
    return [executable, "-I", "-m", _MODULE]


def is_our_launcher(path: Path) -> bool:
    """Whether a file is executable and its first bytes show that it is ours."""
    try:
        with path.open("rb") as file:
            return os.access(path, os.X_OK) and re.search(_NAMED.encode(), file.read(_HEAD_BYTES)) is not None
    except OSError:
        return False


def sq_on_path(environ: Mapping[str, str]) -> bool:
    """Whether the guarded command finds our sq."""
    from shutil import which

    found = which("sq", path=environ.get("PATH", os.defpath))
    return found is not None and is_our_launcher(Path(found))


def _words(*, power_steering: bool) -> list[str]:
    return ["hook", "stop", *([_STEERING] if power_steering else [])]


def _split(command: str) -> list[str]:
    """The words of a simple command. Empty, or with an operator in it, if sh would run more."""
    if "\n" in command.strip():
        return []
    words = shlex.shlex(command, posix=True, punctuation_chars=True)
    words.whitespace_split, words.commenters = True, ""
    try:
        return list(words)
    except ValueError:  # a quote that is not closed
        return []
