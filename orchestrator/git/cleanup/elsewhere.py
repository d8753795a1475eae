"""Which bytes kept by a ref are neither in a commit of the user's nor in the checkout as it is now."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from orchestrator.git.command import git, git_bytes
from orchestrator.git.shadow import shadow_snapshot
from orchestrator.git.users.backup import BACKUP, BESIDE, LIST
from orchestrator.git.users.held import blob_of, look_at
from orchestrator.git.users.work import UsersWork

_LINK = "160000"  # a commit of another repository: no bytes of this one


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
