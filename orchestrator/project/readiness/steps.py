"""One step of a set-up, and its inputs."""

import hashlib
import shlex
from dataclasses import dataclass

from orchestrator.project.files import Shown
from state.safe_paths import read_inside

VENV = ".venv"  # the folder of the environment that a Python project gets


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUpStep:
    """A command that makes a worktree ready for one ecosystem.

    `tool` is its row of the table, `program` has to be installed for it, and `why` is the file that asks for
    it. `portable` are folders that are the same at any path. They are made once and copied. `makes` are
    folders that hold absolute paths, and that are removed again if the command fails. `key` changes with
    everything that the result depends on. `wants` are the packages that a Python project and its build
    require, None if only a script knows them.
    """

    command: str
    ecosystem: str
    program: str
    why: str
    tool: str = ""
    portable: tuple[str, ...] = ()
    makes: tuple[str, ...] = ()
    key: str = ""
    wants: tuple[str, ...] | None = None

    def __str__(self) -> str:
        """Return the form shown to people."""
        return f"{self.command} ({self.why})"


def key_of(shown: Shown, files: tuple[str, ...], *more: str) -> str:
    """Return a fingerprint of these files, whole, and of some texts."""
    found = hashlib.sha256()
    for name in (one for one in files if shown.has(one)):
        found.update(f"\0{name}\0".encode())
        try:
            found.update(read_inside(shown.folder, name))
        except OSError:
            continue
    for text in more:
        found.update(f"\0{text}".encode())
    return found.hexdigest()[:32]


def at(part: str, command: str) -> str:
    """Return a command for a folder, to be run from the root. "" is the root itself."""
    return f"cd {shlex.quote(part)} && {command}" if part else command


def below(part: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return paths in a folder as paths from the root."""
    return tuple(f"{part}/{name}" if part else name for name in names)
