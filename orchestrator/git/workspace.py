"""The worktrees a run works in: made outside the checkout, read as trees, committed by sq alone."""

from importlib.resources import as_file, files
from pathlib import Path

from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, wait_random_exponential

from orchestrator.git.command import git, git_succeeds
from state.errors import GitError


def run_branch(run_id: str) -> str:
    """The branch that a run's merged work is on."""
    return f"sq/{run_id}"


def task_branch(run_id: str, task_id: str) -> str:
    """The branch of one task. Beside `sq/RUN`, not below it: git keeps no ref below another."""
    return f"sq-tasks/{run_id}/{task_id}"


async def ensure_branch(repository: Path, branch: str, commit: str) -> None:
    """Make a branch at a commit unless it is there."""
    if not await git_succeeds(repository, "show-ref", "--verify", "--quiet", f"refs/heads/{branch}"):
        await git(repository, "update-ref", f"refs/heads/{branch}", commit, "")


async def ensure_worktree(repository: Path, folder: Path, *, branch: str | None, commit: str) -> None:
    """A worktree of `branch` in `folder`, the branch made at `commit` if there is none; None: detached.

    A folder that is a worktree already is left as it is: it may hold work. Two runs may do this at once, so a
    lock that git holds for a moment is waited for.

    Raises:
        GitError: git refuses; nothing falls back to working in the checkout.
    """
    if (folder / ".git").exists() and await git_succeeds(folder, "rev-parse", "--verify", "HEAD"):
        return
    if branch:
        await ensure_branch(repository, branch, commit)
    where = [str(folder), branch] if branch else ["--detach", str(folder), commit]
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    async for attempt in AsyncRetrying(
        retry=retry_if_exception(_is_a_race),
        stop=stop_after_attempt(8),
        wait=wait_random_exponential(multiplier=0.05, max=1),
        reraise=True,
    ):
        with attempt:
            await git(repository, "worktree", "add", "--force", *where)


def _is_a_race(error: BaseException) -> bool:
    """Whether git met another git at work: a lock, or a worktree that is only half made or half removed."""
    return isinstance(error, GitError) and any(sign in str(error) for sign in (".lock", "commondir"))


async def rebase_clean(folder: Path, commit: str) -> None:
    """Put a worktree whose work is merged on a newer commit, for the next attempt."""
    await git(folder, "reset", "--hard", "--quiet", commit)
    await git(folder, "clean", "-fdq")


async def snapshot(folder: Path) -> str:
    """The tree hash of everything in a worktree, uncommitted and new files included, ignored ones not.

    Uses the worktree's own index: it is sq's, nobody else stages there.
    """
    with as_file(files("orchestrator.git") / "junk.gitignore") as junk:
        await git(folder, "add", "--all", settings=[f"core.excludesFile={junk}"])
    return await git(folder, "write-tree")


async def tree_of(folder: Path, commit: str) -> str:
    """The tree hash of a commit."""
    return await git(folder, "rev-parse", "--verify", f"{commit}^{{tree}}")


async def commit_tree(folder: Path, *, branch: str, tree: str, message: str) -> str:
    """Commit exactly this tree on the worktree's branch; done already, it is not done again.

    What lies in the worktree beside that tree (left there by the verification commands) is removed, so that
    the reviewer sees the commit and nothing else.
    """
    head = await git(folder, "rev-parse", "--verify", "HEAD")
    commit = head
    if await tree_of(folder, head) != tree:
        commit = await git(folder, "commit-tree", "-p", head, "-F", "-", tree, stdin=message)
        await git(folder, "update-ref", f"refs/heads/{branch}", commit, head)
    await rebase_clean(folder, commit)
    return commit


async def changed_paths(folder: Path, base: str, tree: str) -> list[str]:
    """The paths that differ between two trees or commits."""
    names = await git(folder, "diff", "--name-only", "--no-renames", "-z", base, tree)
    return [name for name in names.split("\0") if name]


async def diff_text(folder: Path, base: str, commit: str, *, limit: int) -> str:
    """The change as a reviewer reads it: the files, then the diff, cut at `limit` characters with a note."""
    stat = await git(folder, "diff", "--stat", base, commit)
    diff = await git(folder, "diff", "--no-color", "--no-ext-diff", base, commit)
    if len(diff) > limit:
        left = len(diff) - limit
        diff = f"{diff[:limit]}\n[… {left} characters left out: read the files themselves]"
    return f"```\n{stat}\n```\n\n```diff\n{diff}\n```"


async def merge_forward(repository: Path, *, branch: str, commit: str) -> None:
    """Move the run's branch on to a task's commit.

    Raises:
        GitError: the commit does not stand on what the branch holds, or the branch moved meanwhile.
    """
    old = await git(repository, "rev-parse", "--verify", f"refs/heads/{branch}")
    if old == commit:
        return
    if not await git_succeeds(repository, "merge-base", "--is-ancestor", old, commit):
        raise GitError(f"{commit[:12]} does not stand on {branch} ({old[:12]}): it cannot be merged forward")
    await git(repository, "update-ref", f"refs/heads/{branch}", commit, old)


async def remove_worktree(repository: Path, folder: Path, *, holds: str) -> bool:
    """Remove a worktree whose content is the tree `holds`; False, and it stays, if it holds anything else."""
    if not folder.exists():
        return True
    if await snapshot(folder) != holds:
        return False
    await git(repository, "worktree", "remove", "--force", str(folder))
    return True


async def remove_branch(repository: Path, branch: str, *, merged_into: str) -> None:
    """Delete a branch whose commits are all in `merged_into`; any other stays."""
    ref = f"refs/heads/{branch}"
    if await git_succeeds(repository, "merge-base", "--is-ancestor", ref, merged_into):
        await git(repository, "update-ref", "-d", ref)
