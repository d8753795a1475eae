"""The sandbox of one session: made when its process starts, removed when the process has ended."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from agents.process.containment import Containment
from agents.process.launcher import write_launcher
from agents.process.sandbox.needs import Needs
from agents.process.sandbox.policy import SandboxPolicy, forget
from agents.process.sandbox.repository import INDEX, git_folders, private_git
from state.safe_paths import read_inside, write_inside

MOST_BYTES = 256 * 2**20  # of an index


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
        """Take over the index of a session that keeps it. Blocks.

        Raises:
            OSError: it is a link, too large, or cannot be written.
        """
        found = git_folders(self.needs.workspace) if self.needs.keeps_index else None
        copy = private_git(self.needs.scratch)
        if found is None or found.own == found.common or not (copy / INDEX).exists():
            return
        write_inside(found.own, INDEX, read_inside(copy, INDEX, limit=MOST_BYTES))

    def remove(self) -> None:
        """Remove the sandbox's own folders. Blocks."""
        forget(self.needs.scratch)
