"""The content of the user's own branches and checkout: work that is in none of them must not be lost."""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from orchestrator.git.command import git, git_bytes
from orchestrator.git.shadow import shadow_snapshot
from orchestrator.git.users.backup import BACKUP, BESIDE, LIST
from orchestrator.git.users.held import blob_of, look_at

RUN_ID = r"\d{8}-\d{6}-[a-z0-9]{4}"
_BRANCH_OF_A_RUN = re.compile(rf"refs/heads/(?:sq|sq-tasks)/{RUN_ID}(?:/|$)")
_LINK = "160000"  # a commit of another repository: no bytes of this one


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


@dataclass(slots=True, kw_only=True)
class Elsewhere:
    """Looks for bytes in the user's branches, the index and the checkout. Paths `aside` do not count."""

    users: UsersWork
    aside: frozenset[str] = frozenset()
    _here: set[str] = field(default_factory=set)

    async def only_in(self, ref: str, commit: str) -> list[str]:
        """Return the paths of a ref's tree whose bytes are nowhere else.

        For a copy of the user's work, include those that were only staged.

        Raises:
            GitError: the repository cannot be read.
        """
        held: dict[str, str] = {}
        for one in await self._commits(ref, commit):
            held |= await self._blobs(one)
        missing = {blob: path for blob, path in held.items() if path not in self.aside}
        for blob in await self._known(missing, commit) if missing else ():
            missing.pop(blob, None)
        if missing and not self._here:
            self._here = await self._in_the_checkout()
        left = {blob: path for blob, path in missing.items() if blob not in self._here}
        return sorted([path for blob, path in left.items() if not await self._stands_there(path, blob)])

    async def _commits(self, ref: str, commit: str) -> list[str]:
        name = ref.rpartition("/")[2]
        if name != BACKUP and not name.startswith(BESIDE):
            return [commit]
        listed = await git(self.users.repository, "rev-parse", commit, f"{commit}^@")
        commits = listed.splitlines()
        return [one for one in commits if LIST not in await self._names(one)] if name == BACKUP else commits

    async def _names(self, commit: str) -> list[str]:
        return (await git(self.users.repository, "ls-tree", "--name-only", commit)).splitlines()

    async def _blobs(self, tree: str) -> dict[str, str]:
        listed = await git_bytes(self.users.repository, "ls-tree", "-r", "-z", "--full-tree", tree)
        entries = [entry.partition("\t") for entry in os.fsdecode(listed).split("\0") if entry]
        facts = [(*one.split(" "), path) for one, _, path in entries]
        return {blob: path for mode, _, blob, path in facts if mode != _LINK}

    async def _known(self, wanted: Iterable[str], commit: str) -> set[str]:
        """Return those of these blobs that a branch of the user's reaches."""
        if not self.users.tips:
            return set()
        repository = self.users.repository
        own = await git(
            repository, "rev-list", "--objects", "--no-object-names", "--stdin",
            stdin="\n".join([commit, *(f"^{tip}" for tip in self.users.tips)]) + "\n",
        )  # fmt: skip
        unreached = set(own.splitlines())
        found = {blob for blob in wanted if blob not in unreached}
        rest = set(wanted) - found
        if rest:  # perhaps in an older commit, whose files git has not read
            every = await git(
                repository, "rev-list", "--objects", "--no-object-names", "--stdin",
                stdin="\n".join(self.users.tips) + "\n",
            )  # fmt: skip
            found |= rest & set(every.splitlines())
        return found

    async def _in_the_checkout(self) -> set[str]:
        """Return the blobs of all files in the checkout, as git would commit them, and of staged files."""
        root = self.users.repository
        with TemporaryDirectory(prefix="sq-") as temporary:
            tree = await shadow_snapshot(root, Path(temporary) / "index", lenient=True)
        staged = (await git(root, "ls-files", "--stage")).splitlines()
        return {*await self._blobs(tree), *(line.split(" ")[1] for line in staged)}

    async def _stands_there(self, path: str, blob: str) -> bool:
        """Whether a file holds these bytes, which git would commit with other line ends."""
        content = look_at(self.users.repository / path)[2]
        return content is not None and await blob_of(self.users.repository, content) == blob
