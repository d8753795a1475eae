"""The work on tasks as records, and the changes of merges: as the journal and git know them."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from orchestrator.git.pinned import recorded_git
from orchestrator.git.pinned_config import trusting
from orchestrator.git.trees import changes_between, is_hash, patches_of, readable, shown_patch, sizes_of
from orchestrator.views.descriptions.description import Quote
from orchestrator.views.words import Reason
from state.errors import GitError
from state.journal.events.tasks import Stage, TaskView
from state.journal.view import RunView
from state.records.work import FileChange

_LARGEST_FILE = 200_000  # bytes of a version whose patch is read
_MOST_FILES = 300  # of one merge or commit, whose patches are read or which are listed
_FULL = "the report's space for diffs is used up"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileWork:
    """One changed file. `patch` is empty if it is not shown, for the reason in `left_out`."""

    change: FileChange
    patch: str = ""
    left_out: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkChanges:
    """The changes from `base` to `commit`: one merge of a task, or its newest commit if it is not merged.

    `problem` says why the repository does not show them. `unlisted` files are not named one by one.
    """

    task_id: str
    base: str
    commit: str
    merged: bool
    files: tuple[FileWork, ...] = ()
    added: int = 0
    removed: int = 0
    unlisted: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptStep:
    """One step. `what` is sq's sentence, `words` are those of `who` or the end of a command's output."""

    seq: int
    at: datetime
    what: str
    tone: str = "calm"
    who: str = ""
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedStep(AttemptStep):
    """A step with its further quotes, and the commit and the call that a page can show."""

    quotes: tuple[Quote, ...]
    changes: str
    call_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attempt. `ended` is why it ended, "" if it goes on or its work was merged."""

    number: int
    seq: int
    began_at: datetime
    seconds: float | None
    ended: str
    steps: tuple[AttemptStep, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPart:
    """All about one task. `now` and `why` are empty if it is merged. `seq` brought its present stage."""

    id: str
    title: str
    description: str
    stage: Stage
    now: str
    cost_usd: float
    seconds: float | None
    seq: int
    attempts: tuple[Attempt, ...]
    work: tuple[WorkChanges, ...]
    why: tuple[Reason, ...]


async def changed_files(folder: Path, base: str, commit: str) -> list[FileChange]:
    """Return the files that differ between two commits.

    Raises:
        GitError: the commits are gone, or the run has no record of its git folder.
    """
    with _pinned(folder) as root:
        changes = await changes_between(root, base, commit)
    return [change for change, _ in changes[:_MOST_FILES]]


async def patch_of(folder: Path, base: str, commit: str, path: str) -> str:
    """Return the changes of one file. A long text is cut, and says so.

    Raises:
        GitError: as `changed_files`.
    """
    with _pinned(folder) as root:
        text, left = await shown_patch(root, base, commit, (path,))
    return f"{text}\n\\ {left:,} more bytes: git diff {base[:12]} {commit[:12]}" if left else text


@contextmanager
def _pinned(folder: Path) -> Iterator[Path]:
    """Provide the repository, with git's settings as they were before any agent worked."""
    with trusting(trusted := recorded_git(folder)):
        if trusted is None:
            raise GitError("the run has no record of its git folder")
        yield trusted.root


def recorded_work(view: RunView) -> tuple[WorkChanges, ...]:
    """Return the changes as far as the journal itself knows them, in the order of the plan."""
    return tuple(work for id_, task in view.tasks.items() for work in _of_task(view, id_, task))


def _of_task(view: RunView, id_: str, task: TaskView) -> Iterator[WorkChanges]:
    measured = view.whole.measured.get(id_, [])
    for one in measured:
        yield WorkChanges(
            task_id=id_,
            base=one.base,
            commit=one.commit,
            merged=True,
            files=tuple(FileWork(change=change) for change in one.files),
            added=one.added,
            removed=one.removed,
            unlisted=one.left_out,
        )
    base = task.merged_onto or task.place.base_commit
    if task.merged_commit and not measured:
        yield WorkChanges(task_id=id_, base=base, commit=task.merged_commit, merged=True)
    elif task.claim.commit and not task.merged_commit:
        yield WorkChanges(task_id=id_, base=task.place.base_commit, commit=task.claim.commit, merged=False)


async def read_work(
    view: RunView, repository: Path, *, most_bytes: int, redact: Callable[[str], str] = str
) -> tuple[WorkChanges, ...]:
    """Return the changes with their patches, as far as the repository still has the commits.

    Args:
        most_bytes: of all patches together. Later ones are left out, with the reason.
        redact: takes known secrets out of a patch.
    """
    works = recorded_work(view)
    try:
        ends = {id_ for work in works for id_ in (work.base, work.commit)}
        known = set(await sizes_of(repository, filter(is_hash, ends)))
    except GitError as error:
        return tuple(
            replace(work, problem=f"git cannot read the repository: {_first(error)}") for work in works
        )
    found = []
    left = most_bytes
    for work in works:
        read = await _read(repository, work, known, left)
        left -= sum(len(file.patch.encode(errors="replace")) for file in read.files)
        found.append(replace(read, files=tuple(_redacted(file, redact) for file in read.files)))
    return tuple(found)


def within(works: Iterable[WorkChanges], most_bytes: int) -> tuple[WorkChanges, ...]:
    """Return the changes with as many patches as fit. The first ones are kept."""
    found = []
    for work in works:
        files = []
        for file in work.files:
            size = len(file.patch.encode(errors="replace"))
            fits = size <= most_bytes
            most_bytes -= size if fits else 0
            files.append(file if fits else replace(file, patch="", left_out=_FULL))
        found.append(replace(work, files=tuple(files)))
    return tuple(found)


async def _read(repository: Path, work: WorkChanges, known: set[str], most_bytes: int) -> WorkChanges:
    gone = [id_ for id_ in (work.base, work.commit) if id_ not in known]
    if gone:
        named = " and ".join(id_[:10] or "unknown" for id_ in gone)
        return replace(work, problem=f"commit {named} is gone from the repository")
    try:
        files = await _files(repository, work)
    except GitError as error:
        return replace(work, problem=f"git cannot show it: {_first(error)}")
    (shown,) = within([replace(work, files=tuple(files))], most_bytes)
    return replace(
        work,
        files=shown.files,
        added=sum(file.change.added or 0 for file in files),
        removed=sum(file.change.removed or 0 for file in files),
        unlisted=0,
    )


def _redacted(file: FileWork, redact: Callable[[str], str]) -> FileWork:
    return replace(file, patch=redact(file.patch)) if file.patch else file


async def _files(repository: Path, work: WorkChanges) -> list[FileWork]:
    changes = await changes_between(repository, work.base, work.commit)
    sizes = await sizes_of(repository, {id_ for _, ids in changes for id_ in ids})
    small = [
        change.path
        for change, ids in changes
        if change.added is not None and all(sizes.get(id_, 0) <= _LARGEST_FILE for id_ in ids)
    ][:_MOST_FILES]
    patches = await patches_of(repository, work.base, work.commit, small) if small else {}
    return [_with_patch(change, patches) for change, _ in changes]


def _with_patch(change: FileChange, patches: dict[str, str]) -> FileWork:
    path = change.path
    shown = readable(change)
    if path in patches:
        return FileWork(change=shown, patch=patches[path])
    return FileWork(change=shown, left_out="a binary file" if change.added is None else "a large file")


def _first(error: GitError) -> str:
    return str(error).partition("\n")[0]
