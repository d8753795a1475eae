"""Puts the user's uncommitted work back as it was copied: files, index and HEAD.

Lines that a run has written around the user's lines stay. Replaced content is kept by a ref.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator.git.rescue_refs import keep, make_commit
from orchestrator.git.users.backup import Backup, staged_commit
from orchestrator.git.users.files import Change, changes_since, put_back
from orchestrator.git.users.held import PathKind, held_at, tree_of_files
from orchestrator.git.users.staging import head_moved, index_changed, put_head_back, put_index_back


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
    held = {path: await held_at(root, path) for path in paths}
    tree = await tree_of_files(
        root, {path: one for path, one in held.items() if one.kind is not PathKind.OTHER}
    )
    parents = [backup.commit, *([head] if head else []), *await staged_commit(root, backup.commit)]
    return await make_commit(
        root, tree=tree, parents=parents, message="The content that the user's work replaced\n"
    )
