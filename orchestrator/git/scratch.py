"""Worktrees that show the files of another tree: scratch worktrees, and others for a while.

Scratch worktrees hold exact trees for commands to run on, and no work. A worktree with work shows the files
of another tree for a while: neither HEAD nor its own index moves.
"""

from pathlib import Path

from orchestrator.git.command import git
from orchestrator.git.workspace import ensure_worktree, put_on, take_away

_DATE = "1970-01-01T00:00:00 +0000"  # the same tree is the same commit
_FIXED = {"GIT_AUTHOR_DATE": _DATE, "GIT_COMMITTER_DATE": _DATE}


async def show_tree(repository: Path, folder: Path, tree: str) -> None:
    """Put exactly this tree into a scratch worktree. Ignored files there stay, such as those of a set-up.

    Raises:
        GitError: git refuses.
    """
    commit = await git(
        repository, "commit-tree", "-F", "-", tree, stdin="A tree to verify\n", environment=_FIXED
    )
    if not await ensure_worktree(repository, folder, branch=None, commit=commit):
        await put_on(folder, commit, branch=None, with_repositories=True)


async def remove_scratch(repository: Path, folder: Path) -> None:
    """Remove a scratch worktree with everything in it.

    Raises:
        GitError: git refuses, or something of it cannot be removed.
    """
    if folder.exists():
        await take_away(repository, folder)


async def show_content(folder: Path, index: Path, tree: str) -> None:
    """Give a worktree the files of a tree, in place of those that the index file `index` names.

    Ignored files stay.

    Raises:
        GitError: git refuses.
    """
    await git(folder, "read-tree", "--reset", "-u", tree, environment={"GIT_INDEX_FILE": str(index)})


async def holds_more(folder: Path, index: Path) -> bool:
    """Whether a worktree has files that the index file `index` does not name, ignored ones included."""
    environment = {"GIT_INDEX_FILE": str(index)}
    return bool(await git(folder, "ls-files", "--others", "--directory", "-z", environment=environment))


async def remove_others(folder: Path, index: Path) -> None:
    """Remove all files that the index file `index` does not name, ignored ones and repositories included."""
    await git(folder, "clean", "-ffdxq", environment={"GIT_INDEX_FILE": str(index)})
