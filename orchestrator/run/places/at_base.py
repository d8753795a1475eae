"""Set-up inside the sandbox: what has the network and credentials is the run's base, and nothing else.

A worktree without any other file shows the base's files for a moment. In that moment the steps are done, with
the network, the registries' credentials and writable caches. Then it shows its own files again, and only the
steps that depend on changed files are done once more: downloads apart, and the build without network.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
from anyio import to_thread

from orchestrator.git.content import holds_more, remove_others, show_content
from orchestrator.git.shadow import shadow_snapshot
from orchestrator.git.workspace import tree_of
from orchestrator.run.places.steps import (
    Results,
    plan_for,
    ready_environment,
    run_listed,
    run_steps,
    run_steps_apart,
)
from orchestrator.run.ports.commands import Reach
from orchestrator.run.readiness.apart import offline_variables
from orchestrator.run.readiness.plan import key_of_list
from orchestrator.run.record import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Worktree:
    """A worktree that is set up. `tree` are its own files, and `index` is an index file of sq's for them.

    `done` are the keys of steps that were done there before. `fresh`: it may show the base, if it has no file
    beside its own. `disposable`: other files in it may be removed for that, because no work is among them.
    """

    folder: Path
    index: Path
    tree: str
    done: frozenset[str] = frozenset()
    fresh: bool = False
    disposable: bool = False


async def base_tree(run: Run) -> str:
    """Return the tree that the run began with. Without worktrees it is the checkout as the user left it."""
    return await tree_of(run.repository, run.view.checkout.own_base or run.started.base_commit)


async def set_up_from_base(
    run: Run, at: Worktree, prepare: Callable[[], Awaitable[None]], put_back: Callable[[str], Awaitable[None]]
) -> Results:
    """Do the steps of a set-up, and return their results.

    Args:
        run: the run.
        at: the worktree.
        prepare: copies the user's ignored files into it.
        put_back: undoes what commands changed in the files of a tree.
    """
    results, listed = Results(keys=[*at.done]), bool(run.settings.worktree_setup)
    list_at_base = ""
    async with _as_base(run, at) as is_base:
        await prepare()
        if is_base:
            results.keys.clear()
            list_at_base = await _list_key(run, at.folder)
            if listed:
                results.runs += await run_listed(run, at.folder, reach=Reach.ONLINE)
            await run_steps(run, await plan_for(run, at.folder), at.folder, results)
            await put_back(await base_tree(run))
            run.grounds.base_keys |= set(results.keys)
    if any(not one.passed for one in results.runs) and listed:
        return results
    if listed and await _list_key(run, at.folder) != list_at_base:
        results.sealed = True
        variables = {**await ready_environment(run, at.folder), **offline_variables()}
        results.runs += await run_listed(run, at.folder, reach=Reach.SEALED, environment=variables)
    changed = [step for step in (await plan_for(run, at.folder)).steps if step.key not in results.keys]
    await run_steps_apart(run, changed, at.folder, results)
    return results


@asynccontextmanager
async def _as_base(run: Run, at: Worktree) -> AsyncIterator[bool]:
    """Show the base in a worktree while the block runs, and yield whether it holds exactly that."""
    if not at.fresh:
        yield False
        return
    base = await base_tree(run)
    await shadow_snapshot(at.folder, at.index)
    try:
        await show_content(at.folder, at.index, base)
        if at.disposable:
            await remove_others(at.folder, at.index)
        exactly = not await holds_more(at.folder, at.index)
        if not exactly:
            await show_content(at.folder, at.index, at.tree)
        yield exactly
    finally:
        with anyio.CancelScope(shield=True):
            await shadow_snapshot(at.folder, at.index)
            await show_content(at.folder, at.index, at.tree)


async def _list_key(run: Run, folder: Path) -> str:
    return await to_thread.run_sync(key_of_list, folder, run.settings.worktree_setup)
