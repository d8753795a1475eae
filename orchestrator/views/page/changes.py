"""The changes of a commit that the journal names, file by file. No name from a request reaches git."""

import re
from dataclasses import dataclass
from pathlib import Path

from orchestrator.git.command import git, git_bytes
from orchestrator.git.trusted import trusting
from orchestrator.git.trusting.recording import recorded_git
from orchestrator.views.models.history import RunFacts
from state.errors import GitError
from state.journal import events as e

MOST_BYTES = 200_000  # of one file's changes
_MOST_FILES = 300
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_PLAIN = ("--no-color", "--no-ext-diff", "--no-textconv")
_LITERAL = {"GIT_LITERAL_PATHSPECS": "1"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """A file of a commit's changes. The counts are None for a binary file."""

    path: str
    added: int | None
    removed: int | None


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


async def changed_files(folder: Path, base: str, commit: str) -> list[ChangedFile]:
    """Return the files that differ between two commits.

    Raises:
        GitError: the commits are gone, or the run has no record of its git folder.
    """
    with trusting(trusted := recorded_git(folder)):
        if trusted is None:
            raise GitError("the run has no record of its git folder")
        printed = await git(
            trusted.root, "diff", *_PLAIN, "--no-renames", "--numstat", "-z", base, commit, "--"
        )
    rows = [row.split("\t", 2) for row in printed.split("\0") if row.count("\t") >= 2]  # noqa: PLR2004
    return [
        ChangedFile(path=path, added=_count(added), removed=_count(removed)) for added, removed, path in rows
    ][:_MOST_FILES]


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


def _count(text: str) -> int | None:
    return int(text) if text.isdigit() else None
