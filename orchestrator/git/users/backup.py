"""A copy of the user's uncommitted work, to the byte: files, index and HEAD of a checkout and its submodules.

Made through a private index and kept by one ref, so that git keeps every byte of it. Its tree holds the files
that HEAD does not have so; its second parent the index files and a list of everything, its third what was
staged. The checkout itself is only read.
"""

import json
import os
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from orchestrator.git.command import git, git_bytes
from orchestrator.git.status import Dirt, dirt_of, repositories_in
from orchestrator.git.users.held import Held, Kind, blob_of, held_at, is_empty, tree_of_files
from state.errors import GitError

BACKUP = "users.work"  # of the ref's name; the dot keeps it apart from every task's id
LIST = "list.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A path with uncommitted work, as it was. `path` is relative to the checkout.

    `base` is the blob that HEAD has there; empty: none. `plain`: that blob is taken as it is, else as git
    would write it into the checkout. `whole`: any change of the path counts.
    """

    path: str
    held: Held
    base: str = ""
    plain: bool = False
    whole: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRepository:
    """A repository as it was: `path` within the checkout, empty for the checkout itself.

    `branch` is the ref that HEAD names (empty: it is detached), `head` the commit (empty: none yet), `index`
    the blob of the index file (empty: none).
    """

    path: str
    branch: str
    head: str
    index: str
    files: tuple[Kept, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """The copy that `commit` holds."""

    commit: str
    repositories: tuple[KeptRepository, ...]

    @property
    def files(self) -> dict[str, Kept]:
        """Every file that was copied, by its path in the checkout."""
        return {kept.path: kept for repository in self.repositories for kept in repository.files}


class Selection(Protocol):
    """Which files a copy holds."""

    def of(self, found: tuple[Kept, ...]) -> tuple[Kept, ...]:
        """The files of the copy; `found` are those that are uncommitted now."""
        ...


async def take_backup(
    root: Path, *, ref: str, parent: str, leave_out: Sequence[Path], instead: "Selection | None" = None
) -> Backup:
    """Copy all uncommitted work of a checkout and keep the copy under `ref`.

    Args:
        root: the checkout.
        ref: what keeps it; one that is there is moved.
        parent: the commit that it is put on.
        leave_out: what is not the user's work, such as sq's own state.
        instead: which of the checkout's own files the copy holds; without it all that are uncommitted.

    Raises:
        GitError: something cannot be read or kept.
    """
    real = [Path(os.path.realpath(path)) for path in leave_out]
    repositories = [one async for one in _repositories(root, "", real)]
    if instead:
        repositories[0] = replace(repositories[0], files=instead.of(repositories[0].files))
    files = [kept for one in repositories for kept in one.files]
    parents = [parent, await _notes(root, parent, repositories), *await staged_commit(root, parent)]
    tree = await tree_of_files(root, {kept.path: kept.held for kept in files})
    on = [part for one in parents for part in ("-p", one)]
    message = "The user's uncommitted work at the start of the run\n"
    commit = await git(root, "commit-tree", *on, "-F", "-", tree, stdin=message)
    await git(root, "update-ref", ref, commit)
    return Backup(commit=commit, repositories=tuple(repositories))


async def read_backup(root: Path, commit: str) -> Backup:
    """The copy that a commit holds.

    Raises:
        GitError: it holds none.
    """
    listed = json.loads(await git_bytes(root, "cat-file", "blob", f"{commit}^2:{LIST}"))
    repositories = [
        KeptRepository(**{**one, "files": tuple(_kept(kept) for kept in one["files"])}) for one in listed
    ]
    return Backup(commit=commit, repositories=tuple(repositories))


async def staged_commit(root: Path, parent: str) -> list[str]:
    """A commit of what was staged; none where a conflict is not resolved."""
    index = await index_file(root)
    if not index.exists():
        return []
    with TemporaryDirectory(prefix="sq-") as temporary:
        private = Path(temporary) / "index"
        private.write_bytes(index.read_bytes())
        try:
            tree = await git(root, "write-tree", environment={"GIT_INDEX_FILE": str(private)})
        except GitError:
            return []
    return [await git(root, "commit-tree", "-p", parent, "-m", "What was staged", tree)]


async def index_file(folder: Path) -> Path:
    """Where the index of a repository is."""
    named = await git(folder, "rev-parse", "--git-path", "index")
    return folder / named


async def head_of_repository(folder: Path) -> tuple[str, str]:
    """The ref that HEAD names and the commit it is on; empty where there is none."""
    try:
        branch = await git(folder, "symbolic-ref", "--quiet", "HEAD")
    except GitError:
        branch = ""
    try:
        return branch, await git(folder, "rev-parse", "--verify", "--quiet", "HEAD")
    except GitError:
        return branch, ""


# --- taking ---------------------------------------------------------------------------------------------


async def _repositories(root: Path, path: str, leave_out: list[Path]) -> AsyncIterator[KeptRepository]:
    """A repository and those inside it, each as it is."""
    folder = root / path
    dirt = await dirt_of(folder)
    files = [
        await _keep(root, path, one)
        for one in dirt
        if not one.repository and not _is_inside(folder / one.path, leave_out)
    ]
    index = await index_file(folder)
    branch, head = await head_of_repository(folder)
    yield KeptRepository(
        path=path,
        branch=branch,
        head=head,
        index=await blob_of(root, index.read_bytes()) if index.exists() else "",
        files=tuple(files),
    )
    for inner in await repositories_in(folder, dirt):
        if not _is_inside(folder / inner, leave_out):
            async for one in _repositories(root, os.path.join(path, inner), leave_out):  # noqa: PTH118
                yield one


async def _keep(root: Path, path: str, dirt: Dirt) -> Kept:
    name = os.path.join(path, dirt.path)  # noqa: PTH118  a Path would drop what git tells apart
    held = await held_at(root, name)
    whole = (
        dirt.whole or held.kind is not Kind.FILE or is_empty(held)
    )  # an empty file has no lines to tell by
    return Kept(path=name, held=held, base=dirt.blob, whole=whole)


def _is_inside(path: Path, folders: list[Path]) -> bool:
    return any(Path(os.path.realpath(path)).is_relative_to(folder) for folder in folders)


async def _notes(root: Path, parent: str, repositories: Sequence[KeptRepository]) -> str:
    """A commit with the list of everything, and each index file so that git keeps it."""
    listed = json.dumps([asdict(one) for one in repositories]).encode()
    entries = {LIST: await blob_of(root, listed)}
    entries |= {f"index-{number}": one.index for number, one in enumerate(repositories) if one.index}
    lines = "".join(f"100644 blob {blob}\t{name}\0" for name, blob in entries.items())
    tree = await git(root, "mktree", "-z", stdin=lines)
    return await git(root, "commit-tree", "-p", parent, "-m", "What was where", tree)


def _kept(listed: dict[str, object]) -> Kept:
    held = listed["held"]
    assert isinstance(held, dict)  # noqa: S101  as `asdict` made it
    return Kept(**{**listed, "held": Held(**{**held, "kind": Kind(held["kind"])})})  # type: ignore[arg-type]
