"""Which work is meant: from a base to a head, by names of git, the files as they are, or a pull request."""

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from orchestrator.git.command import git, git_succeeds
from orchestrator.git.repository import Repository
from orchestrator.git.users.shadows import shadow_snapshot
from orchestrator.git.workspace import tree_of
from state.errors import GitError, UsageError

_REQUESTS = ("pull/{}/head", "merge-requests/{}/head")  # of GitHub and Gitea, and of GitLab
_DEFAULT_NAMES = ("origin/HEAD", "upstream/HEAD", "origin/main", "origin/master", "main", "master")


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A work: the commit that it began with, and what it is now. `head` is "" for files in no commit."""

    root: Path
    base: str
    base_tree: str
    head: str
    tree: str
    named: str

    @property
    def is_empty(self) -> bool:
        """Whether it changes nothing."""
        return self.base_tree == self.tree


async def work_of(
    repository: Repository, given: str = "", *, worktree: bool = False, request: int = 0
) -> Work:
    """Return the work that is asked about.

    Args:
        repository: the checkout.
        given: `BASE..HEAD`, `BASE...HEAD` (from their merge base), or one commit, which is asked about with
            all that follows the default branch. "" is HEAD.
        worktree: the files as they are, with all that git does not ignore.
        request: the number of a pull request, which is fetched into a ref of sq's own.

    Raises:
        UsageError: a name is unknown, or there is nothing that the work began with. Says what to do.
    """
    root = repository.root
    if repository.head is None and not request:
        raise UsageError(
            f"{root} has no commit yet, so there is no work to ask about: commit something first"
        )
    if request:
        head = await _fetched(root, request)
        base = await _base_of(root, head, repository, named="")
        return await _work(root, base, head, named=f"pull request {request}")
    if worktree:
        base = await _named(root, given) if given else str(repository.head)
        async with _index() as index:
            tree = await shadow_snapshot(root, index)
        base_tree = await tree_of(root, base)
        return Work(
            root=root, base=base, base_tree=base_tree, head="", tree=tree, named="the files as they are"
        )
    for sign in ("...", ".."):
        if sign in given:
            left, right = given.split(sign, 1)
            head = await _named(root, right or "HEAD")
            begun = await _named(root, left or "HEAD")
            base = await _merge_base(root, begun, head) if sign == "..." else begun
            return await _work(root, base, head, named=given)
    head = await _named(root, given or "HEAD")
    return await _work(root, await _base_of(root, head, repository, named=given), head, named=given or "HEAD")


async def messages_of(work: Work) -> Sequence[str]:
    """Return the messages of the commits of a work, the newest first."""
    if not work.head:
        return ()
    told = await git(work.root, "log", "-z", "--format=%B", f"{work.base}..{work.head}")
    return tuple(one for one in told.split("\0") if one.strip())


@asynccontextmanager
async def _index() -> AsyncIterator[Path]:
    with TemporaryDirectory(prefix="sq-") as folder:
        yield Path(folder) / "index"


async def _work(root: Path, base: str, head: str, *, named: str) -> Work:
    base_tree, tree = [await tree_of(root, one) for one in (base, head)]
    return Work(root=root, base=base, base_tree=base_tree, head=head, tree=tree, named=named)


async def _named(root: Path, name: str) -> str:
    try:
        return await git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    except GitError:
        more = ""
        if (await git(root, "rev-parse", "--is-shallow-repository")) == "true":
            more = ", and this clone is shallow: `git fetch --unshallow`, or `fetch-depth: 0` in a CI"
        raise UsageError(f"{name!r} names no commit in {root}{more}") from None


async def _merge_base(root: Path, one: str, other: str) -> str:
    try:
        return await git(root, "merge-base", one, other)
    except GitError:
        raise UsageError(
            f"{one[:10]} and {other[:10]} have no commit in common here. If this clone is shallow: "
            "`git fetch --unshallow`, or `fetch-depth: 0` in a CI. Else name the base: sq verify BASE..HEAD"
        ) from None


async def _base_of(root: Path, head: str, repository: Repository, *, named: str) -> str:
    """Return the merge base with the upstream of the branch, or with the default branch.

    On the default branch itself the work is the newest commit.
    """
    names = list(_DEFAULT_NAMES)
    if repository.branch and not named and head == repository.head:
        names.insert(0, f"{repository.branch}@{{upstream}}")
    if target := os.environ.get("GITHUB_BASE_REF") or os.environ.get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME"):
        names.insert(0, f"origin/{target}")
    for name in names:
        if not await git_succeeds(root, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}"):
            continue
        other = await git(root, "rev-parse", f"{name}^{{commit}}")
        if other != head and (base := await _merge_base(root, other, head)) != head:
            return base
    if await git_succeeds(root, "rev-parse", "--verify", "--quiet", f"{head}^"):
        return await git(root, "rev-parse", f"{head}^")
    raise UsageError(
        f"{head[:10]} is the first commit, and nothing says what it began with: name a base, as in "
        "sq verify BASE..HEAD"
    )


async def _fetched(root: Path, number: int) -> str:
    """Fetch the head of a pull request into a ref of sq's own, and return its commit."""
    remotes = (await git(root, "remote")).split()
    tried: list[str] = []
    for remote in sorted(
        remotes, key=lambda one: ("upstream", "origin").index(one) if one in {"upstream", "origin"} else 2
    ):
        for form in _REQUESTS:
            reference, kept = f"refs/{form.format(number)}", f"refs/sq/verify/{number}"
            try:
                await git(root, "fetch", "--quiet", "--no-tags", "--force", remote, f"{reference}:{kept}")
            except GitError as error:
                tried.append(f"{remote} {reference}: {error}")
            else:
                return await git(root, "rev-parse", kept)
    if not remotes:
        raise UsageError(f"--pr {number}: {root} has no remote to fetch it from: git remote add origin URL")
    raise UsageError(f"--pr {number}: it could not be fetched. Tried: {'; '.join(tried)}")
