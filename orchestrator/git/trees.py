"""Trees of a repository: their content, trees made of others, how two differ, and if a folder holds work.

Nothing that an agent or a user can write decides what a diff shows (see `compared`). The same objects give
the same bytes. No name from a request or the journal reaches git but hashes and paths that git has named.
"""

import re
import shutil
import subprocess
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory

from agents.concurrency import UnreadError
from orchestrator.git.command import compared, git, git_bytes, git_environment, ignoring_junk, told_by_objects
from state.errors import GitError
from state.records.work import ChangeKind, FileChange

_STAT = ("--stat-width=500", "--stat-name-width=400", "--stat-graph-width=20")
_SECTION = re.compile(r"^(?=diff --)", re.MULTILINE)
_HEADER = re.compile(r"diff --(?:git|cc|combined) (.*)")
_LINK = "120000"
_REPOSITORY = "160000"  # the mode of a repository in a tree, which is no file
_FILE = "100644"
_MOST_LINKS = 40
_MOST_NAMES = 2_000  # of a path, through links
_LINKS_DEEP = 5  # links in folders that a link leads to


async def changed_paths(folder: Path, base: str, tree: str) -> list[str]:
    """Return the paths that differ between two trees or commits."""
    names = await compared(folder, "diff", "--name-only", "--no-renames", "-z", of=(base, tree))
    return [name for name in names.decode(errors="replace").split("\0") if name]


async def diff_text(
    folder: Path, base: str, commit: str, *, limit: int, paths: Sequence[str] | None = None
) -> str:
    """Return the change for a reviewer: the files, then their diffs, of about `limit` characters at most.

    Files that do not fit, and binary ones, are named with their bytes. Of very many the rest is counted.
    `paths`: only of these.
    """
    if paths is not None and not paths:
        return "Nothing has changed."
    stat = await compared(folder, "diff", "--stat", *_STAT, of=(base, commit), paths=paths or ())
    diff = await compared(folder, "diff", "--patch", of=(base, commit), paths=paths or ())
    *files, together = _text(stat).split("\n")
    listed = "\n".join([*_first(files, limit), together])
    return f"```\n{listed}\n```\n\n```diff\n{_cut(_text(diff), limit)}\n```"


def shown_once(diff: str, before: str) -> str:
    """Return a change (`diff_text`) without the files whose diffs stand in `before`, which are named."""
    head, *sections = _SECTION.split(diff.removesuffix("\n```"))
    if not sections:
        return diff
    kept = [
        f"[… {_named(one)}: its diff stands above]\n" if one.strip() in before else one for one in sections
    ]
    return "".join([head, *kept]).rstrip("\n") + "\n```"


async def resolution_text(folder: Path, commit: str, *, limit: int) -> str:
    """Return the parts of a merge commit from neither side, as a combined diff as in `diff_text`."""
    diff = _text(await compared(folder, "show", "--format=", "--cc", of=(commit,)))
    if not diff.strip():
        return "The resolution takes each place from one of the two sides."
    return f"```diff\n{_cut(diff, limit).strip()}\n```"


def _text(output: bytes) -> str:
    return output.decode(errors="replace").rstrip("\n")


def _cut(diff: str, limit: int) -> str:
    """Return a diff with as many files as fit, short ones first, and the others by name and size."""
    if len(diff) <= limit:
        return diff
    sections = [one for one in _SECTION.split(diff) if one]
    left, shown = limit, set[int]()
    for number in sorted(range(len(sections)), key=lambda one: len(sections[one])):
        if len(sections[number]) <= left:
            shown.add(number)
            left -= len(sections[number])
    told = [section for number, section in enumerate(sections) if number in shown]
    others = [section for number, section in enumerate(sections) if number not in shown]
    named = [
        f"[… {_named(one)}: its diff of {len(one.encode())} bytes is left out: read the file itself]"
        for one in others
    ]
    return "\n".join(["".join([*told, others[0][:left]]).rstrip("\n"), *_first(named, limit)])


