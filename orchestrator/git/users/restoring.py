"""Puts the user's uncommitted work back as it was copied: files, index and HEAD.

Lines that a run has written around the user's lines stay. Replaced content is kept by a ref. A resumed run
gets a new copy: no Worker is active between two processes of a run, so a path that changed in between was
changed by the user, and for the rest the earlier copy still holds.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from agents.session.permissions import REFLOG_NAME
from orchestrator.git.command import compared, git, git_bytes, git_path
from orchestrator.git.locks import git_is_at_work
from orchestrator.git.own_refs import keep, make_commit
from orchestrator.git.users.backup import (
    Backup,
    Kept,
    KeptRepository,
    PathKind,
    Seen,
    blob_of,
    head_of_repository,
    index_in,
    kept_in_git,
    look_at,
    staged_commit,
    tree_of_files,
)
from orchestrator.git.users.files import (
    Change,
    by_line,
    changes_since,
    hunks_between,
    put_back,
    users_line_numbers,
    whole_lines,
)
from state.errors import GitError

_ENTRIES = ("ls-files", "--stage", "-v", "-z")
_PATIENCE_S = 5.0


Choose = Callable[[tuple[Kept, ...]], tuple[Kept, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """The result of `restore`. `indexes` and `heads` are paths of repositories (`.`: the checkout).

    `overwritten` are the files of which `ref` keeps another version. `elsewhere`: HEAD was moved, but not by
    an agent, so it stays there, and the index too.
    """

    changes: tuple[Change, ...] = ()
    indexes: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    overwritten: tuple[str, ...] = ()
    ref: str = ""
    commit: str = ""

    @property
    def is_nothing(self) -> bool:
        """Whether nothing had changed."""
        return not (self.changes or self.indexes or self.heads)


async def restore(root: Path, backup: Backup, *, ref: str, aside: Path, files: bool = True) -> Restored:
    """Put the user's changed work back, and return the details.

    Args:
        root: the checkout.
        backup: the copy.
        ref: keeps the replaced content. If it exists, the new ref gets a number.
        aside: the folder for folders and links that are in the way.
        files: whether files are put back, else only index and HEAD.

    Raises:
        GitError: something cannot be read, kept or put back.
        OSError: a file cannot be written.
    """
    changes = await changes_since(root, backup) if files else []
    moved = {
        one.path: found for one in backup.repositories if (found := await head_moved(root, one)) is not None
    }
    # The commits of an inner repository could not be kept by a ref of this one.
    by_agent = [
        one for one in backup.repositories if not one.path and one.path in moved and moved[""].by_agent
    ]
    elsewhere = [path for path, found in moved.items() if path or not found.by_agent]
    indexes = [
        one
        for one in backup.repositories
        if one.path not in elsewhere and (one in by_agent or await index_changed(root, one))
    ]
    overwritten = [change.kept.path for change in changes if change.overwritten]
    kept = ""
    if overwritten or by_agent or indexes:
        kept = await _keep_beside(root, backup, overwritten, moved[""].head if by_agent else "")
        ref = await keep(root, ref, kept)
    for one in by_agent:
        await put_head_back(root, one)
    for one in indexes:
        await put_index_back(root, one)
    await put_back(root, changes, aside=aside)
    return Restored(
        changes=tuple(changes),
        indexes=tuple(one.path or "." for one in indexes),
        heads=tuple(one.path or "." for one in by_agent),
        elsewhere=tuple(path or "." for path in elsewhere),
        overwritten=tuple(overwritten),
        ref=ref if kept else "",
        commit=kept,
    )


async def _keep_beside(root: Path, backup: Backup, paths: Sequence[str], head: str) -> str:
    """Make a commit of the current files, on a moved HEAD if there is one, and with the staged content."""
    held = {path: await kept_in_git(root, seen) for path, seen in (await look_at(root, paths)).items()}
    tree = await tree_of_files(
        root, {path: one for path, one in held.items() if one.kind is not PathKind.OTHER}
    )
    parents = [backup.commit, *([head] if head else []), *await staged_commit(root, backup.commit)]
    return await make_commit(
        root, tree=tree, parents=parents, message="The content that the user's work replaced\n"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """HEAD has moved. `by_agent`: its reflog names an agent's git as the cause."""

    branch: str
    head: str
    by_agent: bool


async def head_moved(root: Path, repository: KeptRepository) -> Moved | None:
    """Return the new place of a repository's HEAD, or None if it has not moved."""
    folder = root / repository.path
    branch, head = await head_of_repository(folder)
    if (branch, head) == (repository.branch, repository.head):
        return None
    try:
        told = await git(folder, "log", "--walk-reflogs", "--max-count=1", "--format=%gs", "HEAD")
    except GitError:  # no reflog, or no commit
        told = ""
    return Moved(branch=branch, head=head, by_agent=told.startswith(REFLOG_NAME))


