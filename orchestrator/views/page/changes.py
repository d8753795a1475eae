"""The changes of a commit that the journal names, file by file. No name from a request reaches git."""

import re
from pathlib import Path

from orchestrator.git.changes import sizes
from orchestrator.git.command import git_bytes
from orchestrator.git.pinned import recorded_git
from orchestrator.git.pinned_config import trusting
from orchestrator.views.models.history import RunFacts
from state.errors import GitError
from state.journal import events as e
from state.records.changes import FileChange

MOST_BYTES = 200_000  # of one file's changes
_MOST_FILES = 300
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_PLAIN = ("--no-color", "--no-ext-diff", "--no-textconv")
_LITERAL = {"GIT_LITERAL_PATHSPECS": "1"}


def named_commits(story: RunFacts) -> dict[str, str]:
    """Return the commits of a run that hold work, each with the commit that it is compared with."""
    found = {}
    for stored in story.history.notable:
        event = stored.event
        if isinstance(event, e.TaskCommitted):
            found[event.commit] = story.view.tasks[event.task_id].place.base_commit
        elif isinstance(event, e.MergeBuilt):
            found[event.commit] = event.onto
    return {
        commit: base for commit, base in found.items() if _HASH.fullmatch(commit) and _HASH.fullmatch(base)
    }


async def changed_files(folder: Path, base: str, commit: str) -> list[FileChange]:
    """Return the files that differ between two commits.

    Raises:
        GitError: the commits are gone, or the run has no record of its git folder.
    """
    with trusting(trusted := recorded_git(folder)):
        if trusted is None:
            raise GitError("the run has no record of its git folder")
        return (await sizes(trusted.root, base, commit))[:_MOST_FILES]


async def patch_of(folder: Path, base: str, commit: str, path: str) -> str:
    """Return the changes of one file. A long text is cut, and says so.

    Raises:
        GitError: as `changed_files`.
    """
    with trusting(trusted := recorded_git(folder)):
        if trusted is None:
            raise GitError("the run has no record of its git folder")
        printed = await git_bytes(
            trusted.root,
            *("diff", *_PLAIN, "--no-renames", base, commit, "--", path),
            environment=_LITERAL,
        )
    text = printed[:MOST_BYTES].decode(errors="replace")
    if len(printed) > MOST_BYTES:
        text += f"\n\\ {len(printed) - MOST_BYTES:,} more bytes: git diff {base[:12]} {commit[:12]}"
    return text
