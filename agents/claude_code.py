"""The Claude Code executable and the SDK that drives it: found without importing the SDK."""

import os
import shutil
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from state.errors import UsageError

SDK = "claude-agent-sdk"


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
