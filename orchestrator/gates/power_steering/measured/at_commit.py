"""Examines sessions with the rules of another commit of sq's own repository.

The code of that commit is unpacked into a scratch folder, and this interpreter runs its `observing.py` there.
Labels and counts are today's.
"""

import io
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

import anyio
import msgspec

from orchestrator.gates.power_steering.measured.observing import Observed, Task
from orchestrator.git.command import git, git_bytes
from state.errors import GitError, UsageError

CHECKOUT = Path(__file__).parents[4]
_CODE = ("orchestrator", "agents", "prompts", "state")
_OBSERVING = (  # the places of the examining program in commits, the newest first
    "orchestrator/gates/power_steering/measured/observing.py",
    "orchestrator/gates/power_steering/observing.py",
)
_FIRST_OBSERVING = "e67341426d974dfb0aaea4285e70c3d1bca0a573"  # its program also examines earlier rules
_SHOWN = 2_000  # characters of an error
# Fails if the interpreter finds code from outside the commit.
_DOES_IT_IMPORT = "import sys, orchestrator; sys.exit(not orchestrator.__file__.startswith(sys.argv[1]))"


async def current_commit() -> str:
    """The commit of sq's code, with `+changes` if the code differs, or "" if sq is not in a checkout."""
    if not await _is_checkout():
        return ""
    commit = await git(CHECKOUT, "rev-parse", "HEAD")
    changed = await git(CHECKOUT, "status", "--porcelain", "--", *_CODE)
    return f"{commit}+changes" if changed else commit


async def resolved(commit: str) -> str:
    """The full id of a commit of sq's own repository.

    Raises:
        UsageError: sq is not in a git checkout, or there is no such commit.
    """
    if not await _is_checkout():
        raise UsageError(
            f"--at {commit}: sq is in {CHECKOUT}, which is no git checkout. Run bin/sq of a clone"
        )
    try:
        return await git(
            CHECKOUT, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{commit}}"
        )
    except GitError as error:
        raise UsageError(
            f"--at {commit}: no such commit in {CHECKOUT}. Name one that `git -C {CHECKOUT} log` shows"
        ) from error


async def observe_at(commit: str, tasks: Sequence[Task]) -> list[Observed]:
    """Examine sessions with the rules of a commit, in the order of the tasks.

    Raises:
        UsageError: the code of that commit cannot examine sessions.
    """
    with tempfile.TemporaryDirectory(prefix="sq-at-") as name:
        folder = Path(name).resolve()
        await _unpack(commit, folder)
        await _run(commit, folder, "-c", _DOES_IT_IMPORT, str(folder))
        given = folder / "tasks.json"  # a file, since the program may end without reading
        given.write_bytes(msgspec.json.encode(tasks))
        printed = await _run(commit, folder, str(await _observing(folder)), str(given))
    try:
        return msgspec.json.decode(printed, type=list[Observed])
    except msgspec.DecodeError as error:
        raise UsageError(f"--at {commit}: its code did not print sessions: {error}") from error


async def _is_checkout() -> bool:
    """Whether sq's folder is the top of a repository with a commit."""
    try:
        await git(CHECKOUT, "rev-parse", "--verify", "--quiet", "HEAD")
        return Path(await git(CHECKOUT, "rev-parse", "--show-toplevel")).resolve() == CHECKOUT.resolve()
    except GitError:
        return False


async def _unpack(commit: str, folder: Path) -> None:
    try:
        packed = await git_bytes(CHECKOUT, "archive", "--format=tar", commit, "--", *_CODE)
    except GitError as error:
        raise UsageError(f"--at {commit}: sq's code is not in that commit: {error}") from error
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        tar.extractall(folder, filter="data")


async def _observing(folder: Path) -> Path:
    """The commit's own examining program, or the first one ever if it has none."""
    for place in _OBSERVING:
        if (folder / place).exists():
            return folder / place
    program = folder / "observing.py"
    program.write_bytes(await git_bytes(CHECKOUT, "show", f"{_FIRST_OBSERVING}:{_OBSERVING[-1]}"))
    return program


async def _run(commit: str, folder: Path, *arguments: str) -> bytes:
    """Run Python on the commit's code. With `-P` the folder of `observing.py` is not searched for modules."""
    done = await anyio.run_process(
        [sys.executable, "-P", *arguments],
        stdin=subprocess.DEVNULL,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
    )
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()[-_SHOWN:]
        raise UsageError(f"--at {commit}: the rules of that commit cannot be measured:\n{said}")
    return done.stdout
