"""Kills whole process trees: with sq, with their command, at a deadline, or on cancellation.

Everything that sq starts for a run (the Claude Code CLI by the launcher as the SDK's `cli_path`, verification
commands by `run_command`) runs under `agents/process/supervisor.py`, which describes how the tree is held and
ended and which processes are out of reach. Use it from a thread that lives as long as the command, as the
event loop's does: with `namespaces`, the kernel ends the tree with the thread that started it.
"""

from __future__ import annotations

import contextlib
import math
import os
import subprocess
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
from anyio import to_thread

from agents.process.containment import Containment, contained
from agents.process.sandbox.bubblewrap import FAILED, bubblewrapped
from agents.process.sandbox.totals import NEAR, exceeded
from agents.process.supervisor import USED
from agents.process.usage import LOOK_S, Meter
from state.records.commands import CommandUse

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from anyio.abc import ByteReceiveStream, ByteSendStream, Process

    from agents.process.sandbox.plan import SandboxPlan

ENDING_LIMIT_S = 4.0  # the supervisor's grace of two seconds, and time to kill and collect
_MB = 2**20
LAST_OUTPUT_LIMIT_S = 1.0  # from the exit to the end of output, late only if a process out of reach holds it
UTF8_CONTINUATION = range(0x80, 0xC0)  # the second to fourth byte of a character


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandResult:
    """The result of a command."""

    exit_code: int | None
    """128 + n if signal n ended it, None if it did not start or was ended at its deadline."""
    timed_out: bool
    started: bool
    output: str
    """Standard output and error in the order written. A long one is cut to its end, below a note."""
    duration_s: float
    error: str
    """Why it did not start, else ""."""
    used: CommandUse
    beyond: str = ""
    """The limit at which it was ended, in the words of `limit`."""


async def run_command(
    command: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    containment: Containment,
    deadline_s: float = math.inf,
    limit: Callable[[CommandUse, str], str] = lambda _used, _said: "",
    output_limit: int = 20_000,
    sandbox: SandboxPlan | None = None,
    given: bytes = b"",
) -> CommandResult:
    """Run a command to its end or its deadline, and leave nothing of its tree behind.

    `output_limit` is in bytes, `given` is the input. `limit` is asked every `LOOK_S` seconds with what the
    command has used, and ends it like the deadline by returning why. At the deadline and on cancellation the
    command gets SIGTERM, and two seconds later everything gets SIGKILL. A command that cannot be started is a
    result, not an exception. With `sandbox` it runs in there, and if the sandbox cannot be made, the command
    could not be started.
    """
    begun, held, used, timed_out, exit_code = time.monotonic(), _Held(), CommandUse(), False, None
    tail = _Tail(output_limit, (sandbox.ceilings.output_mb or 0) * _MB if sandbox else 0)
    with _pipe() as (report, report_end):
        stdin = subprocess.PIPE if given else subprocess.DEVNULL
        try:
            process = await _start(command, sandbox, containment, report_end, stdin=stdin, cwd=cwd, env=env)
        except (OSError, ValueError) as problem:  # no such folder, a NUL character in an argument
            error = str(problem)
        else:
            meter = Meter(process.pid, lambda: tail.bytes)
            async with _ended(process), _collected(process.stdout, tail):
                with anyio.move_on_after(deadline_s) as deadline:
                    async with _held_to(held, limit, meter, sandbox, tail):
                        await _feed(process.stdin, given)
                        await process.wait()
                timed_out = deadline.cancelled_caught or bool(held.beyond)
                await _end(process)
            why, cpu_s = _read_report(report)
            exit_code, used = process.returncode, meter.at_the_end(cpu_s)
            error = held.exceeded or why or (_no_sandbox(tail.text()) if sandbox and exit_code else "")
    return CommandResult(
        exit_code=None if timed_out or error else _shell_code(exit_code),
        timed_out=timed_out,
        started=not error,
        output=tail.text(),
        duration_s=time.monotonic() - begun,
        error=error,
        used=used,
        beyond=held.beyond,
    )


_END = 2_000  # bytes that show what a command waits for


class _Tail:
    """The last `limit` of the bytes added.

    `full` is set when they were more than `most`, and `nearly_full` before.
    """

    def __init__(self, limit: int, most: int = 0) -> None:
        self._limit = limit
        self._most = most
        self.nearly_full, self.full = anyio.Event(), anyio.Event()
        self._kept = bytearray()
        self._left_out = 0

    def add(self, data: bytes) -> None:
        self._kept += data
        if self._most and self.bytes > NEAR * self._most:
            self.nearly_full.set()
        if self._most and self.bytes > self._most:
            self.full.set()
        self._drop(len(self._kept) - self._limit)

    @property
    def bytes(self) -> int:
        return self._left_out + len(self._kept)

    def end(self) -> str:
        return self._kept[-_END:].decode(errors="replace")

    def text(self) -> str:
        if self._left_out:  # do not begin in the middle of a character
            starts = (at for at, byte in enumerate(self._kept[:4]) if byte not in UTF8_CONTINUATION)
            self._drop(next(starts, 0))
        text = self._kept.decode(errors="replace")
        return f"[{self._left_out} bytes left out]\n{text}" if self._left_out else text

    def _drop(self, count: int) -> None:
        if count > 0:
            del self._kept[:count]
            self._left_out += count


