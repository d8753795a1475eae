"""The changes of a task as git shows them, between two commits or trees that the journal names."""

from dataclasses import dataclass
from pathlib import Path

from orchestrator.git.pinned.recording import recorded_git
from orchestrator.git.pinned_config import trusting
from orchestrator.views.models.diffs import changes_between, is_hash, shown_patch
from orchestrator.views.watch.text import ScreenLine, line
from state.errors import GitError
from state.journal.view import RunView
from state.records.changes import FileChange

_STYLES = {"+": "added", "-": "removed", "@": "hunk"}


@dataclass(frozen=True, slots=True)
class Compared:
    """Two objects of git to compare, and what the second one is."""

    before: str
    after: str
    words: str


def span_of(view: RunView, task_id: str) -> Compared | None:
    """Return the objects that hold a task's newest work, or that of the whole run. None before any work."""
    if not task_id:
        base = view.started.base_commit if view.started else ""
        merged = view.whole.commit
        return Compared(base, merged, "all merged work") if merged and merged != base else None
    task = view.tasks[task_id]
    if task.merged_commit:
        return Compared(task.merged_onto, task.merged_commit, "as it was merged")
    if task.claim.commit:
        return Compared(task.place.base_commit, task.claim.commit, "as it was committed")
    if len(task.open.trees) > 1:
        return Compared(
            task.place.base_commit, task.open.trees[-1], f"after iteration {len(task.open.trees) - 1}"
        )
    return None


async def changes(folder: Path, repository: Path, span: Compared | None) -> list[ScreenLine]:
    """Return the differences as lines, at most 200 kB. Objects that are gone are said to be.

    Args:
        folder: the run's folder, with its record of git's settings.
        repository: the run's repository.
        span: the objects. Names of files are never taken from the journal.
    """
    if span is None:
        return [line(("no work is stored yet", "dim"))]
    if not (is_hash(span.before) and is_hash(span.after)):
        return [line(("the journal names no objects of git here", "bad"))]
    command = f"git diff {span.before[:10]} {span.after[:10]}"
    head = line((span.words, "title"), (f"  {command}", "dim"), indent=4)
    try:
        with trusting(recorded_git(folder)):
            files = await changes_between(repository, span.before, span.after)
            text, left = await shown_patch(repository, span.before, span.after)
    except (GitError, OSError):
        gone = f"git has no such objects in {repository} any more, or does not answer"
        return [head, line((gone, "bad"), indent=2)]
    lines = [head, *(_size(change) for change, _ in files), *map(_styled, text.rstrip("\n").split("\n"))]
    if left:
        lines.append(line((f"… {left:,} more bytes: {command}", "warn"), indent=2))
    return lines if files else [head, line(("nothing differs", "dim"))]


def _size(change: FileChange) -> ScreenLine:
    size = "binary" if change.added is None else f"+{change.added} -{change.removed}"
    return line((f" {change.path}", ""), (f"  {size}", "dim"), indent=2)


def _styled(text: str) -> ScreenLine:
    if text.startswith(("diff --git", "+++ ", "--- ")):
        return line((text, "title"), indent=2)
    return line((text, _STYLES.get(text[:1], "")), indent=1)
