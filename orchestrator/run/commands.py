"""Commands of the project, run by sq: in a process tree of their own, without secrets, under a deadline."""

import os
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

from anyio import to_thread

from agents.backend import SANDBOXES
from agents.process.containment import Containment
from agents.process.sandbox.needs import Needs, Network
from agents.process.sandbox.plan import SandboxPlan
from agents.process.sandbox.policy import SandboxPolicy
from agents.process.sandbox.signs import signs_in
from agents.process.tree import run_command
from orchestrator.project.runners.reports import REPORTERS
from orchestrator.run.ports import Ran, Reach
from orchestrator.run.purpose import next_command
from state.journal.events import CommandEnded, Event
from state.paths import remove_scratch_folder
from state.records.commands import CommandRun, HostUse
from state.secrets import without_secrets
from state.settings.records import CommandNetwork, Settings

OUTPUT_KEPT = 4_000  # characters at the end of a command's output that are stored
_OUTPUT_READ = 8_000_000  # bytes that are read for counting
# A shell's exit codes for a command that is missing or not executable.
_NOT_STARTED = {126, 127}


@dataclass(slots=True, kw_only=True)
class ProjectCommands:
    """Runs commands of the project. `folder` is the run's own. `seconds` is their time so far.

    `record` takes the events of their begin and end. `begun` is how many there were.
    """

    environ: Mapping[str, str]
    folder: Path
    settings: Settings
    containment: Containment
    boundary: SandboxPolicy
    seconds: float = 0.0
    record: Callable[[Event], object] = id
    begun: int = 0

    @property
    def sandboxed(self) -> bool:
        """Whether commands run in a sandbox."""
        return self.boundary.around_commands

    def hosts_used(self) -> tuple[HostUse, ...]:
        """As `Commands`."""
        return self.boundary.outside.take_uses()

    async def read_registry(self, host: str, path: str) -> bytes:
        """As `Commands`."""
        read = self.boundary.outside.read
        return await read(host, path) if read else b""

    async def whole(
        self,
        command: str,
        folder: Path,
        *,
        environment: Mapping[str, str] | None = None,
        told_as: str = "",
        readable: Sequence[Path] = (),
        writable: Sequence[Path] = (),
        reach: Reach = Reach.SEALED,
        plainly: bool = False,
    ) -> Ran:
        """As `Commands`."""
        of_sq = {} if plainly else {"PYTHONDONTWRITEBYTECODE": "1"}
        variables = {**without_secrets(self.environ), **of_sq, **(environment or {})}
        needed = readable if plainly else (*REPORTERS, *readable)
        async with self._sandbox(
            folder, variables, readable=needed, writable=writable, reach=reach, lived_in=plainly
        ) as sandbox:
            with self._told(told_as or command):
                result = await run_command(
                    ["sh", "-c", command],
                    cwd=folder,
                    env=variables,
                    deadline_s=self.settings.limits.verify_s,
                    containment=self.containment,
                    output_limit=_OUTPUT_READ,
                    sandbox=sandbox,
                )
        self.seconds += result.duration_s
        exit_code, problem = result.exit_code, result.error
        if result.timed_out:
            problem = f"did not end within {self.settings.limits.verify_s:g} s"
        elif exit_code in _NOT_STARTED:
            exit_code = None
            problem = f"could not start: {result.output.strip()[-300:] or 'command not found'}"
        done = CommandRun(
            command=told_as or command,
            exit_code=exit_code,
            seconds=result.duration_s,
            output_tail=result.output[-OUTPUT_KEPT:],
            problem=problem,
            timed_out=result.timed_out,
            walled="" if result.exit_code == 0 else self._signs(result.output, reach),
        )
        return Ran(run=done, output=result.output, exit_code=result.exit_code)

    async def contained(
        self,
        command: str,
        folder: Path,
        environment: Mapping[str, str] | None = None,
        *,
        writable: Sequence[Path] = (),
        reach: Reach = Reach.SEALED,
    ) -> CommandRun:
        """As `whole`, without the output."""
        ran = await self.whole(command, folder, environment=environment, writable=writable, reach=reach)
        return ran.run

    @contextmanager
    def _told(self, command: str) -> Iterator[None]:
        """Record that a command begins and that it has ended, also if it is cut off."""
        self.begun += 1
        started = replace(next_command.get(), number=self.begun, command=command)
        begun, is_cut = time.monotonic(), True
        self.record(started)
        try:
            yield
            is_cut = False
        finally:
            number, seconds = started.number, time.monotonic() - begun
            self.record(CommandEnded(number=number, task_id=started.task_id, seconds=seconds, cut_off=is_cut))

    def _signs(self, output: str, reach: Reach) -> str:
        if not self.sandboxed:
            return ""
        network = self._network(reach)
        if network is Network.HOSTS and self.boundary.outside.hosts is None:
            return "package registries (`sandbox.hosts` opens them)"
        return signs_in(output, home=str(self.boundary.home), online=network is not Network.NONE)

    def _network(self, reach: Reach) -> Network:
        if reach is Reach.DOWNLOADS:
            return Network.HOSTS
        is_full = reach is Reach.ONLINE or self.settings.sandbox.network is CommandNetwork.FULL
        return Network.FULL if is_full else Network.NONE

    @asynccontextmanager
    async def _sandbox(
        self,
        folder: Path,
        variables: Mapping[str, str],
        *,
        readable: Sequence[Path],
        writable: Sequence[Path],
        reach: Reach,
        lived_in: bool,
    ) -> AsyncIterator[SandboxPlan | None]:
        """Yield the sandbox for a command, None if the run has none. Its folders are removed afterwards."""
        boundary = self.boundary
        if not boundary.around_commands:
            yield None
            return
        scratch = self.folder / SANDBOXES / uuid4().hex
        needs = Needs(
            workspace=folder,
            scratch=scratch,
            path=variables.get("PATH", os.defpath),
            readable=readable,
            writable=writable,
            network=self._network(reach),
            with_credentials=reach is Reach.ONLINE,
            lived_in=lived_in,
        )
        try:
            yield await to_thread.run_sync(boundary.plan, needs)
        finally:
            await remove_scratch_folder(scratch)
