"""The user's checkout as trees and commits that the user does not see: an index and refs of sq's own.

Nothing is staged and no branch moves. The commits are kept by refs under `refs/sq/`.
"""

import shutil
from contextlib import suppress
from pathlib import Path

from orchestrator.git.command import git, git_succeeds
from orchestrator.git.trees import changed_paths
from orchestrator.git.workspace import add_into, tree_of
from state.safe_paths import remove_inside


def shadow_ref(run_id: str, name: str) -> str:
    """Return a ref of a run. `name` is a task's id, or names other kept content."""
    return f"refs/sq/{run_id}/{name}"


async def ref_commit(root: Path, ref: str) -> str | None:
    """Return the commit that a ref names, or None if there is no such ref."""
    if not await git_succeeds(root, "show-ref", "--verify", "--quiet", ref):
        return None
    return await git(root, "rev-parse", "--verify", ref)


async def shadow_snapshot(root: Path, index: Path, *, lenient: bool = False) -> str:
    """Return the tree hash of a whole checkout, through the index file `index`. The user's is only read.

    `lenient`: leave out content that git cannot take in, such as a repository without commits.
    """
    if not index.exists():  # its cache saves reading every file
        own = Path(await git(root, "rev-parse", "--git-path", "index"))
        own = own if own.is_absolute() else root / own
        if own.exists():
            shutil.copy2(own, index)  # with its time, by which git knows which files to read again
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
