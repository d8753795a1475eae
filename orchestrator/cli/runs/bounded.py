"""The sandbox of commands while a run goes on: its control groups, the hosts that are open, git inside."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from agents.process.sandbox.choice import Choice
from agents.process.sandbox.control_groups import control_groups
from agents.process.sandbox.git_drivers import around_drivers
from agents.process.sandbox.policy import SandboxPolicy
from orchestrator.cli.runs.opened_hosts import reaching_out
from orchestrator.cli.runs.request import RunEnvironment, sandbox_policy_of
from orchestrator.git.command import commit_style, through
from orchestrator.git.pinned import drivers_of, write_program
from orchestrator.git.pinned_config import TrustedGit
from orchestrator.git.users.rules import style_of
from orchestrator.run.places.door import SandboxDoor
from state.journal.events import RunStarted
from state.paths import remove_scratch_folder
from state.settings.records import Settings


@asynccontextmanager
async def bounded(
    started: RunStarted,
    settings: Settings,
    environment: RunEnvironment,
    choice: Choice,
    *,
    folder: Path,
    trusted: TrustedGit,
    project: Path,
) -> AsyncIterator[SandboxPolicy]:
    """Provide the sandbox policy of a run while the block runs.

    The hosts that were open when the run began are. `folder` is the run's own, `project` the folder whose
    files name registries.
    """
    with control_groups(started.run_id, settings.sandbox.limits) as groups:
        root, seen = Path(started.repository), started.confined
        policy = sandbox_policy_of(choice, settings, environment, root, folder, groups)
        opened = reaching_out(policy, seen.registries, settings.sandbox, project, folder, seen.signed_in)
        async with opened as sandbox_policy, _git_inside(sandbox_policy, trusted, folder, settings):
            yield sandbox_policy


@asynccontextmanager
async def _drivers_inside(
    sandbox_policy: SandboxPolicy, trusted: TrustedGit, run_folder: Path
) -> AsyncIterator[None]:
    """Let git run the user's filters and merge drivers in the sandbox of the run, if it has one."""
    names, programs = drivers_of(trusted)
    if not names:
        yield
        return
    scratch = run_folder / "git-drivers"
    make = partial(around_drivers, sandbox_policy, common=trusted.common, own=trusted.folder)
    write_program(trusted.folder, make(scratch=scratch, programs=programs))
    try:
        yield
    finally:
        await remove_scratch_folder(scratch)


@asynccontextmanager
async def _git_inside(
    sandbox_policy: SandboxPolicy, trusted: TrustedGit, run_folder: Path, settings: Settings
) -> AsyncIterator[None]:
    """Let git read agents' places in sandboxes, at any level, where bubblewrap works, and commit as set."""
    commit_style.set(await style_of(trusted.root, settings))
    async with _drivers_inside(sandbox_policy, trusted, run_folder):
        if not sandbox_policy.choice.program:
            yield
            return
        scratch = run_folder / "door"
        names, paths = drivers_of(trusted)
        door = SandboxDoor(
            trusted=trusted,
            sandbox_policy=sandbox_policy,
            scratch=scratch,
            drivers=paths,
            filters=bool(names),
        )
        async with through(door):
            yield
        await remove_scratch_folder(scratch)
