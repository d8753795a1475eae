"""A new copy of the user's work for a resumed run: the user's changes made meanwhile belong to it.

Between two processes of a run no Worker is active. So a path that changed in between was changed by the user,
and for the rest the earlier copy still holds.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from orchestrator.git.command import git_bytes
from orchestrator.git.users.backup import Backup, Kept
from orchestrator.git.users.files import by_line, hunks_between, users_line_numbers, whole_lines
from orchestrator.git.users.held import PathKind, blob_of, look_at
from state.errors import GitError

Choose = Callable[[tuple[Kept, ...]], tuple[Kept, ...]]


async def renewed_files(root: Path, old: Backup, *, left: str, now: str) -> Choose:
    """Return the function that chooses the files of the checkout itself for a new copy.

    It keeps the files of the earlier copy that stay unchanged, and copies the changed ones anew.

    Args:
        root: the checkout.
        old: the earlier copy.
        left: the tree at the end of the run's last process.
        now: the tree of the checkout now.
    """
    names = (await git_bytes(root, "diff", "--name-only", "--no-renames", "-z", left, now)).split(b"\0")
    changed = [name.decode(errors="surrogateescape") for name in names if name]
    before = {kept.path: kept for kept in old.repositories[0].files}
    still = {path: kept for path, kept in before.items() if path not in changed}
    bases = {path: await _base(root, old, before.get(path), left, path) for path in changed}

    def chosen(found: tuple[Kept, ...]) -> tuple[Kept, ...]:
        anew = []
        for kept in found:
            if facts := bases.get(kept.path):
                base, plain, whole = facts
                anew.append(replace(kept, base=base, plain=plain, whole=whole))
        return (*still.values(), *anew)

    return chosen


async def _base(root: Path, old: Backup, kept: Kept | None, left: str, path: str) -> tuple[str, bool, bool]:
    """Return `base`, `plain` and `whole` of a path, which separate the user's lines from the run's."""
    kind, _, content = look_at(root / path)
    try:
        blob = (await git_bytes(root, "rev-parse", "--verify", "--quiet", f"{left}:{path}")).decode().strip()
    except GitError:
        blob = ""
    if kept is None or content is None or kind is not PathKind.FILE:
        return blob, False, kind is not PathKind.FILE
    if kept.whole:
        return kept.base, kept.plain, True
    own = await users_line_numbers(root, old, path)
    if blob:
        was = await git_bytes(root, "cat-file", "--filters", f"--path={path}", blob)
        meanwhile = await hunks_between(root, whole_lines(was), whole_lines(content))
        own |= {number + 1 for hunk in meanwhile for number in range(*hunk.new)}
    lines = by_line(whole_lines(content))
    rest = b"".join(line for number, line in enumerate(lines, 1) if number not in own)
    return await blob_of(root, rest), True, False
