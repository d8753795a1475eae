"""Which sandbox holds here: chosen once at a run's start, by trying it."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from threading import Thread

from agents.process.containment import Containment, contained, detect_containment
from agents.process.sandbox.bubblewrap import FAILED, PROGRAM, SOCAT, bubblewrapped
from agents.process.sandbox.plan import Access, Mount, SandboxPlan
from agents.process.sandbox.system_calls import filter_program
from agents.process.sandbox.toolchains import system_mounts
from state.errors import UsageError
from state.settings.records import Sandbox, SandboxHeld

OLDEST = (0, 8)  # of bubblewrap: the first with --disable-userns
_LIMIT_S = 10.0
_APPARMOR = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
_INSTALL = (
    ("apt-get", "apt-get install bubblewrap socat"),
    ("dnf", "dnf install bubblewrap socat"),
    ("pacman", "pacman -S bubblewrap socat"),
    ("zypper", "zypper install bubblewrap socat"),
    ("apk", "apk add bubblewrap socat"),
)


class SandboxLevel(StrEnum):
    """How strong the sandbox of a run is. `agents/process/sandbox` describes `WHOLE`."""

    OFF = "off"
    """Rules on the text of commands guide an honest agent. Nothing stops a hostile one."""
    COMMANDS = "commands"
    """Claude Code's own sandbox around the commands of its Bash tool."""
    WHOLE = "whole"
    """bubblewrap around Claude Code and around each command that sq runs on an agent's work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The sandbox of a run.

    `reason` says why it is not a stronger one, with the remedy, or "". `program` is the path of bubblewrap,
    if it works here: git reads agents' places in a sandbox then, at any level (`orchestrator.run.places`),
    and commands on their work are sandboxed at any but off.
    """

    level: SandboxLevel
    reason: str = ""
    program: str = ""

    @property
    def held(self) -> SandboxHeld:
        """Return the form that is recorded."""
        commands = self.level is not SandboxLevel.OFF and bool(self.program)
        return SandboxHeld(level=self.level, commands=commands, reason=self.reason)


def choose_sandbox(
    asked: Sandbox,
    *,
    containment: Containment,
    login: bool,
    gateway: bool = True,
    environ: Mapping[str, str] = os.environ,
) -> Choice:
    """Return the sandbox for a run. It takes about 50 ms and blocks.

    Args:
        asked: the setting. `auto` takes the strongest one that works.
        containment: how process trees are held here.
        login: the credentials are those of Claude Code's own login, which stays in its unmodified process.
        gateway: sessions ask through a gateway of sq's, the only network that they have in `whole`.
        environ: the environment whose PATH has the programs.

    Raises:
        UsageError: a sandbox that was named does not hold here. Says why, and what to do.
    """
    broken = why_not_whole(containment, environ)
    program = "" if broken else shutil.which(PROGRAM, path=environ.get("PATH")) or ""
    if asked is Sandbox.OFF:
        reason = "switched off by the setting `sandbox`"
        return Choice(level=SandboxLevel.OFF, reason=reason, program=program)
    no_whole = broken or (_LOGIN if login else "" if gateway else _NO_GATEWAY)
    no_commands = _why_not_commands(broken)
    if asked is Sandbox.WHOLE and no_whole:
        raise UsageError(f"--sandbox whole does not hold here: {no_whole}. `--sandbox auto` takes what does")
    if asked is Sandbox.COMMANDS and no_commands:
        raise UsageError(
            f"--sandbox commands does not hold here: {no_commands}. `--sandbox auto` takes what does"
        )
    if asked is Sandbox.COMMANDS:
        return Choice(level=SandboxLevel.COMMANDS, reason="chosen by the setting `sandbox`", program=program)
    if not no_whole:
        return Choice(level=SandboxLevel.WHOLE, program=program)
    if not no_commands and (login or sys.platform == "darwin"):
        return Choice(level=SandboxLevel.COMMANDS, reason=no_whole, program=program)
    reasons = dict.fromkeys(filter(None, (no_whole, no_commands if login else "")))
    return Choice(level=SandboxLevel.OFF, reason="; ".join(reasons), program=program)


_LOGIN = (
    "whole needs an API key, because a login stays in Claude Code's own process: set ANTHROPIC_API_KEY_FILE"
)

_NO_GATEWAY = "whole needs the gateway, the only network of its sessions: set `gateway = true`"


def why_not_whole(containment: Containment, environ: Mapping[str, str]) -> str:
    """Return why bubblewrap cannot hold a process here, with the remedy, or "" if a trial run works."""
    if sys.platform != "linux":
        return "bubblewrap works on Linux only"
    path = environ.get("PATH", os.defpath)
    absent = [name for name in (PROGRAM, SOCAT) if not shutil.which(name, path=path)]
    if absent:
        names = {"bwrap": "bubblewrap"}
        return f"{' and '.join(names.get(one, one) for one in absent)} not installed{_installing()}"
    return _tried(containment, shutil.which(PROGRAM, path=path) or PROGRAM)


@contextmanager
def trying(environ: Mapping[str, str]) -> Iterator[None]:
    """Try beside the block what holds here, so that `choose_sandbox` need not wait for it."""

    def look() -> None:
        with suppress(UsageError):  # it is said where it is chosen
            why_not_whole(detect_containment(environ), environ)

    trial = Thread(target=look)
    trial.start()
    try:
        yield
    finally:
        trial.join()


@cache
def _tried(containment: Containment, program: str) -> str:
    try:
        said = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=_LIMIT_S, check=False
        )
        found = tuple(map(int, re.findall(r"\d+", said.stdout)[:2]))
        if found < OLDEST:
            return f"{said.stdout.strip() or program} is too old, it needs 0.8{_installing()}"
        with tempfile.TemporaryDirectory(prefix="sq-") as folder:
            plan = _trial(Path(folder), containment, program)
            done = subprocess.run(
                contained(bubblewrapped(["true"], plan), containment),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_LIMIT_S,
                check=False,
            )
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap cannot be run: {error}"
    if done.returncode == 0:
        return ""
    lines = (done.stderr or done.stdout).strip().splitlines() or [f"exit code {done.returncode}"]
    return f"bubblewrap does not work here: {lines[-1].removeprefix(FAILED)}{_userns()}"


def _trial(folder: Path, containment: Containment, program: str) -> SandboxPlan:
    stand_in = folder / "empty"
    stand_in.touch(0o400)
    calls = folder / "calls"
    calls.write_bytes(filter_program())
    mounts = (*system_mounts(stand_in), Mount(target=folder, access=Access.WRITE))
    return SandboxPlan(
        workspace=folder,
        mounts=mounts,
        own_processes=containment is not Containment.NAMESPACES,
        program=program,
        filter=calls,
    )


def _why_not_commands(broken: str) -> str:
    if sys.platform == "darwin":
        return ""
    if os.geteuid() == 0:
        return "Claude Code's own sandbox does not hold for root: run sq as another user"
    return broken


def _installing() -> str:
    found = next((command for program, command in _INSTALL if shutil.which(program)), "")
    return f": {found}" if found else ""


def _userns() -> str:
    try:
        refused = _APPARMOR.read_text("ascii").strip() == "1"
    except OSError:
        refused = False
    if refused:
        return ". AppArmor refuses user namespaces: install its profile bwrap-userns-restrict"
    return ". In a container, allow user namespaces (for Docker: --security-opt seccomp=unconfined)"
