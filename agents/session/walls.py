"""The sandbox of one session: made when its process starts, removed when the process has ended."""

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from anyio import CancelScope, to_thread

from agents.process.containment import Containment
from agents.process.launcher import write_launcher
from agents.process.sandbox.boundary import Boundary, Needs, forget


@dataclass(frozen=True, slots=True, kw_only=True)
class Walls:
    """What the sandbox of a session is made from. `drop_env` are variables that the process does not get."""

    boundary: Boundary
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


@asynccontextmanager
async def built(walls: Walls | None, launcher: Path) -> AsyncIterator[Path]:
    """Yield the launcher for a session: `launcher` without walls."""
    if walls is None:
        yield launcher
        return
    try:
        yield await to_thread.run_sync(walls.build)
    finally:
        with CancelScope(shield=True):
            await to_thread.run_sync(partial(forget, walls.needs.scratch))
