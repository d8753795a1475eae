"""The output of `git status` as records: which paths are the user's uncommitted work."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from orchestrator.git.command import git_bytes

_NO_BLOB = "0"
# Without `dirty` git runs in each submodule, by settings that an agent may have written.
_OPTIONS = ("--porcelain=v2", "-z", "--untracked-files=all", "--ignore-submodules=dirty", "--renames")
_CHANGED, _RENAMED, _UNMERGED, _UNTRACKED = "1", "2", "u", "?"
_FIELDS = {_CHANGED: 8, _RENAMED: 9, _UNMERGED: 10, _UNTRACKED: 1}  # before the path
_SKIPPED = "S"  # the mark of `git ls-files -v` for a file that git ignores in the checkout


@dataclass(frozen=True, slots=True, kw_only=True)
class Dirt:
    """A path that differs from HEAD. `blob` is HEAD's blob there, or "".

    `whole`: any change of it counts, not single lines (renamed, in conflict). `repository`: it is a
    repository of its own.
    """

    path: str
    blob: str
    whole: bool = False
    repository: bool = False


async def dirt_of(folder: Path) -> list[Dirt]:
    """Return the paths of a checkout with uncommitted work, without ignored ones.

    Names keep bytes that are not UTF-8.

    Raises:
        GitError: git cannot list them.
    """
    listed = (await git_bytes(folder, "status", *_OPTIONS)).decode(errors="surrogateescape")
    found = {one.path: one for one in _parsed(listed)}
    for one in await _unwatched(folder):
        found.setdefault(one.path, one)
    return [found[path] for path in sorted(found)]


async def repositories_in(folder: Path, dirt: list[Dirt]) -> list[str]:
    """Return the repositories inside a checkout: existing submodules, and untracked ones."""
    listed = (await git_bytes(folder, "ls-files", "--stage", "-z")).decode(errors="surrogateescape")
    entries = [entry.partition("\t") for entry in listed.split("\0") if entry.startswith("160000 ")]
    paths = {path for _, _, path in entries} | {one.path for one in dirt if one.repository}
    return sorted(path for path in paths if (folder / path / ".git").exists())


def _parsed(listed: str) -> Iterator[Dirt]:
    entries = iter(listed.split("\0"))
    for entry in entries:
        kind = entry[:1]
        if kind not in _FIELDS:
            continue
        *fields, path = entry.split(" ", _FIELDS[kind])
        if kind == _UNTRACKED:
            yield Dirt(path=path.rstrip("/"), blob="", repository=path.endswith("/"))
            continue
        head = fields[6] if fields[6].strip(_NO_BLOB) else ""
        if kind == _RENAMED:
            yield Dirt(path=next(entries), blob=head, whole=True)
            yield Dirt(path=path, blob=head, whole=True)
        else:
            submodule = fields[2].startswith("S")
            yield Dirt(path=path, blob=head, whole=kind == _UNMERGED, repository=submodule)


async def _unwatched(folder: Path) -> list[Dirt]:
    """Return existing files that git is configured to skip, so that edits in them show nowhere."""
    listed = (await git_bytes(folder, "ls-files", "-v", "--stage", "-z")).decode(errors="surrogateescape")
    found = []
    for entry in listed.split("\0"):
        facts, _, path = entry.partition("\t")
        tag, *rest = facts.split(" ")
        if path and (tag == _SKIPPED or tag.islower()) and (folder / path).is_file():
            found.append(Dirt(path=path, blob=rest[1]))
    return found
