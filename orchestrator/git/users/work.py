"""The content of the user's own branches: work that is in none of them must not be lost."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.git.command import git

RUN_ID = r"\d{8}-\d{6}-[a-z0-9]{4}"
_BRANCH_OF_A_RUN = re.compile(rf"refs/heads/(?:sq|sq-tasks)/{RUN_ID}(?:/|$)")


@dataclass(slots=True, kw_only=True)
class UsersWork:
    """The content of the user's own branches, local and remote ones."""

    repository: Path
    tips: tuple[str, ...]
    empty_tree: str
    _trees: set[str] = field(default_factory=set)

    async def lacks(self, commit: str) -> list[str]:
        """Return the commits up to this one that no branch of the user's has, newest first.

        An empty first commit, which sq makes in a repository without commits, does not count as work.
        """
        listed = await self._log("%H %T %P", commit, *(f"^{tip}" for tip in self.tips))
        entries = [line.split() for line in listed]
        return [commit for commit, tree, *parents in entries if parents or tree != self.empty_tree]

    async def lost_with(self, commit: str) -> str:
        """Return in words the work that no branch of the user's would have without this commit, or ""."""
        commits = await self.lacks(commit)
        if not commits:
            return ""
        listed = await git(self.repository, "rev-list", "--max-count=1", "--format=%h %s", commits[0])
        newest = listed.partition("\n")[2]
        return f"{len(commits)} commit(s) that no branch of yours has, the newest {newest}"

    async def has_tree(self, tree: str) -> bool:
        """Whether a commit of the user's holds exactly this tree."""
        if not self._trees and self.tips:
            self._trees.update(await self._log("%T", *self.tips))
        return tree in self._trees

    async def _log(self, form: str, *revisions: str) -> list[str]:
        stdin = "\n".join(revisions) + "\n"
        listed = await git(self.repository, "rev-list", f"--format={form}", "--stdin", stdin=stdin)
        return [line for line in listed.splitlines() if not line.startswith("commit ")]


async def users_work(repository: Path) -> UsersWork:
    """Return the content of the branches of a repository that are not sq's.

    Raises:
        GitError: the repository cannot be read.
    """
    form = "--format=%(objectname) %(refname)"
    listed = await git(repository, "for-each-ref", form, "refs/heads", "refs/remotes")
    pairs = [line.split(" ", 1) for line in listed.splitlines()]
    tips = {commit for commit, ref in pairs if not _BRANCH_OF_A_RUN.match(ref)}
    empty = await git(repository, "hash-object", "-t", "tree", "--stdin", stdin="")
    return UsersWork(repository=repository, tips=tuple(sorted(tips)), empty_tree=empty)
