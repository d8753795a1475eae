"""Refs of sq's own, and trees that the user does not see: an index beside the user's, and work that is kept.

Nothing is staged and no branch moves. The commits of a checkout are kept by refs under `refs/sq/`. Work is
kept before it is removed: as a commit on no branch, under a ref that replaces no other.
"""

import re
import shutil
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path

from orchestrator.git.command import commit_style, git, git_path, git_succeeds
from orchestrator.git.trees import changed_paths
from orchestrator.git.workspace import add_into, head_of, snapshot, tree_of
from state.errors import GitError
from state.safe_paths import remove_inside


def shadow_ref(run_id: str, name: str) -> str:
    """Return a ref of a run. `name` is a task's id, or names other kept content."""
    return f"refs/sq/{run_id}/{name}"


async def ref_commit(root: Path, ref: str) -> str | None:
    """Return the commit that a ref names, or None if there is no such ref."""
    if not await git_succeeds(root, "show-ref", "--verify", "--quiet", ref):
        return None
    return await git(root, "rev-parse", "--verify", ref)


async def shadow_snapshot(root: Path, index: Path, *, lenient: bool = False) -> str:
    """Return the tree hash of a whole checkout, through the index file `index`. The user's is only read.

    `lenient`: leave out content that git cannot take in, such as a repository without commits.
    """
    # Its cache saves reading every file, with its time, by which git knows which ones to read again.
    if not index.exists() and (own := await git_path(root, "index")).exists():
        shutil.copy2(own, index)
    environment = {"GIT_INDEX_FILE": str(index)}
    await add_into(root, environment, lenient=lenient)
    return await git(root, "write-tree", environment=environment)


async def shadow_commit(root: Path, *, ref: str, parent: str, tree: str, message: str) -> str:
    """Make a commit of this tree on `parent`, kept by `ref`, or `parent` itself if it has that tree."""
    if await tree_of(root, parent) == tree:
        commit = parent
    else:
        commit = await git(root, "commit-tree", "-p", parent, "-F", "-", tree, stdin=message)
    await git(root, "update-ref", ref, commit)
    return commit


async def put_back(root: Path, index: Path, *, changed: str, base: str, now: str) -> list[str]:
    """Undo in the checkout the changes from `base` to `changed` (trees), in files unchanged in `now`.

    `index` is that of `shadow_snapshot`, in which git notes the files that it wrote.
    Returns the paths that were put back. Files edited since stay as they are.
    """
    untouched = set(await changed_paths(root, base, changed)) - set(await changed_paths(root, changed, now))
    for path in sorted(untouched):
        if await git_succeeds(root, "cat-file", "-e", f"{base}:{path}"):
            where = ("restore", f"--source={base}", "--worktree", "--", f":(literal){path}")
            await git(root, *where, environment={"GIT_INDEX_FILE": str(index)})
        else:
            with suppress(NotADirectoryError):  # a link on the way, which is not followed
                remove_inside(root, path)
    return sorted(untouched)


_OF_TASK = re.compile(r"(.+)-(?:attempt\d+|conflict)(?:-\d+)?")  # ends of the refs that keep a task's work


async def lost_work(folder: Path, *, branch: str, start: str, kept: Collection[str], message: str) -> str:
    """Return a commit of the work in a worktree and its branch that is neither in `start` nor in `kept`.

    Returns "" if there is none. It may be an existing commit, else it is on no branch. A repeated call
    returns the same commit.
    """
    head = await head_of(folder)
    tips = dict.fromkeys(tip for tip in (head, await _commit_at(folder, f"refs/heads/{branch}")) if tip)
    lost = [tip for tip in tips if not await is_in(folder, tip, (start, *kept))]
    tree = await snapshot(folder)
    new = tree not in {await tree_of(folder, commit) for commit in (head, start)}
    if len(lost) > 1 or (new and not await _is_pieced_together(folder, tree, start, kept)):
        return await make_commit(folder, tree=tree, parents=lost or [head], message=message)
    return lost[0] if lost else ""


async def is_in(repository: Path, commit: str, others: Collection[str]) -> bool:
    """Whether one of the other commits contains a commit."""
    for other in others:
        if await git_succeeds(repository, "merge-base", "--is-ancestor", commit, other):
            return True
    return False


async def _is_pieced_together(repository: Path, tree: str, start: str, kept: Collection[str]) -> bool:
    """Whether each file is as in `start` or as in one of the commits: a move to `start` was cut off."""
    own = set(await changed_paths(repository, start, tree))
    for commit in kept:
        if own.isdisjoint(await changed_paths(repository, commit, tree)):
            return True
    return False


async def _commit_at(repository: Path, ref: str) -> str:
    try:
        return await git(repository, "rev-parse", "--verify", "--quiet", ref)
    except GitError:
        return ""


async def make_commit(
    repository: Path, *, tree: str, parents: Sequence[str], message: str, styled: bool = False
) -> str:
    """Make a commit on no branch, with the date of its last parent, so that a repeated call repeats it.

    `styled`: it is the run's work, and signed if the run signs.
    """
    told = await git(repository, "rev-list", "--max-count=1", "--format=@%ct +0000", parents[-1])
    date = told.partition("\n")[2]
    on = [part for parent in parents for part in ("-p", parent)]
    environment = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    words = ("commit-tree", *(commit_style.get().options if styled else ()), *on, "-F", "-", tree)
    return await git(repository, *words, stdin=message, environment=environment)


async def keep(repository: Path, ref: str, commit: str) -> str:
    """Keep a commit under `ref`, or under the first `ref-N` that is free, and return that ref.

    No other commit loses its ref, and this one does not get a second.
    """
    kept = await numbered_refs(repository, ref)
    for name, held in kept.items():
        if held == commit:
            return name
    number, name = 1, ref
    while name in kept:
        number += 1
        name = f"{ref}-{number}"
    await git(repository, "update-ref", name, commit, "")
    return name


async def numbered_refs(repository: Path, ref: str) -> dict[str, str]:
    """Return the commits that `ref` and each `ref-N` keep, by ref, in the order in which they were made."""
    numbered = re.compile(rf"{re.escape(ref)}(?:-(\d+))?")
    found = [
        (int(match[1] or 1), name, commit)
        for name, commit in await refs_at(repository, f"{ref}*")
        if (match := numbered.fullmatch(name))
    ]
    return {name: commit for _, name, commit in sorted(found)}


async def refs_at(repository: Path, *patterns: str) -> list[tuple[str, str]]:
    """Return the refs that fit the patterns of `git for-each-ref`, each with its commit."""
    listed = await git(repository, "for-each-ref", "--format=%(refname) %(objectname)", *patterns)
    return [(ref, commit) for ref, commit in (line.rsplit(" ", 1) for line in listed.splitlines())]


async def forget_kept(repository: Path, below: str, task_ids: Collection[str]) -> None:
    """Delete the refs that keep unfinished work of these tasks: their work was done anew and is merged."""
    for ref, commit in await refs_at(repository, below):
        kept = _OF_TASK.fullmatch(ref.removeprefix(below))
        if kept and kept[1] in task_ids:
            await git(repository, "update-ref", "-d", ref, commit)
