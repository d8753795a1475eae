"""The executable that the Agent SDK starts as Claude Code: contained, sandboxed, without the secrets."""

from __future__ import annotations

import os
import re
import shlex
from typing import TYPE_CHECKING

from agents.process.containment import Containment, contained
from agents.process.frozen import NAMES
from agents.process.sandbox.bubblewrap import bubblewrapped
from agents.process.supervisor import TELL_END

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from agents.process.sandbox.plan import SandboxPlan

SHELL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def write_launcher(
    path: Path,
    command: Path,
    containment: Containment,
    *,
    drop_env: Collection[str] = (),
    sandbox: SandboxPlan | None = None,
) -> Path:
    """Write an executable for the SDK's `cli_path`: `command`, contained, without the variables `drop_env`.

    With `sandbox`, the command runs in it.

    It works only for the process that wrote it, so a resumed run writes its own. The last line on standard
    error reports how it ended (`LastWords`). Returns `path`.
    """
    unset = sorted(name for name in drop_env if SHELL_NAME.fullmatch(name))
    unnamable = sorted(name for name in {*drop_env} - {*unset} if name and "=" not in name)
    env = ["env", *(word for name in unnamable for word in ("-u", name))] if unnamable else []
    argv = [str(command)]
    if sandbox:
        argv = bubblewrapped(argv, sandbox)
    argv = contained(argv, containment, report=TELL_END, limits=sandbox.limits if sandbox else ())
    lines = [
        "#!/bin/sh",
        f'[ -z "${NAMES}" ] || echo $$ >"${NAMES}"; unset {NAMES}',
        *(f"unset {name}" for name in unset),
        f'exec {shlex.join([*env, *argv])} "$@"',
    ]
    draft = path.with_name(f"{path.name}.draft")
    draft.write_bytes(os.fsencode("\n".join(lines) + "\n"))
    draft.chmod(0o700)
    return draft.replace(path)
