"""Submodules in worktrees: the files of their commits, from objects that are here already.

They are plain files there, which git takes for an uninitialised submodule: no snapshot sees them, no reset
and no clean removes them. Nothing is fetched, and no settings of a submodule are read.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from orchestrator.git.command import git, git_bytes, told_by_objects
from orchestrator.git.pinned_config import pointer_of
from orchestrator.git.trees import text_at
from state.errors import GitError

_LINK = "160000"


@dataclass(frozen=True, slots=True, kw_only=True)
class Submodule:
    """One that the user's checkout shows. `objects` are folders, none if the commit is not among them."""

    path: str
    commit: str
    objects: tuple[Path, ...] = ()


async def links_of(repository: Path, tree: str, objects: Sequence[Path] = ()) -> dict[str, str]:
    """Return the gitlinks of a tree: the path and the commit of each. It may lie in other `objects`."""
    words = ("ls-tree", "-r", "-z", "--full-tree", tree)
    asked = git_bytes(repository, *words, environment=_with(objects)) if objects else None
    listed = await (asked or told_by_objects(repository, *words))
    entries = (entry.partition("\t") for entry in listed.decode(errors="replace").split("\0"))
    return {path: facts.split()[2] for facts, _, path in entries if facts.startswith(_LINK)}


async def new_repositories(repository: Path, base: str, tree: str) -> list[str]:
    """Return the gitlinks that a tree has beyond `base` and that its `.gitmodules` does not name."""
    known = await links_of(repository, base)
    new = [path for path in await links_of(repository, tree) if path not in known]
    modules = await text_at(repository, tree, ".gitmodules") if new else ""
    paths = {
        line.partition("=")[2].strip() for line in modules.splitlines() if line.strip().startswith("path")
    }
    return [path for path in new if path not in paths]


async def submodules_of(root: Path, tree: str) -> list[Submodule]:
    """Return the submodules of a tree that the checkout `root` shows and that a new worktree lacks."""
    links = await links_of(root, tree)
    return [
        found for path, commit in links.items() if (found := await _found(root, root / path, path, commit))
    ]


async def put_files(root: Path, one: Submodule, into: Path) -> None:
    """Write the files of a submodule's commit, and those of its submodules, into a new folder.

    Raises:
        GitError: git cannot.
    """
    into.mkdir(mode=0o700, parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="sq-") as temporary:
        environment = {**_with(one.objects), "GIT_INDEX_FILE": f"{temporary}/index"}
        await git(root, "read-tree", one.commit, environment=environment)
        await git(root, "checkout-index", "--all", "--force", f"--prefix={into}/", environment=environment)
    for path, commit in (await links_of(root, one.commit, one.objects)).items():
        inner = await _found(root, root / one.path / path, f"{one.path}/{path}", commit)
        if inner and inner.objects:
            await put_files(root, inner, into / path)


def _with(objects: Sequence[Path]) -> dict[str, str]:
    return {"GIT_ALTERNATE_OBJECT_DIRECTORIES": os.pathsep.join(map(str, objects))} if objects else {}


async def _found(root: Path, shown: Path, path: str, commit: str) -> Submodule | None:
    pointer = shown / ".git"
    if not os.path.lexists(pointer):
        return None
    objects: tuple[Path, ...] = ()
    try:
        objects = ((pointer if pointer.is_dir() else Path(pointer_of(pointer))) / "objects",)
        await git(root, "cat-file", "-e", f"{commit}^{{tree}}", environment=_with(objects))
    except GitError:
        objects = ()
    return Submodule(path=path, commit=commit, objects=objects)
