"""Removes the things that a run holds in git. Work without another copy stays, or gets a rescue ref first.

After an interruption of any step, the same call completes the rest.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator.git.artifacts import ASIDE, Artifact, ArtifactKind
from orchestrator.git.command import git
from orchestrator.git.own_refs import keep, make_commit, shadow_ref
from orchestrator.git.workspace import run_branch, task_branch, tree_of
from state.errors import GitError
from state.safe_paths import remove_tree


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaned:
    """The result for a holding: removed (`rescued` names the ref that keeps its work), or kept, and why."""

    holding: Artifact
    removed: bool
    rescued: str = ""
    problem: str = ""


def rescue_ref(run_id: str, holding: Artifact) -> str:
    """Return the ref that keeps the work of a holding when it is removed by force."""
    match holding.kind:
        case ArtifactKind.WORKTREE:
            name = f"worktrees/{Path(holding.name).name}"
        case ArtifactKind.REF:
            name = f"refs/{holding.name.removeprefix(shadow_ref(run_id, ''))}"
        case ArtifactKind.BRANCH if holding.name == run_branch(run_id):
            name = "run"
        case ArtifactKind.BRANCH:
            name = f"tasks/{holding.name.removeprefix(task_branch(run_id, ''))}"
    return f"refs/sq-rescue/{run_id}/{name}"


def what_would_stay(holdings: Sequence[Artifact], *, force: bool) -> list[Cleaned]:
    """Return the holdings that `remove_holdings` would keep in any case, with its reasons."""
    return [
        Cleaned(holding=one, removed=False, problem=one.blocked or one.unmerged)
        for one in holdings
        if one.blocked or (one.unmerged and not force)
    ]


async def remove_holdings(
    repository: Path | None, run_id: str, holdings: Sequence[Artifact], *, force: bool
) -> list[Cleaned]:
    """Remove the holdings that may be removed, and return the result for each.

    Args:
        repository: the user's checkout, or None if it is gone and only folders are left.
        holdings: the things that the run holds, worktrees first.
        force: remove unmerged work too, once a rescue ref keeps it.
    """
    rescued: dict[str, str] = {}
    kept = {one.holding.name: one.problem for one in what_would_stay(holdings, force=force)}
    for one in holdings:
        if one.name not in kept and one.unmerged and repository:
            try:
                rescued[one.name] = await _rescue(repository, run_id, one)
            except GitError as error:
                kept[one.name] = f"its work could not be kept under a ref: {error}"
    in_use = {one.checked_out: one.name for one in holdings if one.checked_out and one.name in kept}
    done = []
    for one in holdings:
        problem = kept.get(one.name, "")
        if not problem and one.kind is ArtifactKind.BRANCH and one.name in in_use:
            problem = f"the worktree {in_use[one.name]} stands on it"
        if not problem:
            problem = await _remove(repository, one)
        if problem and one.checked_out:
            in_use[one.checked_out] = one.name
        done.append(
            Cleaned(holding=one, removed=not problem, rescued=rescued.get(one.name, ""), problem=problem)
        )
    return done


def remove_worktree_root(worktrees: Path) -> None:
    """Remove the folder of a run's worktrees, and that of its repository's runs, if they are empty."""
    for begun in worktrees.glob(f"{ASIDE}*"):
        remove_folder(begun)
    for folder in (worktrees, worktrees.parent):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def remove_folder(folder: Path) -> None:
    """Remove a folder with everything in it, even folders that are not writable.

    Raises:
        OSError: something in it cannot be removed.
    """
    if left := remove_tree(folder):
        raise OSError(f"{folder} cannot be removed: {left}")


async def _rescue(repository: Path, run_id: str, holding: Artifact) -> str:
    """Keep the work of a holding under a ref that replaces no other one. A repeated call repeats it."""
    commit = holding.commit
    if holding.tree and holding.tree != await tree_of(repository, commit):
        message = f"Content of the worktree {Path(holding.name).name} of run {run_id}\n"
        commit = await make_commit(repository, tree=holding.tree, parents=[commit], message=message)
    return await keep(repository, rescue_ref(run_id, holding), commit)


async def _remove(repository: Path | None, holding: Artifact) -> str:
    """Remove one thing and return "", or return why it could not be removed."""
    try:
        match holding.kind:
            case ArtifactKind.WORKTREE:
                await _remove_worktree(repository, holding)
            case ArtifactKind.BRANCH if repository:
                await git(repository, "update-ref", "-d", f"refs/heads/{holding.name}", holding.commit)
            case ArtifactKind.REF if repository:
                await git(repository, "update-ref", "-d", holding.name, holding.commit)
            case _:
                pass
    except (GitError, OSError) as error:
        return str(error)
    return ""


async def _remove_worktree(repository: Path | None, holding: Artifact) -> None:
    """Rename its folder in one step, so that half a folder is never taken for work, then remove it."""
    folder = Path(holding.name)
    aside = folder.with_name(f"{ASIDE}{folder.name}")
    if aside.exists():
        remove_folder(aside)
    if folder.exists():
        folder.rename(aside)
    if repository and holding.registered:  # twice: git locks a worktree that it has only half made
        await git(repository, "worktree", "remove", "--force", "--force", str(folder))
    if aside.exists():
        remove_folder(aside)
