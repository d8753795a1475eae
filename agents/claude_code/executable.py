"""The Claude Code executable and its SDK: found without importing the SDK, and started."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from agents.access import QUIET
from agents.sdks import sdk_version
from state.errors import UsageError

if TYPE_CHECKING:
    from claude_agent_sdk import ClaudeSDKClient

    from agents.process.containment import LastWords

NAME = "Claude Code"
MIN_CLI = (2, 1, 248)  # the first that sends a prompt verbatim: before, `/clear` in a spec was a command
VERSION_DEADLINE_S = 10
LAST_WORDS_LIMIT_S = 1.0  # between the SDK's and the launcher's signs of a failed start


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How Claude Code is started in a run.

    `launcher` starts it without a sandbox. `dropped` are variables that it does not get. `folder` holds what
    sessions keep while they last.
    """

    cli: Path
    launcher: Path
    dropped: frozenset[str]
    folder: Path


def check_cli(cli: Path, environ: Mapping[str, str]) -> None:
    """Check that an executable is a Claude Code that sq can drive. The SDK's own one is trusted.

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
            f"{cli} {what}. sq needs {wanted} or newer. Update it with "
            "`npm install -g @anthropic-ai/claude-code`, or reinstall claude-agent-sdk, which brings its own"
        )


def version_said(cli: Path, environ: Mapping[str, str]) -> str:
    """Return the output of `--version`, or why there is none."""
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
    """Return the first dotted number in a text, or () if there is none."""
    found = re.search(r"\d+(?:\.\d+)+", text)
    return tuple(int(part) for part in found.group().split(".")) if found else ()


def find_cli() -> Path:
    """Return the Claude Code executable: the one that comes with the SDK, else the one on PATH.

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


async def connect(client: "ClaudeSDKClient", words: "LastWords", *, limit_s: float) -> str:
    """Start the client's process. Return "" if it started, else why not, for people.

    The caller disconnects the client either way. `words` gets the launcher's standard error, which reports
    the end of a process at once. The SDK waits a minute for a process that ended with exit code 0.
    """
    import anyio
    from claude_agent_sdk import ResultError

    from agents.concurrency import first_of

    async def ended() -> None:
        await words.ended.wait()
        await anyio.sleep(LAST_WORDS_LIMIT_S)  # the SDK may have read the reason

    try:
        with anyio.fail_after(limit_s):
            await first_of(client.connect, ended)
    except TimeoutError:
        if words.exit_code is None:
            return f"Claude Code did not answer within {limit_s:.0f} s{words}"
    except Exception as error:  # noqa: BLE001  the SDK raises bare ones, ProcessError and ResultError here
        with anyio.move_on_after(LAST_WORDS_LIMIT_S):
            await words.ended.wait()
        if words.exit_code is None or isinstance(error, ResultError):  # the latter knows the reason
            return f"Claude Code did not start: {error}{words}"
    if words.exit_code is None:
        return ""
    return f"Claude Code did not start: it ended with exit code {words.exit_code}{words}"
