"""The sandbox of one session: made when its process starts, removed when the process has ended."""

from collections.abc import Collection, Coroutine
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from agents.process.containment import Containment
from agents.process.launcher import write_launcher
from agents.process.sandbox.needs import Needs
from agents.process.sandbox.plan import SandboxPlan
from agents.process.sandbox.policy import SandboxPolicy
from agents.process.sandbox.repository import INDEX, MARKED_INDEX, git_folders, private_git
from agents.process.sandbox.totals import exceeded
from state.safe_paths import read_inside, remove_tree, write_inside

_OWN = "own-git-folder"  # in the scratch folder: its path
log = structlog.get_logger(__name__)


@dataclass(slots=True, kw_only=True)
class SandboxWalls:
    """What the sandbox around `cli`, the agent's program, is made from. It does not get `drop_env`."""

    sandbox_policy: SandboxPolicy
    needs: Needs
    cli: Path
    containment: Containment
    drop_env: Collection[str]
    _plan: SandboxPlan | None = field(default=None, init=False)

    def build(self) -> Path:
        """Make the sandbox's own folders, and return the launcher of the agent inside it. Blocks.

        Raises:
            OSError: the folders cannot be made, or a path that the session needs is gone.
        """
        plan = self._plan = self.sandbox_policy.plan(self.needs)
        found = git_folders(self.needs.workspace)
        if self.needs.keeps_index and found and found.own != found.common:
            (self.needs.scratch / _OWN).write_text(str(found.own), "utf-8")
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
        """Keep the index of a session that marks paths in it, beside the workspace's own. Blocks.

        Nothing reads it outside a sandbox: git does not check the names in an index.

        Raises:
            OSError: it cannot be written.
        """
        try:
            own = Path((self.needs.scratch / _OWN).read_text("utf-8"))
            index = read_inside(private_git(self.needs.scratch), INDEX)
        except FileNotFoundError:
            return
        except OSError as error:
            log.warning("session.index.not_taken", error=str(error))
            return
        write_inside(own, MARKED_INDEX, index)

    def exceeded(self) -> Coroutine[None, None, str]:
        """Return what waits until the session exceeds a total of its sandbox, and then says which."""
        needs = self.needs
        folders = [*([needs.workspace] if needs.writes else []), needs.scratch, *needs.writable]
        assert self._plan  # noqa: S101  it is built
        return exceeded(self._plan, folders)

    def remove(self) -> None:
        """Remove the sandbox's own folders. Blocks."""
        if left := remove_tree(self.needs.scratch):
            log.warning("folder.remove.failed", folder=str(self.needs.scratch), error=left)