async def _start(
    command: Sequence[str],
    sandbox: SandboxPlan | None,
    containment: Containment,
    report: int,
    **options: Any,  # noqa: ANN401  anyio's own
) -> Process:
    inside, limits = (bubblewrapped(command, sandbox), sandbox.limits) if sandbox else (command, [])
    argv = contained(inside, containment, report=str(report), limits=limits)
    with anyio.CancelScope(shield=True):  # a start that is cut in the middle would have no owner
        process = await anyio.open_process(argv, stderr=subprocess.STDOUT, pass_fds=(report,), **options)
    return process  # noqa: RET504  a scope may swallow, mypy says


@dataclass(slots=True)
class _Held:
    beyond: str = ""  # its limit
    exceeded: str = ""  # a total of its sandbox


@contextlib.asynccontextmanager
async def _held_to(
    held: _Held,
    limit: Callable[[CommandUse, str], str],
    meter: Meter,
    sandbox: SandboxPlan | None,
    tail: _Tail,
) -> AsyncIterator[None]:
    """End the block when the command exceeds its limit or a total of its sandbox. `held` gets which."""

    async def look() -> None:
        while not held.beyond:
            await anyio.sleep(LOOK_S)
            held.beyond = limit(await to_thread.run_sync(meter.look, abandon_on_cancel=True), tail.end())
        group.cancel_scope.cancel()

    async def watch(wait: Callable[[], Awaitable[str]]) -> None:
        held.exceeded = f"it was ended, because {await wait()}"
        group.cancel_scope.cancel()

    async def printed(sandbox: SandboxPlan) -> str:
        await tail.nearly_full.wait()
        sandbox.warn(f"sandbox.limits.output_mb ({sandbox.ceilings.output_mb}) is near: {NEAR:.0%} is used")
        await tail.full.wait()
        return f"it printed more than {sandbox.ceilings.output_mb} MiB (sandbox.limits.output_mb)"

    async with anyio.create_task_group() as group:
        group.start_soon(look)
        if sandbox:
            group.start_soon(watch, partial(exceeded, sandbox))
            group.start_soon(watch, partial(printed, sandbox))
        yield
        group.cancel_scope.cancel()


async def _feed(stdin: ByteSendStream | None, given: bytes) -> None:
    """Send the input and close it. A command need not read it."""
    if stdin is not None:
        with contextlib.suppress(OSError, anyio.BrokenResourceError):
            await stdin.send(given)
            await stdin.aclose()


@contextlib.asynccontextmanager
async def _ended(process: Process) -> AsyncIterator[None]:
    """End the tree and close the streams when the block is left in any way."""
    try:
        yield
    finally:
        with anyio.CancelScope(shield=True):
            await _end(process)
            await process.aclose()


async def _end(process: Process) -> None:
    """End the tree if it has not ended. SIGTERM alone suffices, even if the code after it is cancelled."""
    if process.returncode is None:
        process.terminate()
        with anyio.move_on_after(ENDING_LIMIT_S, shield=True):
            await process.wait()
    if process.returncode is None:
        process.kill()
        with anyio.move_on_after(ENDING_LIMIT_S, shield=True):
            await process.wait()


@contextlib.asynccontextmanager
async def _collected(output: ByteReceiveStream | None, tail: _Tail) -> AsyncIterator[None]:
    """Read the output during the block, and to its end if that comes soon after."""
    finished = anyio.Event()

    async def collect() -> None:
        if output is not None:
            async for data in output:
                tail.add(data)
        finished.set()

    async with anyio.create_task_group() as group:
        group.start_soon(collect)
        yield
        with anyio.move_on_after(LAST_OUTPUT_LIMIT_S):
            await finished.wait()
        group.cancel_scope.cancel()


@contextlib.contextmanager
def _pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    try:
        yield ends
    finally:
        for end in ends:
            os.close(end)


def _read_report(report: int) -> tuple[str, float | None]:
    """Return why the supervisor did not start the command, or "", and the processor time that it tells."""
    os.set_blocking(report, False)  # it writes before it exits
    try:
        text = os.read(report, 4096).decode(errors="replace")
    except BlockingIOError:
        return "", None
    why, _, used = text.partition(USED)
    return why.strip(), float(used) if used else None


def _no_sandbox(output: str) -> str:
    """Return why the sandbox could not be made, or "". A command may fake that, and has not passed then."""
    first = output.lstrip().partition("\n")[0]
    return first if first.startswith(FAILED) else ""


def _shell_code(returncode: int | None) -> int | None:
    return returncode if returncode is None or returncode >= 0 else 128 - returncode
