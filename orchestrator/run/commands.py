"""Commands of the project, run by sq: in a process tree of their own, without secrets, under a deadline."""

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from anyio import CancelScope, to_thread

from agents.backend import SANDBOXES
from agents.process.sandbox.boundary import Needs, forget
from agents.process.sandbox.plan import Network, Plan
from agents.process.tree import run_command
from agents.runners.counts.reporting import REPORTERS
from orchestrator.run.record import Run
from state.records import CommandRun
from state.secrets import without_secrets
from state.settings.records import CommandNetwork

OUTPUT_KEPT = 4_000  # characters at the end of a command's output that are stored
_OUTPUT_READ = 8_000_000  # bytes that are read for counting
# A shell's exit codes for a command that is missing or not executable.
_NOT_STARTED = {126, 127}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A command that was run: its stored record, its whole output, and the shell's exit code."""

    run: CommandRun
    output: str
    exit_code: int | None


async def run_whole(
    run: Run,
    command: str,
    folder: Path,
    *,
    environment: Mapping[str, str] | None = None,
    told_as: str = "",
    writable: Sequence[Path] = (),
    online: bool = False,
) -> Ran:
    """Run one command to its end or its deadline, in a sandbox if the run has one.

    Args:
        run: the run.
        command: a line for the shell.
        folder: the folder to run it in.
        environment: variables beside those of sq's own environment, of which the secrets are left out.
        told_as: the command that is recorded, if the one that is run has options for reporting added.
        writable: further folders that the command writes.
        online: the command is the project's own from before any agent worked on it, and installs what the
            project needs: it has the network and the credentials of package registries.
    """
    variables = {**without_secrets(run.environ), "PYTHONDONTWRITEBYTECODE": "1", **(environment or {})}
    async with _sandbox(run, folder, variables, writable=writable, online=online) as sandbox:
        result = await run_command(
            ["sh", "-c", command],
            cwd=folder,
            env=variables,
            deadline_s=run.limits.verify_s,
            containment=run.platform.containment,
            output_limit=_OUTPUT_READ,
            sandbox=sandbox,
        )
    run.command_seconds += result.duration_s
    exit_code, problem = result.exit_code, result.error
    if result.timed_out:
        problem = f"did not end within {run.limits.verify_s:g} s"
    elif exit_code in _NOT_STARTED:
        exit_code, problem = None, f"could not start: {result.output.strip()[-300:] or 'command not found'}"
    done = CommandRun(
        command=told_as or command,
        exit_code=exit_code,
        seconds=result.duration_s,
        output_tail=result.output[-OUTPUT_KEPT:],
        problem=problem,
        timed_out=result.timed_out,
    )
    return Ran(run=done, output=result.output, exit_code=result.exit_code)


async def run_contained(
    run: Run,
    command: str,
    folder: Path,
    environment: Mapping[str, str] | None = None,
    *,
    online: bool = False,
) -> CommandRun:
    """As `run_whole`, without the output."""
    return (await run_whole(run, command, folder, environment=environment, online=online)).run


@asynccontextmanager
async def _sandbox(
    run: Run, folder: Path, variables: Mapping[str, str], *, writable: Sequence[Path], online: bool
) -> AsyncIterator[Plan | None]:
    """Yield the sandbox for a command, or None if the run has none. Its folders are removed afterwards."""
    boundary = run.platform.boundary
    if not boundary.around_commands:
        yield None
        return
    scratch = run.folder / SANDBOXES / uuid4().hex
    full = online or run.settings.sandbox.network is CommandNetwork.FULL
    needs = Needs(
        workspace=folder,
        scratch=scratch,
        path=variables.get("PATH", os.defpath),
        readable=REPORTERS,
        writable=writable,
        network=Network.FULL if full else Network.NONE,
        with_credentials=online,
    )
    try:
        yield await to_thread.run_sync(boundary.plan, needs)
    finally:
        with CancelScope(shield=True):
            await to_thread.run_sync(forget, scratch)
