"""The Claude Code executable and the SDK that drives it: found without importing the SDK."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from agents.connection import QUIET
from state.errors import UsageError

SDK = "claude-agent-sdk"
MIN_CLI = (2, 1, 248)  # the first that sends a prompt verbatim: before, `/clear` in a spec was a command
VERSION_DEADLINE_S = 10


def sdk_version() -> str:
    """The installed Agent SDK's version.

    Raises:
        UsageError: it is not installed; says how to install it.
    """
    try:
        if find_spec("claude_agent_sdk"):
            return version(SDK)
    except PackageNotFoundError:
        pass
    raise UsageError(
        f"{SDK} is not installed, and sq drives Claude Code through it. Install it with "
        f"`pip install {SDK}`; a checkout makes its whole environment with `bin/sq`"
    )


def check_cli(cli: Path, environ: Mapping[str, str]) -> None:
    """Look whether an executable is a Claude Code that sq can drive; the SDK's own one is trusted.

    Raises:
        UsageError: it is too old, or gives no version.
    """
    if cli.parent.name == "_bundled":
        return
    said = version_said(cli, environ)
    found = version_in(said)
    if found < MIN_CLI:
        what = f"is Claude Code {said}, too old" if found else f"gives no version: {said}"
        wanted = ".".join(map(str, MIN_CLI))
        raise UsageError(
            f"{cli} {what}; sq needs {wanted} or newer. Update it with "
            "`npm install -g @anthropic-ai/claude-code`, or reinstall claude-agent-sdk, which brings its own"
        )


def version_said(cli: Path, environ: Mapping[str, str]) -> str:
    """What `--version` says, or why it says nothing."""
    try:
        done = subprocess.run(
            [cli, "--version"],
            env={**environ, **QUIET},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=VERSION_DEADLINE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {VERSION_DEADLINE_S} s"
    except OSError as error:
        return f"cannot be run: {error.strerror}"
    return (done.stdout or done.stderr).strip().split("\n")[0] or f"exit code {done.returncode}"


def version_in(text: str) -> tuple[int, ...]:
    """The first dotted number in a text; empty where there is none."""
    found = re.search(r"\d+(?:\.\d+)+", text)
    return tuple(int(part) for part in found.group().split(".")) if found else ()


def find_cli() -> Path:
    """The Claude Code executable: the one that comes with the SDK, else the one on PATH.

    Raises:
        UsageError: the SDK is missing, or there is no executable.
    """
    sdk_version()
    spec = find_spec("claude_agent_sdk")
    if spec and spec.origin:
        bundled = Path(spec.origin).parent / "_bundled" / "claude"
        if bundled.is_file() and os.access(bundled, os.X_OK):
            return bundled
    if found := shutil.which("claude"):
        return Path(found)
    raise UsageError(
        "Claude Code was found neither inside claude-agent-sdk nor on PATH. Install it with "
        "`npm install -g @anthropic-ai/claude-code`, or reinstall claude-agent-sdk for this platform"
    )
