"""The user's checkout as trees and commits that the user does not see: an index and refs of sq's own.

Nothing is staged and no branch moves. The commits hang under `refs/sq/`, so that git keeps them.
"""

import shutil
from importlib.resources import as_file, files
from pathlib import Path

from orchestrator.git.command import git, git_succeeds
from orchestrator.git.workspace import changed_paths, tree_of
from state.errors import GitError


def shadow_ref(run_id: str, name: str) -> str:
    """A ref of a run; `name` is a task's id, or what else is kept."""
    return f"refs/sq/{run_id}/{name}"


async def ref_commit(root: Path, ref: str) -> str | None:
    """The commit that a ref names; None where there is no such ref."""
    if not await git_succeeds(root, "show-ref", "--verify", "--quiet", ref):
        return None
    return await git(root, "rev-parse", "--verify", ref)


async def shadow_snapshot(root: Path, index: Path, *, lenient: bool = False) -> str:
    """The tree hash of everything in a checkout, through the index file `index`; the user's is only read.

    `lenient`: without what git cannot take in, such as a repository without commits.
    """
    if not index.exists():  # its cache saves reading every file
        own = Path(await git(root, "rev-parse", "--git-path", "index"))
        own = own if own.is_absolute() else root / own
        if own.exists():
            shutil.copy2(own, index)  # with its time: by that git knows what to read again
    environment = {"GIT_INDEX_FILE": str(index)}
    with as_file(files("orchestrator.git") / "junk.gitignore") as junk:
        settings, some = [f"core.excludesFile={junk}"], ["--ignore-errors"] if lenient else []
        try:
            await git(root, "add", "--all", *some, settings=settings, environment=environment)
        except GitError:
            if not lenient:
                raise
    return await git(root, "write-tree", environment=environment)


async def shadow_commit(root: Path, *, ref: str, parent: str, tree: str, message: str) -> str:
    """A commit of this tree on `parent`, kept by `ref`; the parent itself where it holds the same tree."""
    if await tree_of(root, parent) == tree:
        commit = parent
    else:
        commit = await git(root, "commit-tree", "-p", parent, "-F", "-", tree, stdin=message)
    await git(root, "update-ref", ref, commit)
    return commit


async def put_back(root: Path, index: Path, *, changed: str, base: str, now: str) -> list[str]:
    """Undo in the checkout what `changed` did to `base` (trees), where it still stands so `now`.

    `index` is that of `shadow_snapshot`: git notes there what it wrote.
    Returns the paths that were put back. What somebody has edited since stays as it is.
    """
    untouched = set(await changed_paths(root, base, changed)) - set(await changed_paths(root, changed, now))
    for path in sorted(untouched):
        target = root / path
        if await git_succeeds(root, "cat-file", "-e", f"{base}:{path}"):
            where = ("restore", f"--source={base}", "--worktree", "--", f":(literal){path}")
            await git(root, *where, environment={"GIT_INDEX_FILE": str(index)})
        else:
            target.unlink(missing_ok=True)
    return sorted(untouched)
