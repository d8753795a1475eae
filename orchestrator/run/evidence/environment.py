"""The fingerprint of the environment of commands. A result holds for one tree and one fingerprint."""

import hashlib
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from orchestrator.project.shell import simple_commands

_SHELL_WORDS = frozenset({"cd", "true", "false", "test", "[", "echo", "export", "set", ":"})


def fingerprint_of(environ: Mapping[str, str], ready: Mapping[str, str], commands: Iterable[str]) -> str:
    """Return a fingerprint of PATH, of the programs that commands name, and of a set-up's variables.

    Args:
        environ: the environment of sq.
        ready: the variables that a set-up adds. Only their names count.
        commands: the verification commands.
    """
    path = environ.get("PATH", os.defpath)
    facts = [f"PATH={path}", *sorted(name for name in ready)]
    names = {simple.name for command in commands for simple in simple_commands(command)} - _SHELL_WORDS
    facts += [f"{name}={_version(name, path)}" for name in sorted({*names, "python3", "node"})]
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:16]


def _version(name: str, path: str) -> str:
    """Return a mark of a program's version without running it: its path, its size and its time."""
    found = shutil.which(name, path=path)
    if found is None:
        return "none"
    real = Path(found).resolve()
    try:
        facts = real.stat()
    except OSError:
        return str(real)
    return f"{real} {facts.st_size} {facts.st_mtime_ns}"
