"""Runs a program of sq's own to its end: git, in a sandbox or not, and what looks at folders in one.

An import contract names the modules that may, so that no other code starts git on what an agent can change.
"""

import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO

import anyio

_TIDY_S = 3.0


async def run_to_end(
    command: Sequence[str], stdin: bytes, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[bytes]:
    """Run to the end. On cancellation git gets SIGTERM and removes its locks, which SIGKILL would leave.

    It runs in a session of its own: Ctrl-C in the terminal is for sq, and not an error of this command.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, _given(stdin) as given:
        process = await anyio.open_process(
            command, stdin=given, stdout=out, stderr=err, env=environment, start_new_session=True
        )
        try:
            await process.wait()
        finally:
            with anyio.CancelScope(shield=True):
                if process.returncode is None:
                    process.terminate()
                    with anyio.move_on_after(_TIDY_S):
                        await process.wait()
                await process.aclose()
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(command, process.returncode or 0, out.read(), err.read())


@contextmanager
def _given(stdin: bytes) -> Iterator[IO[bytes] | int]:
    if not stdin:
        yield subprocess.DEVNULL
        return
    with tempfile.TemporaryFile() as file:
        file.write(stdin)
        file.seek(0)
        yield file