def _first(lines: Sequence[str], limit: int) -> list[str]:
    """Return the first lines, of about `limit` characters, and how many there are more."""
    number = sum(length <= limit for length in accumulate(len(line) + 1 for line in lines))
    more = len(lines) - number
    return [*lines[:number], *([f"[… {more} more files are not named here: look for them]"] if more else [])]


def _named(section: str) -> str:
    found = _HEADER.match(section)
    return found[1] if found else section.partition("\n")[0]


async def pieced_together(repository: Path, tree: str, *, of: str, paths: Collection[str]) -> str:
    """Return the tree `tree` with these paths as in the tree `of`, or missing if they are missing there."""
    entries = await entries_in(repository, of, paths)
    gone = f"0 {'0' * (len(of) if _HASH.fullmatch(of) else _SHORT)}"
    lines = [f"{entries.get(path, gone)}\t{path}" for path in paths]
    return await _changed(repository, tree, lines)


async def with_files(repository: Path, tree: str, files: Mapping[str, str]) -> str:
    """Return the tree `tree` with these files added, given as path and text."""
    lines = []
    for path, text in files.items():
        blob = await git(repository, "hash-object", "-w", "--stdin", stdin=text)
        lines.append(f"{_FILE} {blob}\t{path}")
    return await _changed(repository, tree, lines)


async def with_contents(repository: Path, tree: str, files: Mapping[str, bytes]) -> str:
    """Return the tree `tree` with the content of these files of it replaced. Each keeps its mode."""
    entries = await entries_in(repository, tree, files)
    lines = []
    for path, content in files.items():
        blob = (await git_bytes(repository, "hash-object", "-w", "--stdin", stdin=content)).decode().strip()
        lines.append(f"{entries.get(path, _FILE).split(' ')[0]} {blob}\t{path}")
    return await _changed(repository, tree, lines)


async def contents_at(
    repository: Path, tree: str, paths: Collection[str], *, largest: int = 1_000_000
) -> dict[str, bytes]:
    """Return the content of each of these files that a tree has, of at most `largest` bytes."""
    listed = await told_by_objects(repository, "ls-tree", "-r", "-z", "-l", "--full-tree", tree)
    objects = {}
    wanted = set(paths)
    for entry in listed.split(b"\0"):
        facts, _, name = entry.partition(b"\t")
        path = name.decode("utf-8", "surrogateescape")
        if path in wanted and facts.split()[1] == b"blob" and int(facts.split()[3]) <= largest:
            objects[path] = facts.split()[2]
    asked = b"".join(name + b"\n" for name in objects.values())
    told = await git_bytes(repository, "cat-file", "--batch", stdin=asked) if objects else b""
    found, at = {}, 0
    for path in objects:  # each answer is `NAME blob SIZE`, the bytes, and the end of a line
        begins = told.index(b"\n", at) + 1
        ends = begins + int(told[at:begins].split()[-1])
        found[path], at = told[begins:ends], ends + 1
    return found


async def text_at(repository: Path, tree: str, path: str) -> str:
    """Return the text of a file in a tree, with the end of its last line, or "" if it is missing."""
    mode, _, name = (await entries_in(repository, tree, [path])).get(path, "").partition(" ")
    if not name or mode == _REPOSITORY:
        return ""
    return await git(repository, "cat-file", "blob", name) + "\n"


async def files_in(repository: Path, tree: str) -> list[str]:
    return list(await entries_in(repository, tree))


async def files_with(repository: Path, tree: str, *sought: str) -> list[str]:
    """Return the text files of a tree in which `git grep` finds what these options and patterns seek."""
    try:
        told = await git(repository, "grep", "-I", "-l", "-z", *sought, tree)
    except GitError:  # no file has it
        return []
    return [name.partition(":")[2] for name in told.split("\0") if name]


async def links_in(repository: Path, tree: str) -> dict[str, str]:
    """Return the symbolic links in a tree, each with its target."""
    entries = await entries_in(repository, tree)
    if not (links := [path for path, facts in entries.items() if facts.startswith(_LINK)]):
        return {}
    targets = await contents_at(repository, tree, links)
    return {path: targets.get(path, b"/").decode(errors="replace") for path in links}


