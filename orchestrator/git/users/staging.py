"""The user's index and HEAD: whether they changed since they were copied, and putting them back."""

import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from agents.session.permissions import REFLOG_NAME
from orchestrator.git.command import git, git_bytes
from orchestrator.git.locks import git_is_at_work
from orchestrator.git.users.backup import KeptRepository, head_of_repository, index_file
from state.errors import GitError

_ENTRIES = ("ls-files", "--stage", "-v", "-z")
_PATIENCE_S = 5.0


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
    index = await index_file(folder)
    if not (repository.index and index.exists()):
        return bool(repository.index) or (index.exists() and bool(await git_bytes(folder, *_ENTRIES)))
    copied = await git_bytes(root, "cat-file", "blob", repository.index)
    if copied == index.read_bytes():
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
    index = await index_file(folder)
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
    import anyio

    until = time.monotonic() + _PATIENCE_S
    while lock.exists():
        if not git_is_at_work(folder):
            lock.unlink(missing_ok=True)
        elif time.monotonic() > until:
            raise GitError(f"{lock} is held by another git: once that has ended, `sq resume`")
        else:
            await anyio.sleep(0.1)
