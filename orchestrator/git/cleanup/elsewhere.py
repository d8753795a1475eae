"""The content of the user's own branches and checkout: work that is in none of them must not be lost."""

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from orchestrator.git.command import git, git_bytes
from orchestrator.git.own_refs import shadow_snapshot
from orchestrator.git.users.backup import BACKUP, BESIDE, LIST
from orchestrator.git.users.held import blob_of, look_at

RUN_ID = r"\d{8}-\d{6}-[a-z0-9]{4}"
_BRANCH_OF_A_RUN = re.compile(rf"refs/heads/(?:sq|sq-tasks)/{RUN_ID}(?:/|$)")
_LINK = "160000"  # a commit of another repository: no bytes of this one


@dataclass(slots=True, kw_only=True)
class UsersWork:
    """The content of the user's own branches, local and remote ones, and of the checkout."""

    repository: Path
    tips: tuple[str, ...]
    empty_tree: str
    _reached: set[str] = field(default_factory=set)
    _here: set[str] = field(default_factory=set)

    async def lost_with(self, commit: str) -> str:
        """Return in words the work that no branch of the user's would have without this commit, or "".

        An empty first commit, which sq makes in a repository without commits, does not count as work.
        """
        stdin = "\n".join([commit, *(f"^{tip}" for tip in self.tips)]) + "\n"
        listed = await git(self.repository, "log", "--format=%T%x09%P%x09%h %s", "--stdin", stdin=stdin)
        entries = [line.split("\t", 2) for line in listed.splitlines()]
        names = [name for tree, parents, name in entries if parents or tree != self.empty_tree]
        return f"{len(names)} commit(s) that no branch of yours has, the newest {names[0]}" if names else ""

    async def has(self, name: str) -> bool:
        """Whether a branch of the user's reaches this tree or blob."""
        if not self._reached and self.tips:
            listing = ("rev-list", "--objects", "--no-object-names", "--stdin")
            listed = await git(self.repository, *listing, stdin="\n".join(self.tips) + "\n")
            self._reached.update(listed.splitlines())
        return name in self._reached

    async def lacks(self, ref: str, commit: str, *, aside: frozenset[str]) -> list[str]:
        """Return the paths of a ref's tree whose bytes neither a branch of the user's nor the checkout has.

        For a copy of the user's work, include those that were only staged. Paths `aside` do not count.

        Raises:
            GitError: the repository cannot be read.
        """
        held: dict[str, str] = {}
        for one in await self._commits(ref, commit):
            held |= await self._blobs(one)
        left = {blob: path for blob, path in held.items() if path not in aside and not await self.has(blob)}
        if left and not self._here:
            self._here = await self._in_the_checkout()
        return sorted(
            [
                path
                for blob, path in left.items()
                if blob not in self._here and not await self._stands_there(path, blob)
            ]
        )

    async def _commits(self, ref: str, commit: str) -> list[str]:
        name = ref.rpartition("/")[2]
        if name != BACKUP and not name.startswith(BESIDE):
            return [commit]
        commits = (await git(self.repository, "rev-parse", commit, f"{commit}^@")).splitlines()
        return [one for one in commits if LIST not in await self._names(one)] if name == BACKUP else commits

    async def _names(self, commit: str) -> list[str]:
        return (await git(self.repository, "ls-tree", "--name-only", commit)).splitlines()

    async def _blobs(self, tree: str) -> dict[str, str]:
        listed = await git_bytes(self.repository, "ls-tree", "-r", "-z", "--full-tree", tree)
        entries = [entry.partition("\t") for entry in os.fsdecode(listed).split("\0") if entry]
        facts = [(*one.split(" "), path) for one, _, path in entries]
        return {blob: path for mode, _, blob, path in facts if mode != _LINK}

    async def _in_the_checkout(self) -> set[str]:
        """Return the blobs of all files in the checkout, as git would commit them, and of staged files."""
        with TemporaryDirectory(prefix="sq-") as temporary:
            tree = await shadow_snapshot(self.repository, Path(temporary) / "index", lenient=True)
        staged = (await git(self.repository, "ls-files", "--stage")).splitlines()
        return {*await self._blobs(tree), *(line.split(" ")[1] for line in staged)}

    async def _stands_there(self, path: str, blob: str) -> bool:
        """Whether a file holds these bytes, which git would commit with other line ends."""
        content = look_at(self.repository / path)[2]
        return content is not None and await blob_of(self.repository, content) == blob


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
