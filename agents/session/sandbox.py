"""The sandbox of one session, and the executable that the Agent SDK starts as Claude Code in it.

The sandbox is made when the process of the session starts, and removed when that has ended.
"""

import os
import re
import shlex
from collections.abc import Collection, Coroutine
from dataclasses import dataclass
from pathlib import Path

import structlog

from agents.process.containment import Containment, contained
from agents.process.sandbox.bubblewrap import bubblewrapped
from agents.process.sandbox.needs import Needs
from agents.process.sandbox.plan import SandboxPlan
from agents.process.sandbox.policy import SandboxPolicy
from agents.process.sandbox.repository import INDEX, git_folders, private_git
from agents.process.sandbox.totals import exceeded
from agents.process.supervisor import TELL_END
from state.safe_paths import read_inside, remove_tree, write_inside

log = structlog.get_logger(__name__)
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
        *(f"unset {name}" for name in unset),
        f'exec {shlex.join([*env, *argv])} "$@"',
    ]
    draft = path.with_name(f"{path.name}.draft")
    draft.write_bytes(os.fsencode("\n".join(lines) + "\n"))
    draft.chmod(0o700)
    return draft.replace(path)


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxWalls:
    """What the sandbox of a session is made from. `drop_env` are variables that the process does not get."""

    boundary: SandboxPolicy
    needs: Needs
    cli: Path
    containment: Containment
    drop_env: Collection[str]

    def build(self) -> Path:
        """Make the sandbox's own folders, and return the launcher of Claude Code inside it. Blocks.

        Raises:
            OSError: the folders cannot be made, or a path that the session needs is gone.
        """
        plan = self.boundary.plan(self.needs)
        if gone := plan.missing():
            raise FileNotFoundError(f"the sandbox of the session needs {gone[0]}, which does not exist")
        return write_launcher(
            self.needs.scratch / "launcher",
            self.cli,
            self.containment,
            drop_env=self.drop_env,
            sandbox=plan,
        )

    def settle(self) -> None:
        """Take over the index of a session that keeps it, if it is a file that can be one. Blocks.

        Raises:
            OSError: it cannot be written.
        """
        found = git_folders(self.needs.workspace) if self.needs.keeps_index else None
        if found is None or found.own == found.common:
            return
        try:
            index = read_inside(private_git(self.needs.scratch), INDEX)
        except FileNotFoundError:
            return
        except OSError as error:
            log.warning("session.index.not_taken", error=str(error))
            return
        write_inside(found.own, INDEX, index)

    def exceeded(self) -> Coroutine[None, None, str]:
        """Return what waits until the session exceeds a total of its sandbox, and then says which."""
        needs = self.needs
        folders = [*([needs.workspace] if needs.writes else []), needs.scratch, *needs.writable]
        return exceeded(folders, self.boundary.ceilings)

    def remove(self) -> None:
        """Remove the sandbox's own folders. Blocks."""
        if left := remove_tree(self.needs.scratch):
            log.warning("folder.remove.failed", folder=str(self.needs.scratch), error=left)
