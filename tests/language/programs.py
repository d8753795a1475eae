"""A program run to its end, with what it printed."""

import subprocess
from collections.abc import Sequence
from typing import Any


def ran(command: Sequence[str], *, check: bool = False, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run a program, and return its end and its output."""
    return subprocess.run(command, capture_output=True, text=True, check=check, **more)
