"""A copy of the user's uncommitted work, to the byte: files, index and HEAD of a checkout and its submodules.

Made through a private index and kept by one ref, so that git keeps every byte of it. Its tree holds the files
that differ from HEAD. Its second parent holds the index files and a list of everything, its third the staged
files. The checkout itself is only read, without following links or using git's filters.
"""

import hashlib
import json
import os
import stat
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory

from agents.process.sandbox.inside import unframed
from orchestrator.git.command import git, git_bytes, git_path, told_of
from state.errors import GitError
from state.safe_paths import read_inside

_ALL_BITS = 0o7777
_SHA1_DIGITS = 40


class PathKind(StrEnum):
    """The kind of thing at a path."""

    FILE = "file"
    LINK = "link"
    NOTHING = "nothing"
    OTHER = "other"  # a folder, a socket: things that git does not keep


@dataclass(frozen=True, slots=True, kw_only=True)
class PathContent:
    """The content of a path: `blob` names its bytes, or a link's target. `mode` are its permission bits."""

    kind: PathKind
    mode: int = 0
    blob: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a path holds now: the kind, its permission bits, and its bytes or the target of the link."""

    kind: PathKind
    mode: int
    content: bytes | None


async def kept_in_git(root: Path, seen: Seen) -> PathContent:
    """Return what a path holds, with its bytes in git's objects."""
    blob = await blob_of(root, seen.content) if seen.content is not None else ""
    return PathContent(kind=seen.kind, mode=seen.mode, blob=blob)


def is_as(seen: Seen, held: PathContent) -> bool:
    """Whether a path holds exactly this content now, apart from its permission bits."""
    kind, content = seen.kind, seen.content
    if kind is not held.kind or content is None:
        return kind is held.kind
    digest = hashlib.sha1 if len(held.blob) == _SHA1_DIGITS else hashlib.sha256
    return digest(b"blob %d\0" % len(content) + content).hexdigest() == held.blob


def is_empty(held: PathContent) -> bool:
    """Whether it is an empty file."""
    digest = hashlib.sha1 if len(held.blob) == _SHA1_DIGITS else hashlib.sha256
    return held.kind is PathKind.FILE and held.blob == digest(b"blob 0\0").hexdigest()


async def look_at(root: Path, paths: Iterable[str]) -> dict[str, Seen]:
    """Return what these paths of a checkout hold. No link is followed, also none on the way.

    Raises:
        GitError: one cannot be read.
    """
    asked = [*paths]
    if not asked:
        return {}
    try:
        answer = await told_of(root, "held", given=json.dumps(asked).encode())
    except OSError as error:
        raise GitError(f"files of {root} cannot be read, so that no copy can be kept: {error}") from error
    return dict(zip(asked, (_seen(mode, content) for _, mode, content in unframed(answer)), strict=True))


def _seen(mode: int, content: bytes) -> Seen:
    if stat.S_ISLNK(mode):
        return Seen(PathKind.LINK, 0, content)
    if stat.S_ISREG(mode):
        return Seen(PathKind.FILE, mode & _ALL_BITS, content)
    return Seen(PathKind.OTHER if mode else PathKind.NOTHING, 0, None)


def is_inside(path: Path, folders: Sequence[Path]) -> bool:
    """Whether a path is in one of the folders. A link is where it is, and also where it leads."""
    here = Path(os.path.realpath(path.parent)) / path.name
    return any(
        one.is_relative_to(folder) for one in (here, Path(os.path.realpath(path))) for folder in folders
    )


async def blob_of(root: Path, content: bytes) -> str:
    """Return the blob of these bytes as they are, written into git's objects."""
    return (await git_bytes(root, "hash-object", "-w", "--stdin", stdin=content)).decode().strip()


async def tree_of_files(root: Path, files: Mapping[str, PathContent]) -> str:
    """Return a tree of exactly these files, made through a temporary index."""
    lines = b"".join(
        b"%s %s\t%s\0" % (_git_mode(held), held.blob.encode(), os.fsencode(path))
        for path, held in files.items()
        if held.blob
    )
    with TemporaryDirectory(prefix="sq-") as temporary:
        environment = {"GIT_INDEX_FILE": str(Path(temporary) / "index")}
        await git_bytes(root, "update-index", "-z", "--index-info", stdin=lines, environment=environment)
        return await git(root, "write-tree", environment=environment)


def _git_mode(held: PathContent) -> bytes:
    if held.kind is PathKind.LINK:
        return b"120000"
    return b"100755" if held.mode & stat.S_IXUSR else b"100644"


