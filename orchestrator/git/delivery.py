"""The announced last step: move the user's branch to the finished work, or keep the work and say so."""

from pathlib import Path

from orchestrator.git.command import git, git_succeeds
from orchestrator.git.repository import Repository, find_repository, uncommitted
from state.errors import GitError


async def deliver(
    repository: Repository, *, commit: str, base_branch: str | None, not_dirt: list[Path]
) -> str:
    """Fast-forward the user's branch to `commit`. Returns "" when done, else why it was not.

    Nothing is changed unless the checkout is clean and still on the branch where the run began, and that
    branch is still at the commit that the finished work starts from.
    """
    now = await find_repository(repository.root)
    if base_branch is None:
        return "HEAD was detached when the run began, so there is no branch to move"
    if now.branch != base_branch:
        return f"the checkout is on {now.branch or 'a detached HEAD'} now, not on {base_branch}"
    if now.head == commit:
        return ""
    if now.head and not await git_succeeds(repository.root, "merge-base", "--is-ancestor", now.head, commit):
        return f"{base_branch} has moved on since the run began"
    if dirty := await uncommitted(repository, not_dirt=not_dirt):
        return f"the checkout has uncommitted changes ({', '.join(dirty[:3])})"
    try:
        # By default git overwrites ignored files, which may be the user's. A name could be that of a tag too.
        await git(repository.root, "merge", "--ff-only", "--no-overwrite-ignore", "--quiet", commit)
    except GitError as error:
        return f"git would not move {base_branch}: {error}"
    return ""
