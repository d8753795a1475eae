"""The set-up of a worktree as it follows from its files, in the order of its steps."""

import hashlib
import os
import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

from anyio import to_thread

from orchestrator.git.seeding import files_to_copy, ignored_paths
from orchestrator.project.build_files.packages import MANIFEST as PACKAGE
from orchestrator.project.files import MANIFESTS, Shown, look
from orchestrator.project.readiness.environment import Interpreter, look_into_python
from orchestrator.project.readiness.python import python_steps
from orchestrator.project.readiness.steps import SetUpStep, key_of, locked_steps
from orchestrator.project.runners.row import Table
from orchestrator.project.runners.table import usual_table

# Files that commands of a user's list may depend on and that no row of the table names.
_DECIDING = (
    *("environment.yml", "GNUmakefile", "makefile", "Makefile", "justfile", "Taskfile.yml", ".tool-versions"),
    *(".python-version", ".nvmrc", ".ruby-version", "Dockerfile", "compose.yaml", "docker-compose.yml"),
)
_DEEPEST = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUpPlan:
    """The steps of a set-up. An equal `key` means an equal result. `left_out` names the impossible ones."""

    steps: tuple[SetUpStep, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The fingerprint of everything that the set-up depends on."""
        return hashlib.sha256(" ".join(step.key for step in self.steps).encode()).hexdigest()[:32]


async def plan_without_ignored(
    folder: Path, *, checkout: Path, include: Sequence[str], environ: Mapping[str, str]
) -> SetUpPlan:
    """Return the set-up as `plan_of`, from the lock files and manifests that git does not ignore there.

    A build makes the ignored ones, and no clone has them. Those of `include` count, the patterns of
    `worktree.include`, because each worktree gets them.
    """
    ignored = {*await ignored_paths(folder, await to_thread.run_sync(_deciding_files, folder))}
    if ignored and include:
        ignored -= {*await files_to_copy(checkout, include)}
    look_at = partial(plan_of, folder, checkout=checkout, environ=environ, ignored=ignored)
    return await to_thread.run_sync(look_at)


def plan_of(
    folder: Path,
    *,
    checkout: Path | None = None,
    environ: Mapping[str, str] = os.environ,
    ignored: Collection[str] = (),
    table: Table | None = None,
) -> SetUpPlan:
    """Return the set-up of a folder from its lock files and manifests. Nothing of the project is run.

    Args:
        folder: the worktree.
        checkout: the user's checkout, from which the project may be installed.
        environ: the environment whose programs are used.
        ignored: files that do not count.
        table: the table of runners and tools. None is sq's own.
    """
    table = table or usual_table()
    path = environ.get("PATH", os.defpath)

    @cache
    def python() -> Interpreter | None:
        return look_into_python(environ, path, not_run_in=[folder, *([checkout] if checkout else [])])

    @cache
    def from_checkout() -> bool:
        found, root = python(), Path(os.path.realpath(checkout or os.devnull))
        return bool(
            found and checkout and any(place.is_relative_to(root) for place in (*found.roots, *found.places))
        )

    shown = look(folder)
    shown = replace(shown, files=shown.files.difference(ignored))
    steps: list[SetUpStep] = []
    left_out: dict[str, None] = {}
    for part in ("", *shown.folders_with(*_asking(table), deepest=_DEEPEST)):
        found = [
            *locked_steps(shown, part, table),
            *python_steps(shown, part, table, python, from_checkout=from_checkout),
        ]
        for step in found:
            if any(_stands_for(done, step) for done in steps):
                continue
            if shutil.which(step.program, path=path):
                steps.append(step)
            else:
                left_out[_lacking(step)] = None
    return SetUpPlan(steps=tuple(steps), left_out=tuple(left_out))


def _lacking(step: SetUpStep) -> str:
    return (
        f"{step.why} is there and {step.program} is not installed, so `{step.command}` is left out: install "
        f"{step.program}, or name the commands of the set-up in worktree.setup of sq.toml"
    )


def key_of_list(folder: Path, commands: Sequence[str]) -> str:
    """Return a fingerprint of the files that the commands of a user's list may depend on.

    These are the manifests and lock files in a folder, and the files that the commands name.
    """
    shown = look(folder)
    deciding = _deciding(shown)
    words = {word.strip("\"'").removeprefix("./") for command in commands for word in command.split()}
    files = [name for name in sorted(shown.files) if name in words or name in deciding]
    return key_of(shown, tuple(files), *commands)


def _asking(table: Table) -> set[str]:
    """Return the names of files that may ask for a step."""
    locks = {lock for tool in table.tools.values() if tool.ecosystem != "node" for lock in tool.locks}
    return {*locks, PACKAGE, "requirements.txt", *MANIFESTS}


def _deciding(shown: Shown) -> set[str]:
    table = usual_table()
    tools = {
        name for tool in table.tools.values() for name in (*tool.locks, *tool.files, *tool.apart.manifests)
    }
    names = {*_asking(table), *tools, *table.manifests, *_DECIDING}
    return {*shown.named(*names, deepest=_DEEPEST)}


def _deciding_files(folder: Path) -> list[str]:
    return sorted(_deciding(look(folder)))


def _stands_for(done: SetUpStep, other: SetUpStep) -> bool:
    """Whether the step of a folder sets up one below it too, of the same ecosystem, as in workspaces."""
    above, below = done.why.rpartition("/")[0], other.why.rpartition("/")[0]
    return done.ecosystem == other.ecosystem and (
        not above or below == above or below.startswith(f"{above}/")
    )
