"""Commands of the project, run by sq: in a process tree of their own, without secrets, under a deadline."""

import math
import os
import re
import socket
import time
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
from orchestrator.checks.bench import Ran
from orchestrator.project.runners.reporting import REPORTERS
from orchestrator.run.command_limits import exceeded, share_of
from orchestrator.run.ports import Reach
from orchestrator.run.purpose import next_command
from orchestrator.run.record import Record
from orchestrator.run.turns import ALONE, Turn, Turns, distance
from state.hidden import without_codes
from state.journal.events import CommandEnded, Event, TurnAwaited, TurnTaken
from state.paths import remove_scratch_folder
from state.records.commands import BaselineOutcome, CommandRun, HostUse
from state.roles import Role
from state.secrets import without_secrets
from state.settings.kinds import AUTO, EVERY
from state.settings.records import CommandNetwork, Settings

OUTPUT_KEPT = 4_000  # characters at the end of a command's output that are stored
_OUTPUT_READ = 8_000_000  # bytes that are read for counting
# A shell's exit codes for a command that is missing or not executable.
_NOT_STARTED = {126, 127}
_OF_SQ = {"PYTHONDONTWRITEBYTECODE": "1"}
# What a command did at the base tells what it may use afterwards, if it ran there.
_TELLING = {BaselineOutcome.PASSES, BaselineOutcome.FAILS}


