"""The environment of a result: what decides it beside the files of its tree."""

import hashlib
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from anyio import to_thread

from orchestrator.checks.bench import Bench, ScratchWorktree
from orchestrator.git.seeding import files_to_copy
from orchestrator.project.readiness.environment import look_into_python
from orchestrator.project.readiness.inputs import mark_of
from orchestrator.project.shell import simple_commands

_SHELL_WORDS = frozenset({"cd", "true", "false", "test", "[", "echo", "export", "set", ":"})


async def fingerprint_of(
    bench: Bench, repository: Path, place: ScratchWorktree, commands: Iterable[str]
) -> str:
    """Return a fingerprint of what decides the results of commands in a place beside the files of its tree.

    That is PATH with the programs that they name, the packages of the Python there, the set-up's steps and
    variables (by name), the user's ignored files, and the sandbox.
    """
    environ = bench.commands.environ
    path = environ.get("PATH", os.defpath)
    included = await files_to_copy(repository, bench.included, state=bench.state)
    names = {simple.name for command in commands for simple in simple_commands(command)} - _SHELL_WORDS

    def facts() -> list[str]:
        found = look_into_python(environ, path, not_run_in=[place.folder, repository])
        asked = {*names, "python3", "node"}
        programs = [f"{name}={mark_of(shutil.which(name, path=path))}" for name in asked]
        return [
            f"PATH={path}",
            bench.settings,
            place.set_up,
            str(found.packages() if found else ()),
            *sorted((*place.environment, *programs)),
            *(f"{name}={mark_of(repository / name)}" for name in included),
        ]

    told = "\n".join(await to_thread.run_sync(facts))
    return hashlib.sha256(told.encode()).hexdigest()[:16]
