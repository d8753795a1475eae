"""Grounds: scratch worktrees in which sq runs commands on exact trees, and no agent works.

Other things that a Worker leaves (an ignored program, a patched package) are not there. A ground is made if
all others are in use. It is made ready like any worktree, and removed when the run stops.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog

from orchestrator.git.scratch import remove_scratch, show_tree
from orchestrator.run.places.set_up import forget_what_was_made, set_up
from orchestrator.run.places.steps import ready_environment
from orchestrator.run.ports.commands import ScratchWorktree
from orchestrator.run.record import Run
from state.errors import GitError
from state.paths import GROUND, worktree_root

log = structlog.get_logger(__name__)


@asynccontextmanager
async def ground_for(run: Run, tree: str) -> AsyncIterator[ScratchWorktree]:
    """Yield a ground that holds exactly `tree`, ready for commands, until the context is left.

    Raises:
        GitError: git cannot put the tree into a folder.
        SetUpError: the user's own set-up commands fail there.
    """
    grounds = run.grounds
    if not grounds.free:
        grounds.made += 1
        root = worktree_root(run.repository, run.started.run_id)
        grounds.free.append(root / f"{GROUND}{grounds.made}")
    folder = grounds.free.pop()
    try:
        await show_tree(run.repository, folder, tree)
        await set_up(run, "", folder, of_sq=True)
        yield ScratchWorktree(folder=folder, tree=tree, environment=await ready_environment(run, folder))
    finally:
        grounds.free.append(folder)


async def remove_grounds(run: Run) -> None:
    """Remove the grounds. Grounds that cannot be removed are left to `sq clean`."""
    root = worktree_root(run.repository, run.started.run_id)
    for folder in sorted(root.glob(f"{GROUND}*")):
        try:
            await remove_scratch(run.repository, folder)
        except GitError as error:
            log.warning("ground.remove.failed", folder=str(folder), error=str(error))
    run.grounds.free.clear()
    await forget_what_was_made(run)
    if root.is_dir() and not any(root.iterdir()):
        root.rmdir()
