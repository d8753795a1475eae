"""Refs of sq's own, and commits on no branch that they keep.

Nothing is staged and no branch moves. The commits of a checkout are kept by refs under `refs/sq/`. Work is
kept before it is removed, under a ref that replaces no other.
"""

import re
from collections.abc import Collection, Sequence
from pathlib import Path

from orchestrator.git.command import commit_style, git, git_succeeds


def shadow_ref(run_id: str, name: str) -> str:
    """Return a ref of a run. `name` is a task's id, or names other kept content."""
    return f"refs/sq/{run_id}/{name}"


async def ref_commit(root: Path, ref: str) -> str | None:
    """Return the commit that a ref names, or None if there is no such ref."""
    if not await git_succeeds(root, "show-ref", "--verify", "--quiet", ref):
        return None
    return await git(root, "rev-parse", "--verify", ref)


_OF_TASK = re.compile(r"(.+)-(?:attempt\d+|conflict)(?:-\d+)?")  # ends of the refs that keep a task's work


async def is_in(repository: Path, commit: str, others: Collection[str]) -> bool:
    """Whether one of the other commits contains a commit."""
    for other in others:
        if await git_succeeds(repository, "merge-base", "--is-ancestor", commit, other):
            return True
    return False


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
