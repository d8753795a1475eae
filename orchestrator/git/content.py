"""A worktree that shows the files of another tree for a while. Neither HEAD nor its own index moves."""

from pathlib import Path

from orchestrator.git.command import git


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
