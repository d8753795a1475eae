"""The differences between two commits or trees, as git shows them, and whether a folder holds work.

Nothing is written. The same objects give the same bytes: the commands used read none of the user's settings
for diffs. No name from a request or from the journal reaches git but hashes and paths that git has named.
"""

import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from orchestrator.git.command import compared, git_bytes, git_environment, ignoring_junk
from state.errors import GitError
from state.records.work import ChangeKind, FileChange

MOST_BYTES = 200_000  # of what one reader is shown at a time
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_KINDS = {"A": ChangeKind.ADDED, "D": ChangeKind.REMOVED}
_SECTION = re.compile(rb"^(?=diff --git )", re.MULTILINE)
_PLAIN = ("--no-renames", "--full-index")
_FORM = ("-U3", "--diff-algorithm=myers", "--src-prefix=a/", "--dst-prefix=b/")
_SETTINGS = ("core.quotePath=true", "diff.suppressBlankEmpty=false")
_NO_NETWORK = {"GIT_NO_LAZY_FETCH": "1"}
_RAW = 5  # fields of a raw line: both modes, both objects, the kind
_DEADLINE_S = 10.0
_UNCHANGED = " "  # the letter of `git status` for a file that is as in the index
Changes = list[tuple[FileChange, tuple[str, str]]]  # each with the objects of both versions


def is_hash(text: str) -> bool:
    """Whether a text is the whole name of an object of git."""
    return bool(_HASH.fullmatch(text))


async def changes_between(repository: Path, base: str, commit: str) -> Changes:
    """Return the files that differ, by path. A renamed file is two of them.

    Raises:
        GitError: an object is missing, or git does not answer.
    """
    form = ("-r", "-z", "--raw", "--numstat", *_PLAIN)
    told = await compared(repository, "diff-tree", *form, of=(base, commit))
    return _changes(told.decode(errors="surrogateescape").split("\0"))


async def sizes(folder: Path, base: str, commit: str) -> list[FileChange]:
    """Return the files that differ, by path. A renamed file is two of them.

    Raises:
        GitError: as `changes_between`.
    """
    changes = [readable(change) for change, _ in await changes_between(folder, base, commit)]
    return sorted(changes, key=lambda one: one.path)


def readable(change: FileChange) -> FileChange:
    """Return a change with a path that can be stored and shown: bytes that are not UTF-8 are replaced."""
    return replace(change, path=change.path.encode(errors="surrogateescape").decode(errors="replace"))


async def patches_of(repository: Path, base: str, commit: str, paths: list[str]) -> dict[str, str]:
    """Return the patch of each path, or nothing if git shows another number of them.

    Raises:
        GitError: as `changes_between`.
    """
    told = await _patch(repository, base, commit, paths)
    sections: dict[bytes, bytes] = {}
    for section in _SECTION.split(told):
        if section.startswith(b"diff --git "):
            head = section.partition(b"\n")[0]
            sections[head] = sections.get(head, b"") + section
    if len(sections) != len(paths):
        return {}
    texts = [section.decode(errors="replace") for section in sections.values()]
    return dict(zip(paths, texts, strict=True))


async def shown_patch(repository: Path, base: str, commit: str, paths: Sequence[str] = ()) -> tuple[str, int]:
    """Return the beginning of the patch of these paths, or of all, and the number of bytes left out.

    Raises:
        GitError: as `changes_between`.
    """
    told = await _patch(repository, base, commit, paths)
    return told[:MOST_BYTES].decode(errors="replace"), max(0, len(told) - MOST_BYTES)


async def sizes_of(repository: Path, objects: Iterable[str]) -> dict[str, int]:
    """Return the size of each object that the repository has.

    Raises:
        GitError: git does not answer.
    """
    asked = "".join(f"{one}\n" for one in sorted(set(objects)) if one.strip("0"))
    if not asked:
        return {}
    told = await git_bytes(
        repository, "cat-file", "--batch-check", stdin=asked.encode(), environment=_NO_NETWORK
    )
    rows = [line.split() for line in told.decode().splitlines()]
    return {row[0]: int(row[2]) for row in rows if len(row) == 3 and row[2].isdigit()}  # noqa: PLR2004


def holds_work(folder: Path, base: str) -> bool:
    """Whether a folder differs from the commit `base`, committed or not, without ignored files.

    Synchronous. Works on a copy of the folder's index, so nothing is changed. True if git cannot say.
    """
    if not folder.exists():
        return False
    try:
        with TemporaryDirectory(prefix="sq-") as temporary:
            return bool(_differences(folder, base, Path(temporary) / "index"))
    except (OSError, subprocess.SubprocessError, GitError):
        return True


def _differences(folder: Path, base: str, index: Path) -> list[str]:
    own = folder / _git_here(folder, "rev-parse", "--git-path", "index").strip()
    if own.exists():  # with its time, by which git knows which files it has to read
        shutil.copy2(own, index)
    _git_here(folder, "read-tree", "--reset", base, index=index)
    listed = _git_here(
        folder, "status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=dirty", index=index
    )
    return [entry for entry in listed.split("\0") if entry[1:2] not in {"", _UNCHANGED}]


def _git_here(folder: Path, *arguments: str, index: Path | None = None) -> str:
    with ignoring_junk() as ignoring:
        settings = ["core.hooksPath=/dev/null", "core.fsmonitor=false", "submodule.recurse=false", *ignoring]
        options = [part for setting in settings for part in ("-c", setting)]
        done = subprocess.run(
            ["git", "-C", str(folder), *options, *arguments],
            env=git_environment({"GIT_INDEX_FILE": str(index)} if index else None, folder=folder),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_DEADLINE_S,
            check=True,
        )
    return done.stdout.decode(errors="replace")


async def _patch(repository: Path, base: str, commit: str, paths: Sequence[str]) -> bytes:
    form = ("-r", "-p", *_PLAIN, *_FORM)
    return await compared(repository, "diff-tree", *form, of=(base, commit), paths=paths, settings=_SETTINGS)


def _changes(fields: Sequence[str]) -> Changes:
    """Return the changes of git's raw lines and counts."""
    raw: dict[str, tuple[str, tuple[str, str]]] = {}
    counts: dict[str, tuple[int | None, int | None]] = {}
    rest = iter(fields)
    for one in rest:
        if one.startswith(":"):
            parts = one.split(" ")
            if len(parts) == _RAW:
                raw[next(rest, "")] = (parts[4][:1], (parts[2], parts[3]))
        elif one:
            added, removed, path = one.split("\t", 2)
            counts[path] = (_count(added), _count(removed))
    return [
        (
            FileChange(
                path=path,
                added=counts.get(path, (0, 0))[0],
                removed=counts.get(path, (0, 0))[1],
                kind=_KINDS.get(kind, ChangeKind.MODIFIED),
            ),
            ids,
        )
        for path, (kind, ids) in raw.items()
    ]


def _count(text: str) -> int | None:
    return int(text) if text.isdigit() else None
