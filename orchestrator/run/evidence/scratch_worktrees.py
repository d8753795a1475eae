"""Scratch worktrees, in which sq runs commands on exact trees, and no agent works.

Other things that a Worker leaves (an ignored program, a patched package) are not there. One is made if all
others are in use. It is set up like any worktree, and removed when the run stops.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog

from orchestrator.git.scratch import remove_scratch, show_tree
from orchestrator.run.places.set_up import forget_what_was_made, set_up
from orchestrator.run.places.steps import ready_environment
from orchestrator.run.ports import ScratchWorktree
from orchestrator.run.record import Run
from state.errors import GitError
from state.paths import SCRATCH, worktree_root

log = structlog.get_logger(__name__)


@asynccontextmanager
async def scratch_worktree(run: Run, tree: str) -> AsyncIterator[ScratchWorktree]:
    """Yield one that holds exactly `tree`, ready for commands, until the context is left.

    Raises:
        GitError: git cannot put the tree into a folder.
        SetUpError: the user's own set-up commands fail there.
    """
    scratch = run.scratch
    if not scratch.free:
        scratch.made += 1
        root = worktree_root(run.repository, run.started.run_id)
        scratch.free.append(root / f"{SCRATCH}{scratch.made}")
    folder = scratch.free.pop()
    try:
        await show_tree(run.repository, folder, tree)
        await set_up(run, "", folder, of_sq=True)
        yield ScratchWorktree(folder=folder, tree=tree, environment=await ready_environment(run, folder))
    finally:
        scratch.free.append(folder)


async def remove_scratch_worktrees(run: Run) -> None:
    """Remove the scratch. Grounds that cannot be removed are left to `sq clean`."""
    root = worktree_root(run.repository, run.started.run_id)
    for folder in sorted(root.glob(f"{SCRATCH}*")):
        try:
            await remove_scratch(run.repository, folder)
        except GitError as error:
            log.warning("scratch_worktree.remove.failed", folder=str(folder), error=str(error))
    run.scratch.free.clear()
    await forget_what_was_made(run)
    if root.is_dir() and not any(root.iterdir()):
        root.rmdir()
