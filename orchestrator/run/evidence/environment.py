"""The fingerprint of what commands run with: a result holds for a tree and for this."""

import hashlib
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from agents.shell import simple_commands

_SHELL_WORDS = frozenset({"cd", "true", "false", "test", "[", "echo", "export", "set", ":"})


def fingerprint_of(environ: Mapping[str, str], ready: Mapping[str, str], commands: Iterable[str]) -> str:
    """Changes when PATH, a program that the commands name, or what a set-up adds to the environment does.

    Args:
        environ: the environment of sq.
        ready: the variables that a set-up adds; a path below a worktree counts by its last parts.
        commands: the verification commands.
    """
    path = environ.get("PATH", os.defpath)
    facts = [f"PATH={path}", *sorted(name for name in ready)]
    names = {simple.name for command in commands for simple in simple_commands(command)} - _SHELL_WORDS
    facts += [f"{name}={_version(name, path)}" for name in sorted({*names, "python3", "node"})]
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:16]


def _version(name: str, path: str) -> str:
    """What tells one version of a program from another without running it: where it is, its size and time."""
    found = shutil.which(name, path=path)
    if found is None:
        return "none"
    real = Path(found).resolve()
    try:
        facts = real.stat()
    except OSError:
        return str(real)
    return f"{real} {facts.st_size} {facts.st_mtime_ns}"
