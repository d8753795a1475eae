"""Commands of the project, run by sq: in a process tree of their own, without secrets, under a deadline."""

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from uuid import uuid4

from anyio import to_thread

from agents.backend import SANDBOXES
from agents.process.containment import Containment
from agents.process.sandbox.needs import Needs, Network
from agents.process.sandbox.plan import SandboxPlan
from agents.process.sandbox.policy import SandboxPolicy
from agents.process.sandbox.signs import signs_in
from agents.process.tree import CommandResult, run_command
from agents.process.usage import processors
from orchestrator.project.runners.reports import REPORTERS
from orchestrator.run.command_limits import CommandLimits, share_of
from orchestrator.run.ports import Ran, Reach
from orchestrator.run.record import Record
from orchestrator.run.turns import ALONE, Turn, Turns, current_task, distance
from state.journal.events import TurnAwaited, TurnTaken
from state.paths import remove_scratch_folder
from state.records.commands import BaselineStanding, CommandRun, HostUse
from state.secrets import without_secrets
from state.settings.records import CommandNetwork, Settings

OUTPUT_KEPT = 4_000  # characters at the end of a command's output that are stored
_OUTPUT_READ = 8_000_000  # bytes that are read for counting
# A shell's exit codes for a command that is missing or not executable.
_NOT_STARTED = {126, 127}
# What a command did at the base tells what it may use afterwards, if it ran there.
_TELLING = {BaselineStanding.PASSES, BaselineStanding.FAILS}


@dataclass(slots=True, kw_only=True)
class ProjectCommands:
    """Runs commands of the project. `folder` is the run's own. `seconds` is their time so far.

    The baseline and the waits stand in `recorder`. Without one no command is known, and none is nearer to its
    end.
    """

    environ: Mapping[str, str]
    folder: Path
    settings: Settings
    containment: Containment
    boundary: SandboxPolicy
    recorder: Record | None = None
    turns: Turns = field(default_factory=Turns)
    seconds: float = 0.0
    _waits: int = 0

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
        like: str = "",
        reports: Path | None = None,
        readable: Sequence[Path] = (),
        writable: Sequence[Path] = (),
        reach: Reach = Reach.SEALED,
        plainly: bool = False,
        again: bool = True,
    ) -> Ran:
        """As `Commands`."""
        of_sq = {} if plainly else {"PYTHONDONTWRITEBYTECODE": "1"}
        variables = {**without_secrets(self.environ), **of_sq, **(environment or {})}
        needed = readable if plainly else (*REPORTERS, *readable)
        sandbox = partial(
            self._sandbox,
            folder,
            variables,
            readable=needed,
            writable=(*writable, *([reports] if reports else ())),
            reach=reach,
            lived_in=plainly,
        )
        name = told_as or command
        base = self._at_the_base(like or name)

        async def once(share: float) -> tuple[Ran, bool]:
            async with self._turn(name, share) as turn, sandbox() as plan:
                result = await run_command(
                    ["sh", "-c", command],
                    cwd=folder,
                    env=variables,
                    limit=CommandLimits(limits=self.settings.limits, base=base).exceeded,
                    containment=self.containment,
                    output_limit=_OUTPUT_READ,
                    sandbox=plan,
                )
            self.seconds += result.duration_s
            return Ran(
                run=self._done(name, result, reach), output=result.output, exit_code=result.exit_code
            ), turn.beside

        ran, was_beside = await once(share_of(base, processors()))
        if not (ran.run.timed_out and again and (base or was_beside)):
            return ran
        if reports:
            await remove_scratch_folder(reports)
            reports.mkdir(mode=0o700)
        first = ran.run.problem
        ran, _ = await once(ALONE)
        run = replace(ran.run, timed_out_before=first)
        if run.timed_out:
            run = replace(run, problem=f"{run.problem}. It was tried twice, the second time alone")
        return replace(ran, run=run)

    def _at_the_base(self, command: str) -> CommandRun | None:
        """Return what a command did at the base, None if that says nothing of what it may use."""
        check = self.recorder.view.baseline.checks.get(command) if self.recorder else None
        return check.run if check and check.standing in _TELLING else None

    @asynccontextmanager
    async def _turn(self, command: str, share: float) -> AsyncIterator[Turn]:
        """Wait for the turn of a command, and hold it during the block. A wait is recorded."""
        recorder, task_id = self.recorder, current_task()
        rank = partial(distance, recorder.view, task_id) if recorder else int
        turn = Turn(share=share, rank=rank, command=command)
        self.turns.ask(turn)
        try:
            if not turn.came.is_set():
                await self._wait(turn, task_id)
            yield turn
        finally:
            self.turns.leave(turn)

    async def _wait(self, turn: Turn, task_id: str) -> None:
        self._waits += 1
        number, behind = self._waits, tuple(one.command for one in self.turns.running)
        record = self.recorder.record if self.recorder else lambda *_: None
        record(TurnAwaited(turn=number, task_id=task_id, command=turn.command, behind=behind))
        try:
            await turn.came.wait()
        finally:
            given_up = not turn.came.is_set()
            record(TurnTaken(turn=number, task_id=task_id, command=turn.command, given_up=given_up))

    def _done(self, command: str, result: CommandResult, reach: Reach) -> CommandRun:
        exit_code, problem, used = result.exit_code, result.beyond or result.error, result.used
        if exit_code in _NOT_STARTED:
            exit_code = None
            problem = f"could not start: {result.output.strip()[-300:] or 'command not found'}"
        return CommandRun(
            command=command,
            exit_code=exit_code,
            seconds=result.duration_s,
            output_tail=result.output[-OUTPUT_KEPT:],
            problem=problem,
            timed_out=result.timed_out,
            walled="" if result.exit_code == 0 else self._signs(result.output, reach),
            cpu_s=used.cpu_s if used else None,
            silence_s=used.silence_s if used and used.cpu_s is not None else None,
            processors=used.processors if used else None,
        )

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
