"""Set-up inside the sandbox: only the run's base has the network and credentials.

A worktree without any other file shows the base's files for a moment. In that moment the steps are done, with
the network, the registries' credentials and writable caches. Then it shows its own files again, and only the
steps that depend on changed files are done once more: downloads apart, and the build without network. sq's
note on a worktree says which steps are done. It lies beside the index, where no agent of a sandbox can write.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio

from orchestrator.git.scratch import holds_more, remove_others, show_content
from orchestrator.git.workspace import tree_of
from orchestrator.project.readiness.plan import SetUpPlan
from orchestrator.project.readiness.steps import downloads_of
from orchestrator.run.record import Run
from state.safe_paths import write_inside


@dataclass(frozen=True, slots=True, kw_only=True)
class Worktree:
    """A worktree that is set up.

    `tree` are its own files. `index` is an index file of sq's, which `take_index` brings up to the files that
    are there. `done` are the keys of steps that were done there before. `fresh`: it may show the base, if it
    has no file beside its own. `disposable`: other files in it may be removed for that, because no work is
    among them.
    """

    folder: Path
    index: Path
    tree: str
    take_index: Callable[[], Awaitable[str]]
    done: frozenset[str] = frozenset()
    fresh: bool = False
    disposable: bool = False


async def base_tree(run: Run) -> str:
    """Return the tree that the run began with. Without worktrees it is the checkout as the user left it."""
    return await tree_of(run.repository, run.view.checkout.own_base or run.started.base_commit)


@asynccontextmanager
async def as_base(run: Run, at: Worktree) -> AsyncIterator[bool]:
    """Show the base in a worktree while the block runs, and yield whether it holds exactly that."""
    if not at.fresh:
        yield False
        return
    base = await base_tree(run)
    await at.take_index()
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
            await at.take_index()
            await show_content(at.folder, at.index, at.tree)


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """sq's note on a worktree: `state` says whether its set-up is done, and for which key.

    `keys` are those of the steps that were done, `apart` of those whose downloads were made apart.
    """

    state: str = ""
    keys: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()


def read_note(marker: Path) -> Noted:
    """Return the note, an empty one if there is none."""
    lines = marker.read_text("utf-8").splitlines() if marker.exists() else []
    state, keys, apart = [*lines, "", "", ""][:3]
    return Noted(state=state, keys=tuple(keys.split()), apart=tuple(apart.split()))


def write_note(marker: Path, noted: Noted) -> None:
    """Write the note, whole or not at all.

    Raises:
        OSError: it cannot be written.
    """
    text = f"{noted.state}\n{' '.join(noted.keys)}\n{' '.join(noted.apart)}\n"
    write_inside(marker.parent, marker.name, text.encode())


def is_lost(kept: Path, noted: Noted) -> bool:
    """Whether downloads of an earlier process are gone, which the run's end has removed."""
    return any(not (downloads_of(kept) / key).is_dir() for key in noted.apart)


def needs_base(run: Run, plan: SetUpPlan, noted: Noted) -> bool:
    """Whether a scratch worktree has to be set up as the base again, before its own changed steps."""
    due = {step.key for step in plan.steps} - {*noted.keys}
    known = run.scratch.base_keys
    return not noted.state or not plan.steps or not known or bool(due & known)