def landing(path: str, links: Mapping[str, str]) -> str | None:
    """Return where a path of a tree leads by the tree's links, or None: out of it, or into its git folder.

    A path of too many links leads nowhere, as for programs: it is its own place.
    """
    place: list[str] = []
    waiting, followed = deque(path.split("/")), 0
    while waiting and followed <= _MOST_LINKS:
        part = waiting.popleft()
        if part == "..":
            if not place:
                return None
            place.pop()
        elif part not in {"", "."}:
            place.append(part)
            if (target := links.get("/".join(place))) is not None:
                if target.startswith("/"):
                    return None
                place.pop()
                waiting.extendleft(reversed(target.split("/")))
                followed += 1
    if waiting:
        return path
    return None if place[:1] != [] and place[0].lower() == ".git" else "/".join(place)


def known_as(path: str, links: Mapping[str, str]) -> list[str]:
    """Return a path of a tree and its other names, through the tree's links to folders that hold it.

    Raises:
        UnreadError: links that lead into one another give it too many.
    """
    found, fresh = {path: None}, [path]
    behind = _behind(frozenset(links.items()))
    for _ in range(_LINKS_DEEP if behind else 0):
        others = [
            f"{link}{name[end:]}"
            for name in fresh
            for end in (at for at, one in enumerate(f"{name}/") if one == "/")
            for link in behind.get(name[:end], ())
        ]
        fresh = [one for one in dict.fromkeys(others) if one not in found]
        found.update(dict.fromkeys(fresh))
        if len(found) > _MOST_NAMES:
            raise UnreadError(f"links give {path} more than {_MOST_NAMES:,} names: take some away")
    return [*found]


@lru_cache(maxsize=2)
def _behind(links: frozenset[tuple[str, str]]) -> dict[str, list[str]]:
    """Return the links by the place in the tree that each leads to."""
    found: dict[str, list[str]] = {}
    targets = dict(links)
    for link in sorted(targets):
        if (place := landing(link, targets)) not in {None, "", link}:
            found.setdefault(str(place), []).append(link)
    return found


async def renamed_files(repository: Path, base: str, tree: str) -> dict[str, str]:
    """Return the files that a tree has under another path than `base`, judged by content: old → new."""
    form = ("--name-status", "--diff-filter=R", "-M", "-z")
    told = await compared(repository, "diff", *form, of=(base, tree))
    parts = [part for part in told.decode(errors="replace").split("\0") if part]
    return {old: new for _, old, new in zip(parts[::3], parts[1::3], parts[2::3], strict=True)}


async def entries_in(repository: Path, tree: str, paths: Collection[str] | None = None) -> dict[str, str]:
    """Return the mode and the object of each file in a tree, or of each of these paths that is one."""
    found = {}
    listed = await told_by_objects(repository, "ls-tree", "-r", "-z", "--full-tree", tree)
    for entry in listed.decode(errors="replace").split("\0"):
        facts, _, path = entry.partition("\t")
        if path and (paths is None or path in paths):
            mode, _, name = facts.split(" ")
            found[path] = f"{mode} {name}"
    return found


async def _changed(repository: Path, tree: str, lines: list[str]) -> str:
    with TemporaryDirectory(prefix="sq-") as temporary:
        environment = {"GIT_INDEX_FILE": str(Path(temporary) / "index")}
        await git(repository, "read-tree", tree, environment=environment)
        stdin = "".join(f"{line}\0" for line in lines)
        await git(repository, "update-index", "-z", "--index-info", stdin=stdin, environment=environment)
        return await git(repository, "write-tree", environment=environment)


MOST_BYTES = 200_000  # of what one reader is shown at a time
_HASH, _SHORT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?"), 40
_KINDS = {"A": ChangeKind.ADDED, "D": ChangeKind.REMOVED}
_GIT_SECTION = re.compile(rb"^(?=diff --git )", re.MULTILINE)
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
    for section in _GIT_SECTION.split(told):
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