async def put_head_back(root: Path, repository: KeptRepository) -> None:
    """Put HEAD and its branch back. The files stay. Commits that lose their branch must be kept first.

    Raises:
        GitError: git refuses.
    """
    folder = root / repository.path
    words = ("-m", "sq: put back where it was when the run began")
    if repository.branch:
        await git(folder, "symbolic-ref", *words, "HEAD", repository.branch)
    if repository.head:
        no_deref = [] if repository.branch else ["--no-deref"]
        await git(folder, "update-ref", *words, *no_deref, "HEAD", repository.head)
    elif repository.branch:
        await git(folder, "update-ref", "-d", repository.branch)


async def index_changed(root: Path, repository: KeptRepository) -> bool:
    """Whether an index has other entries than the copied one. Git's cached file data does not count."""
    folder = root / repository.path
    index = await git_path(folder, "index")
    if not (repository.index and index.exists()):
        return bool(repository.index) or (index.exists() and bool(await git_bytes(folder, *_ENTRIES)))
    copied = await git_bytes(root, "cat-file", "blob", repository.index)
    if copied == index_in(index):
        return False
    with TemporaryDirectory(prefix="sq-") as temporary:
        private = Path(temporary) / "index"
        private.write_bytes(copied)
        before = await git_bytes(folder, *_ENTRIES, environment={"GIT_INDEX_FILE": str(private)})
    return before != await git_bytes(folder, *_ENTRIES)


async def put_index_back(root: Path, repository: KeptRepository) -> None:
    """Put the index file back as it was copied, under git's own lock.

    Raises:
        GitError: another git holds the lock and does not release it.
    """
    folder = root / repository.path
    index = await git_path(folder, "index")
    lock = index.with_name(f"{index.name}.lock")
    await _free(folder, lock)
    if not repository.index:
        index.unlink(missing_ok=True)
        return
    content = await git_bytes(root, "cat-file", "blob", repository.index)
    try:
        with lock.open("xb") as file:
            file.write(content)
        lock.replace(index)
    except OSError as error:
        raise GitError(f"{index} could not be put back: {error}") from error


async def _free(folder: Path, lock: Path) -> None:
    """Wait for another git. A lock that a killed git has left is removed."""
    until = time.monotonic() + _PATIENCE_S
    while lock.exists():
        if not git_is_at_work(folder):
            lock.unlink(missing_ok=True)
        elif time.monotonic() > until:
            raise GitError(f"{lock} is held by another git: once that has ended, `sq resume`")
        else:
            await anyio.sleep(0.1)


async def renewed_files(root: Path, old: Backup, *, left: str, now: str) -> Choose:
    """Return the function that chooses the files of the checkout itself for a new copy.

    It keeps the files of the earlier copy that stay unchanged, and copies the changed ones anew.

    Args:
        root: the checkout.
        old: the earlier copy.
        left: the tree at the end of the run's last process.
        now: the tree of the checkout now.
    """
    names = (await compared(root, "diff", "--name-only", "--no-renames", "-z", of=(left, now))).split(b"\0")
    changed = [name.decode(errors="surrogateescape") for name in names if name]
    before = {kept.path: kept for kept in old.repositories[0].files}
    still = {path: kept for path, kept in before.items() if path not in changed}
    there = await look_at(root, changed)
    bases = {path: await _base(root, old, before.get(path), left, path, there[path]) for path in changed}

    def chosen(found: tuple[Kept, ...]) -> tuple[Kept, ...]:
        anew = []
        for kept in found:
            if facts := bases.get(kept.path):
                base, plain, whole = facts
                anew.append(replace(kept, base=base, plain=plain, whole=whole))
        return (*still.values(), *anew)

    return chosen


async def _base(
    root: Path, old: Backup, kept: Kept | None, left: str, path: str, seen: Seen
) -> tuple[str, bool, bool]:
    """Return `base`, `plain` and `whole` of a path, which separate the user's lines from the run's."""
    kind, content = seen.kind, seen.content
    try:
        blob = (await git_bytes(root, "rev-parse", "--verify", "--quiet", f"{left}:{path}")).decode().strip()
    except GitError:
        blob = ""
    if kept is None or content is None or kind is not PathKind.FILE:
        return blob, False, kind is not PathKind.FILE
    if kept.whole:
        return kept.base, kept.plain, True
    own = await users_line_numbers(root, old, path, content)
    if blob:
        was = await git_bytes(root, "cat-file", "--filters", f"--path={path}", blob)
        meanwhile = await hunks_between(root, whole_lines(was), whole_lines(content))
        own |= {number + 1 for hunk in meanwhile for number in range(*hunk.new)}
    lines = by_line(whole_lines(content))
    rest = b"".join(line for number, line in enumerate(lines, 1) if number not in own)
    return await blob_of(root, rest), True, False
