"""Process trees that end whole: with sq, with their command, at a deadline, or on cancellation.

Everything that sq starts for a run (the Claude Code CLI by the launcher as the SDK's `cli_path`, verification
commands by `run_command`) runs under `agents/process/supervisor.py`, which describes how the tree is held and
ended and which processes are out of reach. Use it from a thread that lives as long as the command, as the
event loop's does: with `namespaces`, the kernel ends the tree with the thread that started it.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import subprocess
import sys
import time
from collections import deque
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from agents.process.supervisor import ENDED, TELL_END
from state.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence

    from anyio.abc import ByteReceiveStream, Process

SUPERVISOR = Path(__file__).with_name("supervisor.py")
PROBE_LIMIT_S = 5.0  # it takes 50 ms, and an overloaded machine still gets the safer way
ENDING_LIMIT_S = 4.0  # the supervisor's grace of two seconds, and time to kill and collect
LAST_OUTPUT_LIMIT_S = 1.0  # from the exit to the end of output, late only if a process out of reach holds it
WORDS_KEPT = 20
UTF8_CONTINUATION = range(0x80, 0xC0)  # the second to fourth byte of a character
SHELL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Containment(StrEnum):
    """How a process tree is held together. `agents/process/supervisor.py` describes both ways."""

    NAMESPACES = "namespaces"
    SUPERVISOR = "supervisor"


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


def detect_containment(environ: Mapping[str, str] = os.environ) -> Containment:
    """Return the way that works here: `SQ_CONTAINMENT` if set, else namespaces if a trial run succeeds.

    Takes about 50 ms and blocks. Call it before the event loop starts.

    Raises:
        UsageError: `SQ_CONTAINMENT` does not name a way.
    """
    forced = environ.get("SQ_CONTAINMENT", "")
    if forced:
        try:
            return Containment(forced)
        except ValueError:
            known = ", ".join(Containment)
            raise UsageError(
                f"SQ_CONTAINMENT is {forced!r}. Set it to one of: {known}, or unset it"
            ) from None
    return Containment.NAMESPACES if _namespaces_work() else Containment.SUPERVISOR


def contained(argv: Sequence[str], containment: Containment, *, parent: int | None = None) -> list[str]:
    """Return the command line that runs `argv` so that its tree ends with process `parent` (this one).

    Only `parent` itself can start it. Started by another process it refuses, exit code 125. The tree also
    ends when `argv` exits (the exit code is that of `argv`, 128 + n if signal n ended it) and two seconds
    after SIGTERM, which `argv` gets first.
    """
    return _supervised(argv, containment, parent, report="-")


def write_launcher(
    path: Path, command: Path, containment: Containment, *, drop_env: Collection[str] = ()
) -> Path:
    """Write an executable for the SDK's `cli_path`: `command`, contained, without the variables `drop_env`.

    It works only for the process that wrote it, so a resumed run writes its own. The last line on standard
    error reports how it ended (`LastWords`). Returns `path`.
    """
    unset = sorted(name for name in drop_env if SHELL_NAME.fullmatch(name))
    unnamable = sorted(name for name in {*drop_env} - {*unset} if name and "=" not in name)
    env = ["env", *(word for name in unnamable for word in ("-u", name))] if unnamable else []
    argv = _supervised([str(command)], containment, None, report=TELL_END)
    lines = [
        "#!/bin/sh",
        *(f"unset {name}" for name in unset),
        f'exec {shlex.join([*env, *argv])} "$@"',
    ]
    draft = path.with_name(f"{path.name}.draft")
    draft.write_bytes(os.fsencode("\n".join(lines) + "\n"))
    draft.chmod(0o700)
    return draft.replace(path)


class LastWords:
    """A launcher's standard error: the newest lines, and whether and how the process ended.

    `hear` takes each line. `exit_code` is None until `ended` is set.
    """

    def __init__(self) -> None:
        self.ended = anyio.Event()
        self.exit_code: int | None = None
        self._lines: deque[str] = deque(maxlen=WORDS_KEPT)

    def __str__(self) -> str:
        """Return the lines for the end of a sentence, or "" if there are none."""
        return f" (it said: {' | '.join(self._lines)})" if self._lines else ""

    def hear(self, line: str) -> None:
        """Take the next line. That of the supervisor is not kept for people."""
        code = line.removeprefix(ENDED)
        if code == line or not code.isdecimal():
            self._lines.append(line)
            return
        self.exit_code = int(code)
        self.ended.set()


async def run_command(
    command: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    deadline_s: float,
    containment: Containment,
    output_limit: int = 20_000,
) -> CommandResult:
    """Run a command to its end or its deadline, with no input, and leave nothing of its tree behind.

    `output_limit` is in bytes. At the deadline and on cancellation the command gets SIGTERM, and two seconds
    later everything gets SIGKILL. A command that cannot be started is a result, not an exception.
    """
    begun = time.monotonic()
    tail = _Tail(output_limit)
    with _pipe() as (report, report_end):
        argv = _supervised(command, containment, None, report=str(report_end))
        try:
            with anyio.CancelScope(shield=True):  # a start that is cut in the middle would have no owner
                process = await anyio.open_process(
                    argv,
                    stdin=subprocess.DEVNULL,
                    stderr=subprocess.STDOUT,
                    cwd=cwd,
                    env=env,
                    pass_fds=(report_end,),
                )
        except (OSError, ValueError) as problem:  # no such folder, a NUL character in an argument
            timed_out, exit_code, error = False, None, str(problem)
        else:
            async with _ended(process), _collected(process.stdout, tail):
                with anyio.move_on_after(deadline_s) as limit:
                    await process.wait()
                timed_out = limit.cancelled_caught
                await _end(process)
            exit_code, error = process.returncode, _read_report(report)
    return CommandResult(
        exit_code=None if timed_out or error else _shell_code(exit_code),
        timed_out=timed_out,
        started=not error,
        output=tail.text(),
        duration_s=time.monotonic() - begun,
        error=error,
    )


class _Tail:
    """The last `limit` of the bytes added."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept = bytearray()
        self._left_out = 0

    def add(self, data: bytes) -> None:
        self._kept += data
        self._drop(len(self._kept) - self._limit)

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


def _namespaces_work() -> bool:
    if sys.platform != "linux":
        return False
    try:
        trial = subprocess.run(
            contained(["true"], Containment.NAMESPACES),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PROBE_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return trial.returncode == 0


def _supervised(
    argv: Sequence[str], containment: Containment, parent: int | None, *, report: str
) -> list[str]:
    # -I -S: the user's variables, site-packages and the working folder do not affect its imports.
    python = [sys.executable, "-I", "-S", str(SUPERVISOR)]
    how = [str(os.getpid() if parent is None else parent), containment.value]
    return [*python, *how, report, "--", *argv]


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


def _read_report(report: int) -> str:
    """Return why the supervisor did not start the command, or "". It writes that before it exits."""
    os.set_blocking(report, False)
    try:
        return os.read(report, 4096).decode(errors="replace").strip()
    except BlockingIOError:
        return ""


def _shell_code(returncode: int | None) -> int | None:
    return returncode if returncode is None or returncode >= 0 else 128 - returncode
