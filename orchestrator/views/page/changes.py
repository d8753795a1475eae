"""The changes of a commit that the journal names, file by file. No name from a request reaches git."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from orchestrator.git.pinned import recorded_git
from orchestrator.git.pinned_config import trusting
from orchestrator.views.models.diffs import changes_between, is_hash, shown_patch
from orchestrator.views.models.history import RunFacts
from state.errors import GitError
from state.journal import events as e
from state.records.work import FileChange

_MOST_FILES = 300


def named_commits(story: RunFacts) -> dict[str, str]:
    """Return the commits of a run that hold work, each with the commit that it is compared with."""
    found = {}
    for stored in story.history.notable:
        event = stored.event
        if isinstance(event, e.TaskCommitted):
            found[event.commit] = story.view.tasks[event.task_id].place.base_commit
        elif isinstance(event, e.MergeBuilt):
            found[event.commit] = event.onto
    return {commit: base for commit, base in found.items() if is_hash(commit) and is_hash(base)}


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
