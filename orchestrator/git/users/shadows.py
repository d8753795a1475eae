"""Trees and commits that the user does not see: through an index beside the user's, and on no branch."""

import shutil
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from orchestrator.git.command import git, git_path, git_succeeds
from orchestrator.git.own_refs import is_in, make_commit
from orchestrator.git.trees import changed_paths
from orchestrator.git.workspace import add_into, head_of, snapshot, tree_of
from state.errors import GitError
from state.safe_paths import remove_inside


async def shadow_snapshot(root: Path, index: Path, *, lenient: bool = False) -> str:
    """Return the tree hash of a whole checkout, through the index file `index`. The user's is only read.

    `lenient`: leave out content that git cannot take in, such as a repository without commits.
    """
    # Its cache saves reading every file, with its time, by which git knows which ones to read again.
    if not index.exists() and (own := await git_path(root, "index")).exists():
        shutil.copy2(own, index)
    environment = {"GIT_INDEX_FILE": str(index)}
    await add_into(root, environment, lenient=lenient)
    return await git(root, "write-tree", environment=environment)


async def shadow_commit(root: Path, *, ref: str, parent: str, tree: str, message: str) -> str:
    """Make a commit of this tree on `parent`, kept by `ref`, or `parent` itself if it has that tree."""
    if await tree_of(root, parent) == tree:
        commit = parent
    else:
        commit = await git(root, "commit-tree", "-p", parent, "-F", "-", tree, stdin=message)
    await git(root, "update-ref", ref, commit)
    return commit


async def put_back(root: Path, index: Path, *, changed: str, base: str, now: str) -> list[str]:
    """Undo in the checkout the changes from `base` to `changed` (trees), in files unchanged in `now`.

    `index` is that of `shadow_snapshot`, in which git notes the files that it wrote.
    Returns the paths that were put back. Files edited since stay as they are.
    """
    untouched = set(await changed_paths(root, base, changed)) - set(await changed_paths(root, changed, now))
    for path in sorted(untouched):
        if await git_succeeds(root, "cat-file", "-e", f"{base}:{path}"):
            where = ("restore", f"--source={base}", "--worktree", "--", f":(literal){path}")
            await git(root, *where, environment={"GIT_INDEX_FILE": str(index)})
        else:
            with suppress(NotADirectoryError):  # a link on the way, which is not followed
                remove_inside(root, path)
    return sorted(untouched)


async def lost_work(folder: Path, *, branch: str, start: str, kept: Collection[str], message: str) -> str:
    """Return a commit of the work in a worktree and its branch that is neither in `start` nor in `kept`.

    Returns "" if there is none. It may be an existing commit, else it is on no branch. A repeated call
    returns the same commit.
    """
    head = await head_of(folder)
    tips = dict.fromkeys(tip for tip in (head, await _commit_at(folder, f"refs/heads/{branch}")) if tip)
    lost = [tip for tip in tips if not await is_in(folder, tip, (start, *kept))]
    tree = await snapshot(folder)
    new = tree not in {await tree_of(folder, commit) for commit in (head, start)}
    if len(lost) > 1 or (new and not await _is_pieced_together(folder, tree, start, kept)):
        return await make_commit(folder, tree=tree, parents=lost or [head], message=message)
    return lost[0] if lost else ""


async def _is_pieced_together(repository: Path, tree: str, start: str, kept: Collection[str]) -> bool:
    """Whether each file is as in `start` or as in one of the commits: a move to `start` was cut off."""
    own = set(await changed_paths(repository, start, tree))
    for commit in kept:
        if own.isdisjoint(await changed_paths(repository, commit, tree)):
            return True
    return False


async def _commit_at(repository: Path, ref: str) -> str:
    try:
        return await git(repository, "rev-parse", "--verify", "--quiet", ref)
    except GitError:
        return ""