@dataclass(slots=True, kw_only=True)
class ProjectCommands:
    """Runs commands of the project. `folder` is the run's own. `seconds` is their time so far.

    `beside` are paths that they may read beside each folder in which they run, each with its real one.
    `recorder` has the baseline, and takes the waits, begins and ends.
    Without it no command has a baseline, and all run in the order in which they are asked for.
    """

    environ: Mapping[str, str]
    folder: Path
    settings: Settings
    containment: Containment
    sandbox_policy: SandboxPolicy
    recorder: Record | None = None
    beside: Mapping[str, str] = field(default_factory=dict)
    turns: Turns = field(default_factory=lambda: Turns(processors()))
    seconds: float = 0.0
    _ports: dict[tuple[Path, str], str] = field(default_factory=dict)
    _waits: int = 0
    _begun: int = 0

    @property
    def sandboxed(self) -> bool:
        """Whether commands run in a sandbox."""
        return self.sandbox_policy.around_commands

    def hosts_used(self) -> tuple[HostUse, ...]:
        """As `Commands`."""
        return self.sandbox_policy.outside.take_uses()

    async def read_registry(self, host: str, path: str) -> bytes:
        """As `Commands`."""
        read = self.sandbox_policy.outside.read
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
        brief: bool = False,
        is_evidence: bool = False,
        alone: bool = False,
        within_s: float = math.inf,
    ) -> Ran:
        """As `Commands`. One at its limit is tried again alone, if it may have been held up by others."""
        variables = self._variables(folder, environment or {}, plainly=plainly)
        needs = partial(
            self._sandbox,
            folder,
            variables,
            readable=readable if plainly else (*REPORTERS, *readable),
            writable=[*writable, *filter(None, [reports])],
            reach=reach,
            lived_in=plainly,
        )
        name, base = told_as or command, self._at_the_base(like or told_as or command)

        async def attempt(share: float) -> tuple[CommandResult, bool]:  # and whether others ran beside it
            async with self._turn(name, share) as turn, needs() as sandbox, self._told(name, part=bool(like)):
                result = await run_command(
                    ["sh", "-c", command],
                    cwd=folder,
                    env=variables,
                    limit=partial(exceeded, self.settings.limits, base, self.turns.processors),
                    containment=self.containment,
                    deadline_s=within_s,
                    output_limit=_OUTPUT_READ,
                    sandbox=sandbox,
                )
            self.seconds += result.duration_s
            return result, turn.beside or self._agents_are_beside()

        first, was_beside = await attempt(ALONE if alone else self._share(name, base, brief=brief))
        hangs = first.timed_out and (was_beside or (base and first.used.silent_s))
        if not (hangs or (is_evidence and was_beside and first.exit_code)):
            return self._ran(name, first, reach)
        await _emptied(reports)
        return self._ran(name, (await attempt(ALONE))[0], reach, before=first.beyond)

    def _variables(self, folder: Path, more: Mapping[str, str], *, plainly: bool) -> dict[str, str]:
        ours = {} if plainly else _OF_SQ
        return {**without_secrets(self.environ), **ours, **self.variables_of(folder), **more}

    def _share(self, command: str, base: CommandRun | None, *, brief: bool) -> float:
        exclusive = self.settings.worktree_exclusive
        if not brief and (exclusive == (EVERY,) or command in exclusive):
            return ALONE
        return 0.0 if brief else share_of(base, self.turns.processors)

    def _agents_are_beside(self) -> bool:
        """Whether a Worker has a session now whose own commands reach the same ports and services."""
        reaches = not self.sandbox_policy.around_sessions or bool(self.settings.sandbox.services)
        calls = self.recorder.view.calls.values() if self.recorder and reaches else ()
        return any(call.end is None and call.started.role is Role.WORKER for call in calls)

    def _beside(self, folder: Path) -> dict[Path, Path]:
        """Return where commands in a folder find what lies beside the checkout, and where that is."""
        found = {Path(os.path.normpath(folder / one)): Path(real) for one, real in self.beside.items()}
        return {target: source for target, source in found.items() if source.exists()}

    def variables_of(self, folder: Path) -> dict[str, str]:
        """As `Commands`."""
        found = {}
        for name, _, text in (one.partition("=") for one in self.settings.worktree_variables):
            if text == AUTO and (folder, name) not in self._ports:
                with socket.socket() as free:
                    free.bind(("127.0.0.1", 0))
                    self._ports[folder, name] = str(free.getsockname()[1])
            place = re.sub(r"\W", "_", f"{folder.name}_{self.folder.name[-4:]}")
            found[name] = self._ports.get((folder, name)) or text.replace("{place}", place)
        return found

    def _at_the_base(self, command: str) -> CommandRun | None:
        """Return what a command did at the base, None if that says nothing of what it may use."""
        check = self.recorder.view.baseline.checks.get(command) if self.recorder else None
        return check.run if check and check.outcome in _TELLING else None

    @asynccontextmanager
    async def _turn(self, command: str, share: float) -> AsyncIterator[Turn]:
        """Wait for the turn of a command, and hold it during the block. A wait is recorded."""
        recorder, asked = self.recorder, next_command()
        about = {"task_id": asked.task_id, "command": command}
        rank = partial(distance, recorder.view, asked) if recorder else int
        turn = Turn(command=command, share=share, rank=rank)
        self.turns.ask(turn)
        try:
            if recorder and not turn.came.is_set():
                self._waits += 1
                number, behind = self._waits, tuple(one.command for one in self.turns.running)
                recorder.record(TurnAwaited(turn=number, behind=behind, **about))
                try:
                    await turn.came.wait()
                finally:
                    recorder.record(TurnTaken(turn=number, given_up=not turn.came.is_set(), **about))
            else:
                await turn.came.wait()
            yield turn
        finally:
            self.turns.leave(turn)

    def _ran(self, command: str, result: CommandResult, reach: Reach, *, before: str = "") -> Ran:
        exit_code, problem = result.exit_code, result.beyond or result.error
        if before and result.timed_out:
            problem = f"{problem}. It was tried twice, the second time alone"
        if exit_code in _NOT_STARTED:
            exit_code = None
            problem = f"could not start: {without_codes(result.output).strip()[-300:] or 'command not found'}"
        run = CommandRun(
            command=command,
            exit_code=exit_code,
            seconds=result.duration_s,
            output_tail=result.output[-OUTPUT_KEPT:],
            problem=problem,
            timed_out=result.timed_out,
            walled="" if result.exit_code == 0 else self._signs(result.output, reach),
            use=replace(result.used, before=before),
        )
        return Ran(run=run, output=result.output, exit_code=result.exit_code)

    async def contained(
        self,
        command: str,
        folder: Path,
        environment: Mapping[str, str] | None = None,
        *,
        writable: Sequence[Path] = (),
        reach: Reach = Reach.SEALED,
        brief: bool = False,
    ) -> CommandRun:
        """As `whole`, without the output."""
        ran = await self.whole(
            command, folder, environment=environment, writable=writable, reach=reach, brief=brief
        )
        return ran.run

    @asynccontextmanager
    async def _told(self, command: str, *, part: bool) -> AsyncIterator[None]:
        """Record that a command begins and that it has ended, also if it is cut off."""
        self._begun += 1
        started = replace(next_command(), number=self._begun, command=command, part=part)
        begun, is_cut = time.monotonic(), True
        self._record(started)
        try:
            yield
            is_cut = False
        finally:
            seconds = time.monotonic() - begun
            ended = CommandEnded(
                number=started.number, task_id=started.task_id, seconds=seconds, cut_off=is_cut
            )
            self._record(ended)

    def _record(self, event: Event) -> None:
        if self.recorder:
            self.recorder.record(event)

    def _signs(self, output: str, reach: Reach) -> str:
        if not self.sandboxed:
            return ""
        network = self._network(reach)
        if network is Network.HOSTS and self.sandbox_policy.outside.hosts is None:
            return "package registries (`sandbox.hosts` opens them)"
        return signs_in(output, home=str(self.sandbox_policy.home), online=network is not Network.NONE)

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
        sandbox_policy, beside = self.sandbox_policy, self._beside(folder)
        if not sandbox_policy.around_commands:
            for target, source in beside.items():  # there is no other way to show it there
                if target.parent == folder.parent and not os.path.lexists(target):
                    target.symlink_to(source)
            yield None
            return
        scratch = self.folder / SANDBOXES / uuid4().hex
        needs = Needs(
            workspace=folder,
            scratch=scratch,
            path=variables.get("PATH", os.defpath),
            beside=beside,
            readable=readable,
            writable=writable,
            network=self._network(reach),
            with_credentials=reach is Reach.ONLINE,
            lived_in=lived_in,
        )
        try:
            yield await to_thread.run_sync(sandbox_policy.plan, needs)
        finally:
            await remove_scratch_folder(scratch)


async def _emptied(reports: Path | None) -> None:
    if reports:
        await remove_scratch_folder(reports)
        reports.mkdir(mode=0o700)