BACKUP = "users.work"  # part of the ref's name, which the dot distinguishes from every task's id
BESIDE = "users.beside"  # likewise: the run's version of files that were put back
LIST = "list.json"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A path with uncommitted work, as it was. `path` is relative to the checkout.

    `base` is HEAD's blob there, or "". `plain`: that blob is used unchanged, else as git would write it into
    the checkout. `whole`: any change of the path counts.
    """

    path: str
    held: PathContent
    base: str = ""
    plain: bool = False
    whole: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRepository:
    """A repository as it was. `path` is within the checkout, and "" for the checkout itself.

    `branch` is the ref that HEAD names ("" if it is detached), `head` the commit ("" if there is none),
    `index` the blob of the index file ("" if there is none).
    """

    path: str
    branch: str
    head: str
    index: str
    files: tuple[Kept, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """The copy that `commit` holds."""

    commit: str
    repositories: tuple[KeptRepository, ...]

    @property
    def files(self) -> dict[str, Kept]:
        """Return every file that was copied, by its path in the checkout."""
        return {kept.path: kept for repository in self.repositories for kept in repository.files}


async def take_backup(
    root: Path,
    *,
    ref: str,
    parent: str,
    leave_out: Sequence[Path],
    instead: Callable[[tuple[Kept, ...]], tuple[Kept, ...]] | None = None,
) -> Backup:
    """Copy all uncommitted work of a checkout and keep the copy under `ref`.

    Args:
        root: the checkout.
        ref: the ref that keeps it. An existing one is moved.
        parent: the parent commit of the copy.
        leave_out: paths that are not the user's work, such as sq's own state.
        instead: chooses those of the checkout's own uncommitted files that are copied. Without it all are.

    Raises:
        GitError: something cannot be read or kept.
    """
    real = [Path(os.path.realpath(path)) for path in leave_out]
    repositories = [one async for one in _repositories(root, "", real)]
    if instead:
        repositories[0] = replace(repositories[0], files=instead(repositories[0].files))
    files = [kept for one in repositories for kept in one.files]
    parents = [parent, await _notes(root, parent, repositories), *await staged_commit(root, parent)]
    tree = await tree_of_files(root, {kept.path: kept.held for kept in files})
    on = [part for one in parents for part in ("-p", one)]
    message = "The user's uncommitted work at the start of the run\n"
    commit = await git(root, "commit-tree", *on, "-F", "-", tree, stdin=message)
    await git(root, "update-ref", ref, commit)
    return Backup(commit=commit, repositories=tuple(repositories))


async def read_backup(root: Path, commit: str) -> Backup:
    """Return the copy that a commit holds.

    Raises:
        GitError: it holds none.
    """
    listed = json.loads(await git_bytes(root, "cat-file", "blob", f"{commit}^2:{LIST}"))
    repositories = [
        KeptRepository(**{**one, "files": tuple(_kept(kept) for kept in one["files"])}) for one in listed
    ]
    return Backup(commit=commit, repositories=tuple(repositories))


async def staged_commit(root: Path, parent: str) -> list[str]:
    """Return a commit of the staged content, or none if a conflict is not resolved."""
    index = await git_path(root, "index")
    if not index.exists():
        return []
    with TemporaryDirectory(prefix="sq-") as temporary:
        private = Path(temporary) / "index"
        private.write_bytes(index_in(index))
        try:
            tree = await git(root, "write-tree", environment={"GIT_INDEX_FILE": str(private)})
        except GitError:
            return []
    return [await git(root, "commit-tree", "-p", parent, "-m", "The staged content", tree)]


def index_in(index: Path) -> bytes:
    """Return the bytes of an index file.

    Raises:
        GitError: it cannot be read, or is a link that leads out of the git folder.
    """
    try:
        return read_inside(index.parent, index.name)
    except OSError as error:
        raise GitError(f"the index {index} cannot be read: {error}") from error


async def head_of_repository(folder: Path) -> tuple[str, str]:
    """Return the ref that HEAD names and its commit, each "" if there is none."""
    try:
        branch = await git(folder, "symbolic-ref", "--quiet", "HEAD")
    except GitError:
        branch = ""
    try:
        return branch, await git(folder, "rev-parse", "--verify", "--quiet", "HEAD")
    except GitError:
        return branch, ""


async def _repositories(root: Path, path: str, leave_out: list[Path]) -> AsyncIterator[KeptRepository]:
    """Yield a repository and those inside it, each in its current state."""
    folder = root / path
    dirt = await dirt_of(folder)
    kept = {
        os.path.join(path, one.path): one  # noqa: PTH118  a Path would drop a difference that git knows
        for one in dirt
        if not one.repository and not is_inside(folder / one.path, leave_out)
    }
    files = [await _keep(root, name, kept[name], seen) for name, seen in (await look_at(root, kept)).items()]
    index = await git_path(folder, "index")
    branch, head = await head_of_repository(folder)
    yield KeptRepository(
        path=path,
        branch=branch,
        head=head,
        index=await blob_of(root, index_in(index)) if index.exists() else "",
        files=tuple(files),
    )
    for inner in await repositories_in(folder, dirt):
        if not is_inside(folder / inner, leave_out):
            async for one in _repositories(root, os.path.join(path, inner), leave_out):  # noqa: PTH118
                yield one


async def _keep(root: Path, name: str, dirt: Dirt, seen: Seen) -> Kept:
    held = await kept_in_git(root, seen)
    whole = (
        dirt.whole or held.kind is not PathKind.FILE or is_empty(held)
    )  # an empty file has no lines to compare
    return Kept(path=name, held=held, base=dirt.blob, whole=whole)


async def _notes(root: Path, parent: str, repositories: Sequence[KeptRepository]) -> str:
    """Make a commit with the list of everything and each index file, so that git keeps them."""
    listed = json.dumps([asdict(one) for one in repositories]).encode()
    entries = {LIST: await blob_of(root, listed)}
    entries |= {f"index-{number}": one.index for number, one in enumerate(repositories) if one.index}
    lines = "".join(f"100644 blob {blob}\t{name}\0" for name, blob in entries.items())
    tree = await git(root, "mktree", "-z", stdin=lines)
    return await git(root, "commit-tree", "-p", parent, "-m", "Index files, and a list of all files", tree)


def _kept(listed: dict[str, object]) -> Kept:
    held = listed["held"]
    assert isinstance(held, dict)  # noqa: S101  as `asdict` made it
    return Kept(**{**listed, "held": PathContent(**{**held, "kind": PathKind(held["kind"])})})  # type: ignore[arg-type]


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
